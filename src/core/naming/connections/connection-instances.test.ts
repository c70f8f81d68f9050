import { beforeEach, describe, expect, test } from 'vitest'
import {
  address,
  at,
  carryOut,
  deregistered,
  ORDERS,
  registration,
  watched,
} from '../../core.test-support.ts'
import { connectionPublisher } from '../state/connection-publisher.ts'
import { instance, PublishingWorld } from './publishing-world.test-support.ts'
import { ORPHAN_MS } from '../liveness/connection-processes.ts'
import { registerInstance } from '../commands/register-instance.ts'

const BILLS = { namespaceId: 'public', groupedName: 'DEFAULT_GROUP@@bills' }

let world: PublishingWorld
beforeEach(() => void (world = new PublishingWorld()))

describe('a registration that its user may not have any more', () => {
  const published = () => world.instances.registrations.of('a')[0]!

  test('leaves, is remembered, and comes back when the user may again', async () => {
    void world.publish('a', 1, 2)
    void world.instances.withhold(published())
    expect(world.ports).toEqual({})
    expect(world.instances.registrations.counts('a')).toEqual({ services: 0, instances: 0 })
    await world.pass(5_000)
    expect(world.ports).toEqual({})
    void world.instances.withhold(published())
    void world.instances.allow(published())
    void world.instances.allow(published())
    expect(world.ports).toEqual({ 1: 'this/a', 2: 'this/a' })
    expect(world.instances.counts.restored).toBe(0)
    world.instances.release('a', { comesBack: false })
    expect(world.ports).toEqual({})
    expect(world.instances.waiting).toBe(0)
  })

  test('is forgotten when its client publishes something else, withdraws, or leaves', async () => {
    const others: (() => unknown)[] = [
      () => world.publish('a', 9),
      () => world.withdraw('a'),
      () => world.instances.release('a', { comesBack: true }),
    ]
    for (const [index, other] of others.entries()) {
      void world.publish('a', 1)
      const registration = published()
      void world.instances.withhold(registration)
      void other()
      void world.instances.allow(registration)
      expect(world.ports).toEqual(index === 0 ? { 9: 'this/a' } : {})
      await world.pass(1_000)
    }
  })

  test('stays withheld where a publish fails meanwhile', () => {
    void world.publish('a', 1)
    void world.instances.withhold(published())
    world.isStoreAway = true
    expect(() => world.publish('a', 2)).toThrow('away')
    world.isStoreAway = false
    void world.instances.allow(published())
    expect(world.ports).toEqual({ 1: 'this/a' })
  })

  test('leaves and comes back later where the store is away', async () => {
    void world.publish('a', 1)
    world.isStoreAway = true
    void world.instances.withhold(published())
    expect(world.ports).toEqual({ 1: 'this/a' })
    world.isStoreAway = false
    await world.pass(2_000)
    expect(world.ports).toEqual({})
    world.isStoreAway = true
    void world.instances.allow(published())
    world.isStoreAway = false
    await world.pass(2_000)
    expect(world.ports).toEqual({ 1: 'this/a' })
  })

  test('takes over nothing that somebody else has registered meanwhile', async () => {
    void world.publish('a', 1)
    const registration = published()
    void world.instances.withhold(registration)
    void world.publish('b', 1)
    void world.instances.allow(registration)
    expect(world.ports).toEqual({ 1: 'this/b' })
    world.instances.release('b', { comesBack: false })
    await world.pass(2_000)
    expect(world.ports).toEqual({ 1: 'this/a' })
  })

  test('leaves after a registration that is still underway', async () => {
    world.isSlow = true
    void watched(world.publish('a', 1))
    void world.instances.withhold(published())
    await world.answersLate()
    expect(world.ports).toEqual({})
    expect(published().isWithheld).toBe(true)
  })
})

describe('a connection', () => {
  test('publishes the whole set of a service, each time', () => {
    expect(world.publish('a', 1, 2)).toEqual({ registered: 2, known: 0, removed: 0 })
    expect(world.publish('a', 2)).toEqual({ registered: 0, known: 1, removed: 1 })
    expect(world.ports).toEqual({ 2: 'this/a' })
    expect(world.state.instance(ORDERS, address({ port: 2 }))).toMatchObject({
      healthy: true,
      record: { ephemeral: true },
    })
    expect(world.instances.registrations.counts('a')).toEqual({ services: 1, instances: 1 })
  })

  test('publishes large sets in parts', async () => {
    const ports = Array.from({ length: 10 }, (_, index) => index + 1)
    expect(await world.publish('a', ...ports)).toEqual({ registered: 10, known: 0, removed: 0 })
    expect(await world.publish('a', 1, 20)).toEqual({ registered: 1, known: 1, removed: 9 })
    expect(Object.keys(world.ports)).toEqual(['1', '20'])
  })

  test('withdraws from one service, and is released from all', () => {
    void world.publish('a', 1)
    void world.instances.publish({ serviceKey: BILLS, connectionId: 'a', instances: [instance(1)] })
    void world.publish('b', 2)
    expect(world.withdraw('a')).toEqual({ registered: 0, known: 0, removed: 1 })
    expect(world.withdraw('a')).toEqual({ registered: 0, known: 0, removed: 0 })
    expect(world.ports).toEqual({ 2: 'this/b' })
    world.instances.release('a', { comesBack: false })
    expect(world.state.instanceCount(BILLS)).toBe(0)
    expect(world.ports).toEqual({ 2: 'this/b' })
    world.instances.release('b', { comesBack: false })
    expect(world.state.instancesInAll).toBe(0)
    expect(world.instances.registrations.size).toBe(0)
  })

  test('publishes nothing after it was released', async () => {
    world.isSlow = true
    const first = watched(world.publish('a', 1))
    const second = watched(world.publish('a', 2))
    world.instances.release('a', { comesBack: false })
    expect(() => world.publish('a', 3)).toThrow(expect.objectContaining({ code: 'stopping' }))
    await world.answersLate()
    expect(first.value).toBeDefined()
    expect(second.error).toMatchObject({ code: 'stopping' })
    expect(world.ports).toEqual({})
    expect(world.instances.registrations.size).toBe(0)
  })

  test('has the instances of its last request, though the store is slow', async () => {
    world.isSlow = true
    for (const ports of [[1, 2], [2, 3], [4]]) watched(world.publish('a', ...ports))
    await world.answersLate()
    expect(world.ports).toEqual({ 4: 'this/a' })
  })

  test('publishes nothing while this server cannot write, though the store takes it', async () => {
    void world.publish('a', 1)
    world.canWrite = false
    expect(() => world.publish('b', 1)).toThrow(expect.objectContaining({ code: 'store-unavailable' }))
    expect(() => world.publish('a', 2)).toThrow(expect.objectContaining({ code: 'store-unavailable' }))
    world.canWrite = true
    await world.pass(5_000)
    expect(world.ports).toEqual({ 1: 'this/a' })
    expect(world.instances.registrations.size).toBe(1)
  })

  test('has its earlier instances, if the new set is refused', () => {
    void world.publish('a', 1)
    world.isStoreAway = true
    expect(() => world.publish('a', 2)).toThrow('away')
    expect(world.instances.registrations.counts('a')).toEqual({ services: 1, instances: 1 })
    world.isStoreAway = false
    void world.publish('a', 1, 3)
    expect(world.ports).toEqual({ 1: 'this/a', 3: 'this/a' })
  })
})

describe('an address', () => {
  test('belongs to whoever has registered it last', async () => {
    void world.publish('a', 1, 2)
    void world.publish('b', 2)
    world.instances.release('a', { comesBack: false })
    await world.pass(2_000)
    expect(world.ports).toEqual({ 2: 'this/b' })
    void world.publish('c', 2)
    carryOut(world.state, registerInstance(registration({ address: address({ port: 2 }) })), at(0))
    world.instances.release('b', { comesBack: false })
    world.instances.release('c', { comesBack: false })
    expect(world.ports).toEqual({ 2: 'beats' })
  })

  test('that was taken over comes back to its old owner when the new one leaves, if the old one lives and wants it', async () => {
    void world.publish('a', 1, 2, 3)
    void world.publish('b', 1, 2)
    void world.publish('c', 3)
    await world.pass(10_000)
    expect(world.ports).toEqual({ 1: 'this/b', 2: 'this/b', 3: 'this/c' })
    await world.publish('a', 1, 4)
    expect(world.ports).toEqual({ 1: 'this/a', 2: 'this/b', 3: 'this/c', 4: 'this/a' })
    void world.publish('b', 1)
    await world.pass(10_000)
    world.instances.release('b', { comesBack: false })
    await world.pass(2_000)
    expect(world.ports).toEqual({ 1: 'this/a', 3: 'this/c', 4: 'this/a' })
    void world.publish('d', 4)
    world.instances.release('a', { comesBack: false })
    world.instances.release('d', { comesBack: false })
    await world.pass(10_000)
    expect(world.ports).toEqual({ 3: 'this/c' })
    expect(world.instances.waiting).toBe(0)
  })

  test('that several connections want goes back from one to the other, at once', () => {
    for (const connection of ['a', 'b', 'c', 'd']) void world.publish(connection, 1)
    for (const owner of ['d', 'c', 'b', 'a']) {
      expect(world.ports).toEqual({ 1: `this/${owner}` })
      world.instances.release(owner, { comesBack: false })
    }
    expect(world.ports).toEqual({})
    expect(world.instances.waiting).toBe(0)
  })

  test('that more want than can wait for it goes to the others a second after the last one has left', async () => {
    const all = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    for (const connection of all) void world.publish(connection, 1)
    await world.pass(2_000)
    for (const owner of ['g', 'f', 'e', 'd', 'c']) {
      expect(world.ports).toEqual({ 1: `this/${owner}` })
      world.instances.release(owner, { comesBack: false })
    }
    await world.pass(2_000)
    for (const _left of ['a', 'b']) {
      const owner = world.ports[1]!.replace('this/', '')
      world.instances.release(owner, { comesBack: false })
    }
    expect(world.ports).toEqual({})
    expect(world.instances.waiting).toBe(0)
  })

  test('that was taken over, and taken back, is kept', async () => {
    void world.publish('a', 1)
    void world.publish('b', 1)
    void world.publish('a', 1)
    await world.pass(2_000)
    expect(world.instances.registrations.counts('a').instances).toBe(1)
    expect(world.ports).toEqual({ 1: 'this/a' })
  })
})

describe('while the store is away', () => {
  test('a deregistration fails, and is made when it is back', async () => {
    void world.publish('a', 1, 2)
    world.isStoreAway = true
    expect(() => world.withdraw('a')).toThrow('away')
    await world.pass(20_000)
    expect(world.instances.waiting).toBe(1)
    expect(world.executed).toBeLessThan(25)
    world.isStoreAway = false
    await world.pass(1_500)
    expect(world.ports).toEqual({})
    expect(world.instances.registrations.size).toBe(0)
  })

  test('a registration that followed counts, and not the deregistration', async () => {
    void world.publish('a', 1, 2)
    world.isStoreAway = true
    expect(() => world.withdraw('a')).toThrow('away')
    world.isStoreAway = false
    void world.publish('a', 2)
    await world.pass(5_000)
    expect(world.ports).toEqual({ 2: 'this/a' })
  })

  test('a connection ends: its instances go when the store was back for 40 s, unless others have them', async () => {
    void world.publish('a', 1, 2)
    world.isStoreAway = true
    world.instances.release('a', { comesBack: false })
    await world.pass(10_000)
    world.canWrite = false
    await world.pass(90_000)
    world.isStoreAway = false
    world.canWrite = true
    await world.pass(30_000)
    expect(world.ports).toEqual({ 1: 'this/a', 2: 'this/a' })
    void world.publish('b', 1)
    await world.pass(45_000)
    expect(world.ports).toEqual({ 1: 'this/b' })
  })

  test('a refused registration that was made all the same is removed', async () => {
    world.isStoreAway = true
    expect(() => world.publish('a', 1)).toThrow('away')
    world.isStoreAway = false
    const publisher = connectionPublisher({ process: 'this', connectionId: 'a' })
    carryOut(world.state, registerInstance(registration({ publisher, address: address({ port: 1 }) })), at(0))
    await world.pass(2_000)
    expect(world.ports).toEqual({})
  })
})

test('a connection whose client was moved leaves its instances for 40 s, and does not take them back', async () => {
  void world.publish('a', 1, 2)
  world.instances.release('a', { comesBack: true })
  await world.pass(10_000)
  expect(world.ports).toEqual({ 1: 'this/a', 2: 'this/a' })
  void world.publish('b', 1)
  void world.publish('b')
  await world.pass(25_000)
  expect(world.ports).toEqual({ 2: 'this/a' })
  await world.pass(6_000)
  expect(world.ports).toEqual({})
  expect(world.instances.waiting).toBe(0)
})

test('a repair that waits for its turn removes nothing of a connection that is kept', async () => {
  void world.publish('a', 1)
  world.isStoreAway = true
  expect(() => world.withdraw('a')).toThrow('away')
  world.isStoreAway = false
  world.isSlow = true
  void watched(world.publish('a', 2))
  // The removal that has failed is due while the set is underway.
  await world.pass(2_000)
  world.instances.release('a', { comesBack: true })
  await world.answersLate()
  expect(world.ports).toEqual({ 2: 'this/a' })
  world.isSlow = false
  await world.pass(ORPHAN_MS)
  expect(world.ports).toEqual({})
})

test('instances left behind stay as long as their client needs, and go when their user may not have them', async () => {
  void world.publish('a', 1)
  void world.instances.publish({ serviceKey: BILLS, connectionId: 'a', instances: [instance(1)] })
  world.instances.release('a', { comesBack: true, returnsByMs: world.nowMs + 60_000 })
  await world.pass(59_000)
  expect(world.ports).toEqual({ 1: 'this/a' })
  const [orders, ...others] = [...world.instances.registrations.left()]
  void world.instances.withhold(orders!)
  expect(world.ports).toEqual({})
  expect([...world.instances.registrations.left()]).toEqual(others)
  expect(world.state.instanceCount(BILLS)).toBe(1)
  await world.pass(2_000)
  expect(world.state.instanceCount(BILLS)).toBe(0)
  expect([[...world.instances.registrations.left()], world.instances.waiting]).toEqual([[], 0])
})

test('a connection ends while nothing may be written: its instances stay for 40 s from when it may', async () => {
  void world.publish('a', 1)
  world.canWrite = false
  world.instances.release('a', { comesBack: false })
  await world.pass(60_000)
  world.canWrite = true
  await world.pass(ORPHAN_MS - 1_000)
  expect(world.ports).toEqual({ 1: 'this/a' })
  await world.pass(2_000)
  expect(world.ports).toEqual({})
})

describe('an instance of a live connection that others remove', () => {
  const remove = (port: number): void => deregistered(world.state, { port })

  test('comes back, and is counted', async () => {
    void world.publish('a', 1, 2)
    remove(1)
    await world.pass(1_000)
    expect(world.ports).toEqual({ 1: 'this/a', 2: 'this/a' })
    expect(world.instances.counts.restored).toBe(1)
  })

  test('waits until this server can write, and is tried until it is done', async () => {
    void world.publish('a', 1)
    world.canWrite = false
    remove(1)
    await world.pass(5_000)
    expect(world.ports).toEqual({})
    world.canWrite = true
    world.isStoreAway = true
    await world.pass(5_000)
    world.isStoreAway = false
    await world.pass(1_500)
    expect(world.ports).toEqual({ 1: 'this/a' })
  })

  test('does not come back if its connection ends, or somebody else has the address', async () => {
    void world.publish('a', 1)
    void world.publish('b', 2)
    remove(1)
    remove(2)
    world.instances.release('a', { comesBack: false })
    carryOut(world.state, registerInstance(registration({ address: address({ port: 2 }) })), at(0))
    await world.pass(5_000)
    expect(world.ports).toEqual({ 2: 'beats' })
    expect(world.instances.counts.restored).toBe(0)
  })

  test('comes back after a long pause only when its connection would have been found dead', async () => {
    void world.publish('a', 1)
    void world.publish('b', 2)
    world.pausedMs = 60_000
    remove(1)
    remove(2)
    await world.pass(20_000)
    expect(world.ports).toEqual({})
    world.instances.release('a', { comesBack: false })
    await world.pass(15_000)
    expect(world.ports).toEqual({ 2: 'this/b' })
  })
})
