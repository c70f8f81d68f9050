import { array, assert, boolean, nat, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { type WaitingCommand, gatherUnits } from './units.ts'
import { at } from '../core.test-support.ts'
import { synced } from '../decisions/decision.ts'
import { SWITCH } from '../switches/switch-records.ts'
import { recordSaved } from '../records/record-kind.ts'
import { State } from './state.ts'

/** The reads and changes of a test's command. */
interface Plan {
  readonly subject: number
  readonly reads: number
  readonly writes: number
  readonly count: number
  readonly isAlone: boolean
}

const plans = array(
  record({ subject: nat(3), reads: nat(4), writes: nat(4), count: nat(3), isAlone: boolean() }),
  { maxLength: 12 },
)

const ignore = (): void => undefined

/** A command that reads a switch, and saves some others. */
function waitingFor({ subject, reads, writes, count, isAlone }: Plan): WaitingCommand {
  const saved = Array.from({ length: count }, (_, index) =>
    recordSaved(SWITCH, { id: `s${writes + index}`, value: true, stamp: 1 }),
  )
  const command = {
    subject: `subject ${subject}`,
    decide: (view: Parameters<WaitingCommand['command']['decide']>[0]) => {
      view.record(SWITCH, `s${reads}`)
      return synced(saved, undefined)
    },
  }
  return { command, resolve: ignore, reject: ignore, isAlone }
}

test('commands of one subject keep their order, whatever conflicts and must be alone', () => {
  assert(
    property(plans, (all) => {
      const waiting = all.map(waitingFor)
      const { units, later } = gatherUnits(new State(0), waiting, {
        clock: () => at(0),
        mostChanges: 4,
      })
      const decided = units.flatMap(({ commands }) => commands.map((command) => command.waiting))
      expect([...decided, ...later].toSorted(byPlaceIn(waiting))).toEqual(waiting)
      for (let subject = 0; subject < 4; subject++) {
        const isOf = ({ command }: WaitingCommand): boolean => command.subject === `subject ${subject}`
        expect([...decided, ...later].filter(isOf)).toEqual(waiting.filter(isOf))
      }
    }),
    { numRuns: 500 },
  )
})

function byPlaceIn(all: readonly WaitingCommand[]) {
  return (a: WaitingCommand, b: WaitingCommand): number => all.indexOf(a) - all.indexOf(b)
}
