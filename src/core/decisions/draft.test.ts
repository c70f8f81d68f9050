import { array, assert, property } from 'fast-check'
import { expect, test } from 'vitest'
import { anyCommand } from '../command.test-support.ts'
import {
  address,
  applied,
  at,
  ORDERS,
  refusalOf,
  registered,
  registration,
  WALL_MS,
} from '../core.test-support.ts'
import type { Command } from './decision.ts'
import { Draft } from './draft.ts'
import { NAMESPACE } from '../namespaces/namespace.ts'
import { deregisterInstance } from '../naming/commands/instance-commands.ts'
import { registerInstance } from '../naming/commands/register-instance.ts'
import { deleteService } from '../naming/commands/service-commands.ts'
import { State } from '../engine/state.ts'
import type { View } from './view.ts'

/** Everything that a state knows, but serials, ids and times. */
function knownOf(state: State): unknown {
  const services = [...state.services.all()].map((entry) => {
    const { serial, ...service } = entry.service
    const instances = [...entry.instances.values()].map(({ record, metadata, healthy }) => {
      const { serial: instanceSerial, ...rest } = record
      return [serial > 0 && instanceSerial > 0, rest, metadata, healthy]
    })
    return [service, instances.map((one) => JSON.stringify(one)).sort()]
  })
  const configs = ['public', 'dev'].flatMap((id) => [...state.configs.inNamespace(id)])
  return {
    services: services.map((one) => JSON.stringify(one)).sort(),
    configs: configs.map(({ key, content, md5 }) => [key, String(content), md5]),
    namespaces: [...state.records(NAMESPACE)],
    switches: state.switches,
    instances: state.instancesInAll,
  }
}

/** The outcome of a command without its serials, which are never sent. */
function outcomeOf(
  command: Command<unknown>,
  view: View,
): { outcome: unknown; decision?: ReturnType<Command<unknown>['decide']> } {
  try {
    const decision = command.decide(view, at(0))
    const outcome = Array.isArray(decision.outcome) ? decision.outcome.length : decision.outcome
    return { outcome, decision }
  } catch (error) {
    return { outcome: String(error) }
  }
}

function sizesOf({ namingSizes: { services, instances } }: View): unknown {
  const counts = ['public', 'dev'].map((id) => [services.in(id), instances.in(id)])
  return { services: services.total, instances: instances.total, counts }
}

test('commands in one batch have the same changes and answers as one by one', () => {
  assert(
    property(
      array(anyCommand, { maxLength: 20 }),
      array(anyCommand, { maxLength: 25 }),
      (before, commands) => {
        const oneByOne = new State(WALL_MS)
        const together = new State(WALL_MS)
        for (const state of [oneByOne, together]) {
          for (const command of before) {
            applied(state, outcomeOf(command, state).decision?.changes ?? [], at(0))
          }
        }
        const single = commands.map((command) => {
          const { outcome, decision } = outcomeOf(command, oneByOne)
          applied(oneByOne, decision?.changes ?? [], at(0))
          return outcome
        })
        const draft = new Draft(together)
        const decided = commands.map((command) => {
          const one = outcomeOf(command, draft)
          for (const change of one.decision?.changes ?? []) draft.add(change)
          return one
        })
        const changes = decided.flatMap(({ decision }) => decision?.changes ?? [])
        const drafted = [...draft.instances(ORDERS)].length
        const sizes = sizesOf(draft)
        expect(drafted).toBe(draft.instanceCount(ORDERS))
        applied(together, changes, at(0))
        expect(decided.map(({ outcome }) => outcome)).toEqual(single)
        expect(knownOf(together)).toEqual(knownOf(oneByOne))
        expect(drafted).toBe(together.instanceCount(ORDERS))
        expect(sizes).toEqual(sizesOf(together))
        expect(together.namingSizes.services.total).toBe(together.services.size)
      },
    ),
    { numRuns: 400 },
  )
})

test('an instance that is added and removed in one batch does not count', () => {
  const state = new State(WALL_MS)
  registered(state)
  const draft = new Draft(state)
  const other = registration({ address: address({ port: 81 }) })
  for (const command of [registerInstance(other), deregisterInstance({ ...other, ephemeral: undefined })]) {
    for (const change of command.decide(draft, at(0)).changes) draft.add(change)
  }
  expect(draft.instanceCount(ORDERS)).toBe(1)
  expect(refusalOf(() => deleteService(ORDERS).decide(draft, at(0)))).toBe('service-not-empty')
})
