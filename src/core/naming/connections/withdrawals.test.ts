import { beforeEach, describe, expect, test } from 'vitest'
import { address, ORDERS } from '../../core.test-support.ts'
import { instance, PublishingWorld } from './publishing-world.test-support.ts'

let world: PublishingWorld
beforeEach(() => void (world = new PublishingWorld()))

describe('a single registration', () => {
  const single = (connectionId: string, port: number) =>
    world.instances.publish({
      serviceKey: ORDERS,
      connectionId,
      instances: [instance(port)],
      isSingle: true,
    })

  test('that replaces another one is noted once an hour for each connection', async () => {
    for (const port of [1, 1, 2, 3]) void single('a', port)
    void single('b', 4)
    void single('b', 5)
    void world.publish('c', 6)
    void world.publish('c', 7)
    expect(world.replaced).toEqual(['1 by 2', '4 by 5'])
    world.nowMs += 3_600_000
    void single('a', 8)
    expect(world.replaced.at(-1)).toBe('3 by 8')
    expect(world.ports).toEqual({ 5: 'this/b', 7: 'this/c', 8: 'this/a' })
  })
})

describe('a withdrawal that names addresses', () => {
  const withdraw = (...named: Parameters<typeof address>[0][]) =>
    world.instances.withdraw({
      serviceKey: ORDERS,
      connectionId: 'a',
      named: named.map((one) => address(one)),
    })

  test('removes these, and nothing else, again and again', async () => {
    void world.publish('a', 1, 2, 3)
    void withdraw({ port: 2 }, { port: 9 })
    expect(Object.keys(world.ports)).toEqual(['1', '3'])
    const before = world.executed
    void withdraw({ port: 2 })
    expect(world.executed, 'nothing is asked').toBe(before)
    void withdraw({ port: 3, cluster: 'other' })
    expect(Object.keys(world.ports)).toEqual(['1'])
  })

  test.each([
    [['c2', 'c2'], ['c1']],
    [['c2', 'DEFAULT'], []],
    [['DEFAULT'], ['c1', 'c2']],
  ])('of the clusters %j of one ip and port leaves %j', (named, left) => {
    const instances = ['c1', 'c2'].map((cluster) => ({
      ...instance(1),
      address: address({ port: 1, cluster }),
    }))
    void world.instances.publish({ serviceKey: ORDERS, connectionId: 'a', instances })
    for (const cluster of named) void withdraw({ port: 1, cluster })
    const there = [...world.state.instances(ORDERS)].map(({ record }) => record.address.cluster)
    expect(there).toEqual(left)
  })

  test('is the cause of what leaves, as a replacement is, and not the end of the connection', () => {
    void world.publish('a', 1, 2)
    void world.publish('a', 1, 2)
    expect(world.leaving).toEqual([])
    void withdraw({ port: 2 })
    void world.publish('a', 3)
    world.instances.release('a', { comesBack: false })
    expect(world.leaving).toEqual(['deregistration', 'registration'])
  })

  test('counts while the rights of the user have ended, and while the store is away', async () => {
    void world.publish('a', 1, 2)
    void world.instances.withhold(world.instances.registrations.of('a')[0]!)
    void withdraw({ port: 1 })
    void world.instances.allow(world.instances.registrations.of('a')[0]!)
    expect(Object.keys(world.ports)).toEqual(['2'])
    world.isStoreAway = true
    expect(() => withdraw({ port: 2 })).toThrow('away')
    world.isStoreAway = false
    await world.pass(2_000)
    expect(world.ports).toEqual({})
  })
})
