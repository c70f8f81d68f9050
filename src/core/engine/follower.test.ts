import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Change } from '../decisions/changes.ts'
import { address, at, EngineWorld, ORDERS, registration, WALL_MS } from '../core.test-support.ts'
import { deregisterInstance } from '../naming/commands/instance-commands.ts'
import { registerInstance } from '../naming/commands/register-instance.ts'
import { createService, deleteService } from '../naming/commands/service-commands.ts'
import { NAMESPACE } from '../namespaces/namespace.ts'
import { recordSaved } from '../records/record-kind.ts'
import { reportFaultsTo } from '../unexpected.ts'

const namespace = (id: string): Change =>
  recordSaved(NAMESPACE, { id, value: { id, showName: id, desc: '' }, stamp: 0 })
const refOf = (world: EngineWorld) => world.state.services.get(ORDERS)?.lastRefMs ?? 0
const register = (world: EngineWorld, port: number) =>
  world.start(registerInstance(registration({ address: address({ port }) })))

let world: EngineWorld
beforeEach(() => void (world = new EngineWorld()))

describe('the order of changes', () => {
  test('commits are applied and published in the order of their revisions', () => {
    const { follower, state, published } = new EngineWorld()
    follower.applied({ revision: 5, changes: [namespace('a'), namespace('b')] })
    follower.applied({ revision: 9, changes: [namespace('c')] })
    expect(Array.from(state.records(NAMESPACE), ([id]) => id)).toEqual(['a', 'b', 'c'])
    expect(published).toEqual(['a', 'b', 'c'].map(namespace))
  })

  test.each([4, 5])('revision %i after revision 5 is refused, and nothing of it is applied', (revision) => {
    const { follower, state, published } = new EngineWorld()
    follower.applied({ revision: 5, changes: [namespace('a')] })
    expect(() => follower.applied({ revision, changes: [namespace('b')] })).toThrow('Revision')
    expect([state.recordCount(NAMESPACE), published.length]).toEqual([1, 1])
  })

  test('a change that is written behind is applied and published once, when it is decided', async () => {
    register(world, 80)
    const version = world.state.services.get(ORDERS)?.version
    const lastRefMs = refOf(world)
    expect(world.published.map(({ kind }) => kind)).toEqual(['service-saved', 'instance-saved'])
    world.nowMs = 5_000
    await world.flush()
    expect(world.store.instances.size).toBe(1)
    expect([world.published.length, world.state.services.get(ORDERS)?.version, refOf(world)]).toEqual([
      2,
      version,
      lastRefMs,
    ])
  })

  test('a durable command is answered after its revision is applied', async () => {
    const made = Promise.resolve(
      world.engine.execute(
        createService(ORDERS, { protectThreshold: 0.5, metadata: undefined, selector: undefined }),
      ),
    )
    const known = made.then(() => world.state.service(ORDERS)?.protectThreshold)
    await world.quiet()
    expect(await known).toBe(0.5)
  })
})

describe('lastRefTime', () => {
  test('rises with every decision, and stamps follow it when it is ahead of the clock', () => {
    for (let port = 1; port <= 500; port++) {
      const before = refOf(world)
      register(world, port)
      expect(refOf(world)).toBeGreaterThan(before)
    }
    expect(refOf(world)).toBeGreaterThanOrEqual(WALL_MS + 500)
    expect(world.stamps.next(at(0).wallMs)).toBeGreaterThanOrEqual(refOf(world) * 1_024)
  })

  test('rises over a service that is removed and created again', async () => {
    const target = { serviceKey: ORDERS, address: address({ port: 1 }), ephemeral: undefined }
    for (let round = 0; round < 5; round++) {
      register(world, 1)
      const before = refOf(world)
      world.start(deregisterInstance(target))
      const left = refOf(world)
      world.start(deleteService(ORDERS))
      await world.flush()
      expect(world.state.services.floorMs).toBeGreaterThan(before)
      register(world, 1)
      expect(refOf(world)).toBeGreaterThan(left)
      world.start(deregisterInstance(target))
      await world.flush()
    }
  })

  test('stays near the clock when many services change once each', () => {
    for (let at = 0; at < 2_000; at++) {
      const serviceKey = { ...ORDERS, groupedName: `G@@s${at}` }
      world.start(registerInstance(registration({ serviceKey })))
    }
    // Two stamps a decision, 1,024 a millisecond, and new services start one above the floor.
    expect(world.state.latestRefMs - WALL_MS).toBeLessThan(10)
  })
})

describe('a fault while a change is applied', () => {
  afterEach(() => reportFaultsTo(undefined))

  test('ends the process, and nothing is applied after it', () => {
    const fatal: unknown[] = []
    reportFaultsTo({ caught: () => undefined, fatal: (error) => void fatal.push(error) })
    const { follower, state, published } = new EngineWorld()
    const broken = { kind: 'config-published' } as unknown as Change
    expect(() => follower.applied({ revision: 1, changes: [namespace('a'), broken] })).toThrow(Error)
    expect(fatal).toHaveLength(1)
    expect(() => follower.applied({ revision: 2, changes: [namespace('b')] })).toThrow('broken')
    expect(() => follower.appliedAhead([namespace('c')])).toThrow('broken')
    expect([state.record(NAMESPACE, 'b'), state.record(NAMESPACE, 'c'), published]).toEqual([
      undefined,
      undefined,
      [],
    ])
  })
})
