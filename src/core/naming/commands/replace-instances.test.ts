import { array, assert, constantFrom, integer, property, record, uniqueArray } from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  address,
  at,
  carryOut,
  EngineWorld,
  ORDERS,
  refusalOf,
  registered,
  WALL_MS,
  watched,
} from '../../core.test-support.ts'
import { Draft } from '../../decisions/draft.ts'
import { ReadLog } from '../../decisions/reads.ts'
import { State } from '../../engine/state.ts'
import { isPublishedBy } from '../state/claims.ts'
import { BEATS, type Publisher } from '../state/instance.ts'
import { NO_NAMING_LIMITS } from '../state/naming-sizes.ts'
import { type InstanceReplacement, type PublishedInstance, replaceInstances } from './replace-instances.ts'

const ONE: Publisher = { kind: 'connection', id: '1' }
const TWO: Publisher = { kind: 'connection', id: '2' }

function published(port: number, other: Partial<PublishedInstance> = {}): PublishedInstance {
  const rest = { weight: 1, enabled: true, healthy: undefined, metadata: {}, app: '' }
  return { address: address({ port }), ...rest, ...other }
}

/** The replacement of everything that a publisher has. */
function replacement(
  state: State,
  publisher: Publisher,
  ports: readonly (number | PublishedInstance)[],
): InstanceReplacement {
  const own = [...state.instances(ORDERS)].filter((one) => isPublishedBy(one.record, publisher))
  return {
    serviceKey: ORDERS,
    publisher,
    instances: ports.map((one) => (typeof one === 'number' ? published(one) : one)),
    leaving: own.map(({ record: { address: where } }) => where),
    takesOver: true,
    isGoodbye: true,
  }
}

function replace(state: State, publisher: Publisher, ...ports: (number | PublishedInstance)[]) {
  return carryOut(state, replaceInstances(replacement(state, publisher, ports)), at(1))
}

/** The ports of a service with the publisher of each. */
function portsOf(state: State): Record<number, Publisher> {
  const records = [...state.instances(ORDERS)].map(({ record: one }) => one)
  return Object.fromEntries(records.map((one) => [one.address.port, one.publisher]))
}

let state: State
beforeEach(() => void (state = new State(WALL_MS)))

describe('replacing the instances of a publisher', () => {
  test('registers, changes and removes the instances that differ', () => {
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
    replace(state, ONE, 1, 2)
    const command = replaceInstances(replacement(state, ONE, [2, 1]))
    expect(command.decide(state, at(2)).changes).toEqual([])
  })

  test('leaves the instances of others alone, and takes over the addresses it names', () => {
    replace(state, ONE, 1, 2)
    replace(state, TWO, 3)
    registered(state, { address: address({ port: 4 }) })
    replace(state, TWO, 2, 5)
    expect(portsOf(state)).toEqual({ 1: ONE, 2: TWO, 4: BEATS, 5: TWO })
    replace(state, ONE)
    expect(portsOf(state)).toEqual({ 2: TWO, 4: BEATS, 5: TWO })
    replace(state, TWO)
    expect(portsOf(state)).toEqual({ 4: BEATS })
  })

  test('waits behind another publisher, if it must not take the address over', () => {
    replace(state, TWO, 1)
    registered(state, { address: address({ port: 2 }) })
    const command = replaceInstances({ ...replacement(state, ONE, [1, 2, 3]), takesOver: false })
    expect(carryOut(state, command, at(1))).toEqual({ registered: 1, known: 0, removed: 0 })
    expect(portsOf(state)).toEqual({ 1: TWO, 2: BEATS, 3: ONE })
    expect(command.decide(state, at(1)).changes).toEqual([])
    replace(state, TWO)
    expect(portsOf(state)).toEqual({ 1: ONE, 2: BEATS, 3: ONE })
  })

  test('does not remove an instance that another publisher has taken over', () => {
    replace(state, ONE, 1, 2)
    const command = replaceInstances(replacement(state, ONE, []))
    replace(state, TWO, 2)
    expect(carryOut(state, command, at(1))).toEqual({ registered: 0, known: 0, removed: 2 })
    expect(portsOf(state)).toEqual({ 2: TWO })
    replace(state, TWO)
    expect(portsOf(state)).toEqual({})
  })

  test('reads nothing of a service but the instances that it names', () => {
    replace(state, ONE, 1)
    const log = new ReadLog()
    replaceInstances(replacement(state, ONE, [2])).decide(new Draft(state, log), at(1))
    expect(log.reads.map((read) => read.of)).toEqual(expect.not.arrayContaining(['instances']))
  })

  test('uses the last of two with the same address', () => {
    replace(state, ONE, published(1, { weight: 1 }), published(1, { weight: 2 }))
    expect(state.instance(ORDERS, address({ port: 1 }))?.record.weight).toBe(2)
    expect(state.instanceCount(ORDERS)).toBe(1)
  })

  test('creates a missing service, once', () => {
    const { changes } = replaceInstances(replacement(state, ONE, [1, 2])).decide(state, at(0))
    expect(changes.map(({ kind }) => kind)).toEqual(['service-saved', 'instance-saved', 'instance-saved'])
  })

  test('is refused as a whole if one instance exceeds a limit, and removed instances do not count', () => {
    const state = new State(WALL_MS, { ...NO_NAMING_LIMITS, maxInstances: 3 })
    replace(state, ONE, 1, 2)
    expect(refusalOf(() => replace(state, ONE, 1, 2, 3, 4))).toBe('too-many-instances')
    expect(portsOf(state)).toEqual({ 1: ONE, 2: ONE })
    expect(replace(state, ONE, 3, 4, 5)).toEqual({ registered: 3, known: 0, removed: 2 })
  })

  test('is answered before it is on disk, unless it removes a row of the disk', async () => {
    const world = new EngineWorld()
    const decided = (isGoodbye: boolean, ...ports: number[]) =>
      replaceInstances({ ...replacement(world.state, ONE, ports), isGoodbye }).decide(world.state, at(0))
    expect(decided(true, 1).durability).toBe('behind')
    world.start(replaceInstances(replacement(world.state, ONE, [1])))
    expect(decided(true, 1, 2).durability).toBe('behind')
    expect(decided(true, 2).durability).toBe('synced if stored')
    expect(decided(false, 2).durability).toBe('behind')
    const replaced = (...ports: number[]) =>
      watched(
        world.engine.execute(replaceInstances({ ...replacement(world.state, ONE, ports), isGoodbye: true })),
      )
    expect(replaced(2).waits, 'the first one is not on disk').toBe(false)
    await world.flush()
    expect(replaced(2, 3).waits, 'nothing is removed').toBe(false)
    expect(replaced(3).waits, 'the second one is on disk').toBe(true)
  })

  test('has the same result on a draft as on the state: exactly the named instances', () => {
    const publisher = constantFrom<Publisher>(ONE, TWO)
    const port = integer({ min: 1, max: 6 })
    const instance = record({ port, weight: constantFrom(1, 2) })
    const instances = uniqueArray(instance, { selector: (one) => one.port })
    assert(
      property(array(record({ publisher, instances }), { maxLength: 6 }), (rounds) => {
        const state = new State(WALL_MS)
        const draft = new Draft(new State(WALL_MS))
        // Those who publish each port; the last one has it.
        const publishers = new Map<number, Publisher[]>()
        for (const round of rounds) {
          const others = (one: number): Publisher[] =>
            publishers.get(one)?.filter((other) => other !== round.publisher) ?? []
          const kept = round.instances.map((one) => one.port)
          for (const [one, before] of publishers)
            if (!kept.includes(one))
              publishers.set(
                one,
                before.filter((other) => other !== round.publisher),
              )
          for (const one of kept)
            if (publishers.get(one)?.at(-1) !== round.publisher)
              publishers.set(one, [...others(one), round.publisher])
          const ports = round.instances.map((one) => published(one.port, { weight: one.weight }))
          const command = replaceInstances(replacement(state, round.publisher, ports))
          for (const change of command.decide(draft, at(0)).changes) draft.add(change)
          carryOut(state, command, at(0))
          const owners = [...publishers].filter(([, all]) => all.length > 0)
          expect(portsOf(state)).toEqual(Object.fromEntries(owners.map(([one, all]) => [one, all.at(-1)])))
        }
        const drafted = [...draft.instances(ORDERS)].map(({ record: one }) => one.address.port)
        const listed = [...publishers].flatMap(([one, all]) => (all.length > 0 ? [one] : []))
        expect(drafted.toSorted()).toEqual(listed.toSorted())
      }),
    )
  })
})
