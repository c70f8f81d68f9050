import { array, assert, property } from 'fast-check'
import { expect, test } from 'vitest'
import { anyCommand } from '../command.test-support.ts'
import { address, at, ORDERS, registration, WALL_MS } from '../core.test-support.ts'
import { type Change, NO_SERIAL } from '../decisions/changes.ts'
import type { Command } from '../decisions/decision.ts'
import { Draft } from '../decisions/draft.ts'
import { deregisterInstance, modifyInstance } from '../naming/commands/instance-commands.ts'
import { registerInstance } from '../naming/commands/register-instance.ts'
import { createService, deleteService } from '../naming/commands/service-commands.ts'
import { Serials } from './serials.ts'
import { State } from './state.ts'

const SETTINGS = { protectThreshold: undefined, metadata: undefined, selector: undefined }
const TARGET = { serviceKey: ORDERS, address: address(), ephemeral: undefined }
const heavier = { weight: 2, enabled: undefined, metadata: undefined, maxMetadataBytes: 1_000 }

/** The changes of commands that are decided together, one group for each. */
function decidedOn(state: State, commands: readonly Command<unknown>[]): (readonly Change[])[] {
  const draft = new Draft(state)
  return commands.map((command) => {
    try {
      const { changes } = command.decide(draft, at(0))
      for (const change of changes) draft.add(change)
      return changes
    } catch {
      // A refusal.
      return []
    }
  })
}

function serialsIn(groups: readonly (readonly Change[])[]): unknown[] {
  return groups.map((changes) => changes.map((change) => serialOf(change)))
}

function serialOf(change: Change): number | undefined {
  if (change.kind === 'service-saved') return change.service.serial
  if (change.kind === 'instance-saved') return change.record.serial
  return 'serial' in change ? change.serial : undefined
}

test('a thing that comes, changes, leaves and comes again in one step gets a serial each time', () => {
  const serials = new Serials()
  const state = new State(WALL_MS)
  const lasting = registerInstance(registration({ ephemeral: false }))
  const groups = decidedOn(state, [
    lasting,
    modifyInstance(TARGET, heavier),
    deregisterInstance(TARGET),
    lasting,
    deregisterInstance(TARGET),
    deleteService(ORDERS),
    createService(ORDERS, SETTINGS),
    lasting,
  ])
  const numbered = serials.ofDecisions(groups, state)
  expect(serialsIn(numbered)).toEqual([[1, 2], [2, undefined], [2, undefined], [3], [3], [1], [4], [5]])
  expect(numbered.at(-1)).toMatchObject([{ serviceSerial: 4 }])
})

test('decisions about known things keep their serials, and are not copied', () => {
  const serials = new Serials()
  const state = new State(WALL_MS)
  const first = serials.ofDecisions(decidedOn(state, [registerInstance(registration())]), state)
  state.apply(first.flat(), at(0))
  const groups = decidedOn(state, [modifyInstance(TARGET, heavier), deregisterInstance(TARGET)])
  expect(serials.ofDecisions(groups, state)).toBe(groups)
  expect(serialsIn(groups)).toEqual([
    [2, undefined],
    [2, undefined],
  ])
})

test('the changes of a feed have the serials of this server, whatever another server has given', () => {
  const serials = new Serials()
  const state = new State(WALL_MS)
  const elsewhere = (serial: number): Change[] =>
    decidedOn(state, [registerInstance(registration())])
      .flat()
      .map((change) => {
        if (change.kind === 'service-saved') return { ...change, service: { ...change.service, serial } }
        return change.kind === 'instance-saved'
          ? { ...change, record: { ...change.record, app: `v${serial}`, serial } }
          : change
      })
  state.apply(serials.ofFeed(elsewhere(7), state), at(0))
  const again = serials.ofFeed(elsewhere(8), state)
  expect(serialsIn([again])).toEqual([[2]])
})

test('whatever is decided together, every thing has one serial while it is there, and no serial is given twice', () => {
  assert(
    property(array(array(anyCommand, { maxLength: 8 }), { maxLength: 6 }), (steps) => {
      const serials = new Serials()
      const state = new State(WALL_MS)
      /** By place; a serial that has left is never there again. */
      const there = new Map<string, number>()
      const gone = new Set<number>()
      for (const commands of steps) {
        const numbered = serials.ofDecisions(decidedOn(state, commands), state)
        for (const change of numbered.flat()) {
          const serial = serialOf(change)
          if (serial === undefined) continue
          const place = placeOf(change)
          expect(serial).not.toBe(NO_SERIAL)
          expect(gone.has(serial), 'a serial that has left').toBe(false)
          expect([undefined, serial]).toContain(there.get(place))
          if (change.kind === 'instance-saved')
            expect(change.serviceSerial).toBe(there.get(JSON.stringify(change.serviceKey)))
          if (change.kind === 'service-saved' || change.kind === 'instance-saved') there.set(place, serial)
          if (change.kind === 'service-deleted' || change.kind === 'instance-removed') {
            there.delete(place)
            gone.add(serial)
          }
        }
        state.apply(numbered.flat(), at(0))
        expect(new Set(there.values()).size, 'things with a serial of their own').toBe(there.size)
      }
    }),
    { numRuns: 300 },
  )
})

function placeOf(change: Change): string {
  if (change.kind === 'service-saved') return JSON.stringify(change.service.key)
  if (change.kind === 'service-deleted') return JSON.stringify(change.key)
  if (change.kind === 'instance-saved') return JSON.stringify([change.serviceKey, change.record.address])
  return 'address' in change ? JSON.stringify([change.serviceKey, change.address]) : ''
}
