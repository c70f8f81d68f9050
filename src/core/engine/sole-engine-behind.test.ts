import { beforeEach, describe, expect, test } from 'vitest'
import type { Change } from '../decisions/changes.ts'
import { address, at, EngineWorld, ORDERS, registration, watched } from '../core.test-support.ts'
import { beat } from '../naming/liveness/beat.ts'
import { deregisterInstance, modifyInstance } from '../naming/commands/instance-commands.ts'
import { registerInstance } from '../naming/commands/register-instance.ts'
import { createService, updateService } from '../naming/commands/service-commands.ts'
import { NAMESPACE } from '../namespaces/namespace.ts'
import { recordRemoved } from '../records/record-kind.ts'

const NO_WISH = { protectThreshold: undefined, metadata: undefined, selector: undefined }
const TARGET = { serviceKey: ORDERS, address: address(), ephemeral: undefined }
const weight = (value: number) => ({
  weight: value,
  enabled: undefined,
  metadata: undefined,
  maxMetadataBytes: 1e4,
})
const kinds = (groups: readonly (readonly { kind: string }[])[] | undefined) =>
  groups?.map((group) => group.map(({ kind }) => kind))

let world: EngineWorld
beforeEach(() => void (world = new EngineWorld()))

test('an ephemeral registration is visible and answered at once, and written behind with its service in one commit', async () => {
  expect(world.engine.execute(registerInstance(registration()))).toBe('registered')
  expect(world.state.instanceCount(ORDERS)).toBe(1)
  expect(world.published.map(({ kind }) => kind)).toEqual(['service-saved', 'instance-saved'])
  expect(world.store.begun).toHaveLength(0)
  expect(world.engine.backlog.behind).toBe(2)
  await world.tick()
  expect(kinds(world.store.begun[0])).toEqual([['service-saved'], ['instance-saved']])
  await world.succeed()
  expect(world.engine.backlog.behind).toBe(0)
  // A change that was applied long ago is neither applied nor published again.
  expect(world.published).toHaveLength(2)
})

test('a flush writes only the newest state', async () => {
  for (let app = 1; app <= 5; app++) world.start(registerInstance(registration({ app: `v${app}` })))
  await world.flush()
  expect(kinds(world.store.begun[0])).toEqual([['service-saved'], ['instance-saved']])
  expect([...world.store.instances.values()].map(({ record }) => record.app)).toEqual(['v5'])
})

test('an instance that changes while it is being written is written again', async () => {
  world.start(registerInstance(registration({ app: 'v1' })))
  await world.tick()
  expect(world.engine.execute(registerInstance(registration({ app: 'v2' })))).toBe('registered')
  await world.flush()
  expect([...world.store.instances.values()].map(({ record }) => record.app)).toEqual(['v2'])
})

test('an instance that was removed with its service is not written, also if a new service has the same name', async () => {
  world.start(registerInstance(registration()))
  await world.flush()
  world.start(registerInstance(registration({ app: 'v2' })))
  const { serial } = world.state.service(ORDERS)!
  world.engine.applyBehind([{ kind: 'service-deleted', key: ORDERS, serial }])
  world.start(registerInstance(registration({ address: address({ port: 9 }) })))
  await world.flush()
  expect([...world.store.instances.values()].map(({ record }) => record.address.port)).toEqual([9])
})

test('a beat writes nothing, unless it makes the instance healthy', async () => {
  world.start(registerInstance(registration()))
  await world.flush()
  const before = world.store.begun.length
  const source = { serviceKey: ORDERS, ...address() }
  expect(beat(world, source, at(1_000))).toMatchObject({ kind: 'renewed', healed: [] })
  await world.flush()
  expect(world.store.begun).toHaveLength(before)
  world.engine.applyBehind(world.liveness.sweep(at(16_500), () => true))
  const result = beat(world, source, at(16_600))
  world.engine.applyBehind(result.kind === 'renewed' ? result.healed : [])
  await world.flush()
  expect([...world.store.instances.values()][0]?.healthy).toBe(true)
})

test('an ephemeral command on a busy service waits for the commit in flight', async () => {
  const made = watched(world.engine.execute(createService(ORDERS, NO_WISH)))
  await world.turn()
  const came = watched(world.engine.execute(registerInstance(registration())))
  const elsewhere = watched(
    world.start(registerInstance(registration({ serviceKey: { ...ORDERS, namespaceId: 'dev' } }))),
  )
  expect([came.waits, elsewhere.waits]).toEqual([true, false])
  await world.succeed()
  await world.quiet()
  expect([made.value, came.value]).toEqual(['ok', 'registered'])
  expect(world.state.service(ORDERS)?.madeBy).toBe('operator')
})

describe('of many records', () => {
  /** Registers `count` instances of one service. */
  const register = (count: number): void => {
    for (let port = 1; port <= count; port++) {
      world.start(registerInstance(registration({ address: address({ port }) })))
    }
  }
  const serials = (groups: readonly (readonly Change[])[]): number[] =>
    groups.flat().map((change) => (change.kind === 'instance-saved' ? change.record.serial : 0))

  test('more than a commit takes gather for four ticks', async () => {
    register(1_000)
    for (let tick = 0; tick < 3; tick++) await world.tick()
    expect(world.store.begun).toHaveLength(0)
    await world.tick()
    expect(world.store.begun[0]).toHaveLength(1_000)
  })

  test('as many records as fit into a commit are written with the next tick', async () => {
    register(999)
    await world.tick()
    expect(world.store.begun[0]).toHaveLength(1_000)
  })

  test('are written in the order of their serials, and records of later changes after them', async () => {
    register(2_500)
    await world.flush()
    world.store.begun.splice(0)
    for (let port = 2_500; port > 0; port--) {
      world.start(registerInstance(registration({ app: 'v2', address: address({ port }) })))
    }
    for (let tick = 0; tick < 4; tick++) await world.tick()
    world.start(registerInstance(registration({ app: 'v3', address: address({ port: 1 }) })))
    await world.quiet()
    expect(world.store.begun.map((groups) => groups.length)).toEqual([1_000, 1_000, 500])
    const written = world.store.begun.flatMap(serials)
    expect(written).toEqual(written.toSorted((a, b) => a - b))
    expect(world.engine.backlog.behind).toBe(1)
    await world.flush()
    const apps = [...world.store.instances.values()].map(({ record }) => record.app)
    expect(apps.filter((app) => app === 'v3')).toHaveLength(1)
  })

  test('are all written when the server stops', async () => {
    register(2_500)
    await world.tick()
    const closed = watched(world.engine.close())
    await world.quiet()
    expect([closed.waits, world.store.instances.size, world.engine.backlog.behind]).toEqual([false, 2_500, 0])
  })
})

describe('a pending record is written with a durable change that needs it', () => {
  const lasting = registerInstance(registration({ ephemeral: false }))

  test('the removal of the instance that a persistent one replaces', async () => {
    world.start(registerInstance(registration()))
    await world.flush()
    world.engine.applyBehind(world.liveness.sweep(at(40_000), () => true))
    const failed = watched(world.engine.execute(lasting))
    await world.turn()
    expect(kinds(world.store.begun.at(-1))).toEqual([['instance-removed'], ['instance-saved']])
    await world.fail()
    expect(failed.error).toBeInstanceOf(Error)
    world.start(lasting)
    await world.commit()
    expect([...world.store.instances.values()].map(({ record }) => record.ephemeral)).toEqual([false])
    await world.flush()
    expect([world.store.instances.size, world.state.instanceCount(ORDERS)]).toEqual([1, 1])
  })

  test('the service of an ephemeral instance that had to wait for another change', async () => {
    world.start(registerInstance(registration()))
    world.start(modifyInstance(TARGET, { ...weight(1), metadata: { zone: 'a' } }))
    await world.turn()
    world.start(registerInstance(registration({ address: address({ port: 81 }) })))
    await world.succeed()
    await world.gathered()
    expect(kinds(world.store.begun.at(-1))).toEqual([['service-saved'], ['instance-saved']])
    await world.flush()
    expect(world.store.instances.size).toBe(2)
  })
})

describe('deregistering', () => {
  test('an instance that was never written is answered at once, and never written', async () => {
    world.start(registerInstance(registration()))
    expect(world.engine.execute(deregisterInstance(TARGET))).toBe('ok')
    await world.flush()
    expect(kinds(world.store.begun[0])).toEqual([['service-saved']])
    expect(world.store.instances.size).toBe(0)
  })

  test('an instance that was written is answered when its removal is on disk', async () => {
    world.start(registerInstance(registration()))
    await world.flush()
    const left = watched(world.engine.execute(deregisterInstance(TARGET)))
    expect(left.waits).toBe(true)
    expect(world.state.instanceCount(ORDERS)).toBe(1)
    await world.commit()
    expect(left.value).toBe('ok')
    expect([world.store.instances.size, world.state.instanceCount(ORDERS)]).toEqual([0, 0])
  })

  test('an instance that is being written waits too', async () => {
    world.start(registerInstance(registration()))
    await world.tick()
    const left = watched(world.engine.execute(deregisterInstance(TARGET)))
    expect(left.waits).toBe(true)
    await world.succeed()
    await world.quiet()
    expect([left.value, world.store.instances.size]).toEqual(['ok', 0])
  })

  test('an instance that a modification has written is durable, although it was still pending', async () => {
    world.start(registerInstance(registration()))
    const modified = watched(world.engine.execute(modifyInstance(TARGET, weight(5))))
    await world.commit()
    expect(modified.value).toBe('ok')
    expect(world.store.instances.size).toBe(1)
    const left = watched(world.engine.execute(deregisterInstance(TARGET)))
    expect(left.waits).toBe(true)
    await world.flush()
    expect([left.value, world.store.instances.size]).toEqual(['ok', 0])
  })
})

describe('a flush that fails', () => {
  test('loses nothing, because it is retried after a second', async () => {
    world.start(registerInstance(registration()))
    await world.tick()
    await world.fail()
    expect(world.reports).toEqual(['2 records wait to be written'])
    expect(world.engine.backlog.behind).toBe(2)
    for (let tick = 0; tick < 10; tick++) world.engine.tick()
    expect(world.hasDeferred).toBe(false)
    await world.flush()
    expect([world.store.services.size, world.store.instances.size]).toEqual([1, 1])
  })

  test('continues with the rest after a second, without waiting for more', async () => {
    world = new EngineWorld(2)
    for (let port = 1; port <= 5; port++)
      world.start(registerInstance(registration({ address: address({ port }) })))
    for (let tick = 0; tick < 4; tick++) await world.tick()
    await world.fail()
    for (let tick = 0; tick <= 10; tick++) world.engine.tick()
    expect(world.hasDeferred).toBe(true)
    await world.quiet()
    expect([world.store.instances.size, world.engine.backlog.behind]).toEqual([5, 0])
  })

  test('leaves the service to be written with the next durable instance', async () => {
    world.start(registerInstance(registration()))
    await world.tick()
    await world.fail()
    const lasting = registration({ ephemeral: false, address: address({ port: 81 }) })
    const kept = watched(world.engine.execute(registerInstance(lasting)))
    await world.commit()
    expect(kept.value).toBe('registered')
    const written = [...world.store.instances.values()][0]
    expect(world.store.services.has(written?.serviceSerial ?? -1)).toBe(true)
  })

  test('keeps removals before the records that replace the removed ones', async () => {
    world.start(registerInstance(registration()))
    await world.flush()
    world.engine.applyBehind(world.liveness.sweep(at(40_000), () => true))
    await world.tick()
    world.start(registerInstance(registration()))
    await world.fail()
    await world.flush()
    expect(world.store.begun.slice(-2).map(kinds)).toEqual([[['instance-removed']], [['instance-saved']]])
    expect(world.store.instances.size).toBe(1)
  })

  test('by a bad record leaves it out, reports it and writes the others', async () => {
    world.start(registerInstance(registration()))
    world.start(registerInstance(registration({ address: address({ port: 81 }) })))
    await world.tick()
    await world.refuseGroup(1)
    expect(world.reports).toEqual(['a record could not be written: instance-saved'])
    await world.quiet()
    expect([...world.store.instances.values()].map(({ record }) => record.address.port)).toEqual([81])
  })

  test('by a bad service fails the callers that depend on it, and no others', async () => {
    world.start(registerInstance(registration()))
    const lasting = registration({ ephemeral: false, address: address({ port: 81 }) })
    const refused = watched(world.engine.execute(registerInstance(lasting)))
    const elsewhere = watched(world.engine.execute(createService({ ...ORDERS, namespaceId: 'dev' }, NO_WISH)))
    await world.turn()
    expect(kinds(world.store.begun[0])).toEqual([['service-saved'], ['instance-saved'], ['service-saved']])
    await world.refuseGroup(0)
    expect(refused.error).toEqual(new Error('bad group 0'))
    await world.turn()
    expect(kinds(world.store.begun[1])).toEqual([['service-saved']])
    await world.succeed()
    expect(elsewhere.value).toBe('ok')
  })

  test('does not affect the callers of the same batch if it is one record', async () => {
    world.start(registerInstance(registration()))
    world.engine.tick()
    const named = watched(world.engine.execute(updateService(ORDERS, { ...NO_WISH, protectThreshold: 0.5 })))
    await world.turn()
    await world.refuseGroup(1)
    await world.quiet()
    expect(named.value).toBe('ok')
    expect([...world.store.services.values()][0]?.protectThreshold).toBe(0.5)
  })
})

test('closing flushes all pending records', async () => {
  for (let port = 1; port <= 2_500; port++) {
    world.start(registerInstance(registration({ address: address({ port }) })))
  }
  const closed = watched(world.engine.close())
  await world.quiet()
  expect(closed.waits).toBe(false)
  expect(world.store.begun.map((groups) => groups.length)).toEqual([1_000, 1_000, 501])
  expect(world.store.instances.size).toBe(2_500)
})

test('an instance that expires while its modification is being written stays removed, also on disk', async () => {
  world.start(registerInstance(registration()))
  await world.flush()
  const modified = watched(world.engine.execute(modifyInstance(TARGET, weight(5))))
  await world.turn()
  world.engine.applyBehind(world.liveness.sweep(at(31_000), () => true))
  await world.succeed()
  expect(modified.value).toBe('ok')
  expect(world.state.instanceCount(ORDERS)).toBe(0)
  await world.flush()
  expect(world.store.instances.size).toBe(0)
})

test('an instance that expires during its first write is removed before another one replaces it', async () => {
  world.start(registerInstance(registration()))
  world.start(modifyInstance(TARGET, weight(5)))
  await world.turn()
  world.engine.applyBehind(world.liveness.sweep(at(31_000), () => true))
  await world.succeed()
  world.start(registerInstance(registration({ ephemeral: false })))
  await world.commit()
  expect([...world.store.instances.values()].map(({ record }) => record.ephemeral)).toEqual([false])
})

test('only ephemeral changes may be applied before they are on disk', () => {
  const removed = recordRemoved(NAMESPACE, 'dev', 0)
  expect(() => world.engine.applyBehind([removed])).toThrow('disk')
})
