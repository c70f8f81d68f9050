import { array, assert, constantFrom, integer, property, record, uniqueArray } from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  address,
  at,
  carryOut,
  EngineWorld,
  ORDERS,
  refusalOf,
  registered,
  WALL_MS,
} from '../core.test-support.ts'
import { Draft } from '../draft.ts'
import { State } from '../state.ts'
import { BEATS, OPERATOR, type Publisher } from './instance.ts'
import { NO_NAMING_LIMITS } from './naming-sizes.ts'
import { type PublishedInstance, replaceInstances } from './replace-instances.ts'

const ONE: Publisher = { kind: 'connection', id: '1' }
const TWO: Publisher = { kind: 'connection', id: '2' }

function published(port: number, other: Partial<PublishedInstance> = {}): PublishedInstance {
  const rest = { weight: 1, enabled: true, healthy: undefined, metadata: {}, app: '' }
  return { address: address({ port }), ...rest, ...other }
}

function replace(state: State, publisher: Publisher, ...ports: (number | PublishedInstance)[]) {
  const instances = ports.map((one) => (typeof one === 'number' ? published(one) : one))
  return carryOut(state, replaceInstances(ORDERS, publisher, instances), at(1))
}

/** The ports of a service with the publisher of each. */
function portsOf(state: State): Record<number, Publisher> {
  const records = [...state.instances(ORDERS)].map(({ record: one }) => one)
  return Object.fromEntries(records.map((one) => [one.address.port, one.publisher]))
}

describe('replacing the instances of a publisher', () => {
  test('registers, changes and removes what differs', () => {
    const state = new State(WALL_MS)
    expect(replace(state, ONE, 1, 2, 3)).toEqual({ registered: 3, known: 0, removed: 0 })
    expect(replace(state, ONE, 2, published(3, { weight: 5 }), 4)).toEqual({
      registered: 2,
      known: 1,
      removed: 1,
    })
    expect(portsOf(state)).toEqual({ 2: ONE, 3: ONE, 4: ONE })
    expect(state.instance(ORDERS, address({ port: 3 }))?.record.weight).toBe(5)
    expect(replace(state, ONE)).toEqual({ registered: 0, known: 0, removed: 3 })
    expect(state.instanceCount(ORDERS)).toBe(0)
  })

  test('changes nothing if all instances are equal', () => {
    const state = new State(WALL_MS)
    replace(state, ONE, 1, 2)
    const command = replaceInstances(ORDERS, ONE, [published(2), published(1)])
    expect(command.decide(state, at(2)).changes).toEqual([])
  })

  test('leaves the instances of others alone, and takes over the addresses it names', () => {
    const state = new State(WALL_MS)
    replace(state, ONE, 1, 2)
    replace(state, TWO, 3)
    registered(state, { address: address({ port: 4 }) })
    replace(state, TWO, 2, 5)
    expect(portsOf(state)).toEqual({ 1: ONE, 2: TWO, 4: BEATS, 5: TWO })
    replace(state, ONE)
    expect(portsOf(state)).toEqual({ 2: TWO, 4: BEATS, 5: TWO })
  })

  test('makes persistent instances of an operator and ephemeral ones of all others', () => {
    const state = new State(WALL_MS)
    replace(state, ONE, 1)
    replace(state, BEATS, 2)
    replace(state, OPERATOR, 3)
    const kinds = [...state.instances(ORDERS)].map(({ record: one }) => one.ephemeral)
    expect(kinds).toEqual([true, true, false])
  })

  test('uses the last of two with the same address', () => {
    const state = new State(WALL_MS)
    replace(state, ONE, published(1, { weight: 1 }), published(1, { weight: 2 }))
    expect(state.instance(ORDERS, address({ port: 1 }))?.record.weight).toBe(2)
    expect(state.instanceCount(ORDERS)).toBe(1)
  })

  test('creates a missing service, once', () => {
    const state = new State(WALL_MS)
    const { changes } = replaceInstances(ORDERS, ONE, [published(1), published(2)]).decide(state, at(0))
    expect(changes.map(({ kind }) => kind)).toEqual(['service-saved', 'instance-saved', 'instance-saved'])
  })

  test('is refused as a whole if one instance exceeds a limit, and removed instances do not count', () => {
    const state = new State(WALL_MS, { ...NO_NAMING_LIMITS, maxInstances: 3 })
    replace(state, ONE, 1, 2)
    expect(refusalOf(() => replace(state, ONE, 1, 2, 3, 4))).toBe('too-many-instances')
    expect(portsOf(state)).toEqual({ 1: ONE, 2: ONE })
    expect(replace(state, ONE, 3, 4, 5)).toEqual({ registered: 3, known: 0, removed: 2 })
  })

  test('is answered before the disk has it only where no instance of the disk or of an operator is concerned', async () => {
    const world = new EngineWorld()
    const durabilityOf = (publisher: Publisher, ...ports: number[]) =>
      replaceInstances(
        ORDERS,
        publisher,
        ports.map((port) => published(port)),
      ).decide(world.state, at(0)).durability
    expect(durabilityOf(ONE, 1)).toBe('behind')
    expect(durabilityOf(OPERATOR, 1)).toBe('synced')
    world.start(replaceInstances(ORDERS, ONE, [published(1)]))
    expect(durabilityOf(ONE, 2)).toBe('behind')
    await world.flush()
    expect(durabilityOf(ONE, 1, 2)).toBe('behind')
    expect(durabilityOf(ONE, 2)).toBe('synced')
  })

  test('has the same result on a draft as on the state: exactly the named instances', () => {
    const publisher = constantFrom<Publisher>(ONE, TWO, BEATS, OPERATOR)
    const port = integer({ min: 1, max: 6 })
    const instance = record({ port, weight: constantFrom(1, 2) })
    const instances = uniqueArray(instance, { selector: (one) => one.port })
    assert(
      property(array(record({ publisher, instances }), { maxLength: 6 }), (rounds) => {
        const state = new State(WALL_MS)
        const draft = new Draft(state)
        const owners = new Map<number, Publisher>()
        const commands = rounds.map((round) =>
          replaceInstances(
            ORDERS,
            round.publisher,
            round.instances.map((one) => published(one.port, { weight: one.weight })),
          ),
        )
        for (const command of commands)
          for (const change of command.decide(draft, at(0)).changes) draft.add(change)
        for (const [index, round] of rounds.entries()) {
          for (const [one, owner] of owners) if (owner === round.publisher) owners.delete(one)
          for (const one of round.instances) owners.set(one.port, round.publisher)
          carryOut(state, commands[index]!, at(0))
          expect(portsOf(state)).toEqual(Object.fromEntries(owners))
        }
        const drafted = [...draft.instances(ORDERS)].map(({ record: one }) => one.address.port)
        expect(drafted.toSorted()).toEqual([...owners.keys()].toSorted())
      }),
    )
  })
})
