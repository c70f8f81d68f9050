import { beforeEach, describe, expect, test } from 'vitest'
import { Timeline } from '../../core/naming/timeline/timeline.ts'
import { ANONYMOUS } from '../../core/access/identity.ts'
import { auditedItems } from '../../core/audit/audited-item.ts'
import { at, EngineWorld, ORDERS, registered } from '../../core/core.test-support.ts'
import { connectionPublisher } from '../../core/naming/state/connection-publisher.ts'
import { beatOperations } from './beats.ts'
import { Guard } from '../guard.ts'
import { instanceOperations, type RegisterRequest } from './instances.ts'

const caller = { ip: '10.0.0.1', identity: ANONYMOUS }
const instance = { serviceKey: ORDERS, ip: '10.0.0.7', port: 80, cluster: undefined }
const registration: RegisterRequest = {
  ...instance,
  ephemeral: true,
  weight: 1,
  enabled: true,
  healthy: undefined,
  metadata: {},
  app: '',
}

let world: EngineWorld
let recorded: string[]
let counted: Record<string, { count: number }>
let operations: ReturnType<typeof instanceOperations> & ReturnType<typeof beatOperations>
beforeEach(() => {
  recorded = []
  counted = {}
  world = new EngineWorld()
  const { state, liveness, engine, nowMs } = world
  const guard = new Guard(undefined, {
    record: ({ operation, item, result }) => void recorded.push(`${operation} | ${item} | ${result}`),
    tallyOf: (operation) => (counted[operation] ??= { count: 0 }),
  })
  const loop = { soon: (run: () => void) => void setImmediate(run) }
  const parts = {
    guard,
    state,
    liveness,
    engine,
    loop,
    clock: () => at(nowMs),
    isAlive: (process: string) => process === 'this',
    timeline: new Timeline({ startMs: 0, probeText: () => '' }),
    maxInstanceMetadataBytes: 100,
  }
  operations = { ...instanceOperations(parts), ...beatOperations(parts) }
})

/** The result of an operation, once everything is written. */
async function settled<T>(outcome: T): Promise<Awaited<T>> {
  await world.quiet()
  return await outcome
}

describe('the audit', () => {
  test('counts registrations and deregistrations of ephemeral instances, and beats', async () => {
    await settled(operations.register(registration, caller))
    await settled(operations.register({ ...registration, ephemeral: undefined }, caller))
    await settled(
      operations.beat({ ...instance, cluster: 'DEFAULT', full: undefined, fingerprint: 'f' }, caller),
    )
    operations.repeat('f', caller)
    await settled(operations.deregister({ ...instance, ephemeral: undefined }, caller))
    expect(recorded).toEqual([])
    expect(counted).toEqual({
      'register instance': { count: 2 },
      'deregister instance': { count: 1 },
    })
  })

  test('records registrations and deregistrations of persistent instances', async () => {
    const where = 'public:DEFAULT_GROUP:naming/orders/10.0.0.7:80@DEFAULT'
    await settled(operations.register({ ...registration, ephemeral: false }, caller))
    await settled(operations.deregister({ ...instance, ephemeral: undefined }, caller))
    expect(recorded).toEqual([`register instance | ${where} | done`, `deregister instance | ${where} | done`])
  })

  test('records that an ephemeral instance replaces a persistent one', async () => {
    await settled(operations.register({ ...registration, ephemeral: false }, caller))
    await settled(operations.register(registration, caller))
    expect(recorded).toHaveLength(2)
  })

  test('records a beat that makes a persistent instance, and counts the beats that renew it', async () => {
    const full = { ephemeral: false, weight: undefined, metadata: undefined }
    const beat = { ...instance, cluster: 'DEFAULT', full, fingerprint: 'f' }
    await settled(operations.beat(beat, caller))
    await settled(operations.beat(beat, caller))
    expect(recorded).toEqual(['beat | public:DEFAULT_GROUP:naming/orders | done'])
  })

  test('records changes of an instance by an operator', async () => {
    await settled(operations.register(registration, caller))
    await settled(
      operations.modify(
        {
          ...instance,
          ephemeral: undefined,
          weight: 2,
          enabled: undefined,
          metadata: undefined,
          registersUnknown: false,
        },
        caller,
      ),
    )
    expect(() => operations.setHealth({ ...instance, ephemeral: undefined, healthy: false }, caller)).toThrow(
      expect.objectContaining({ code: 'checker-not-none' }),
    )
    await settled(
      operations.updateMetadata(
        { serviceKey: ORDERS, consistencyType: 'ephemeral', instances: [], keys: { secret: 's3cret' } },
        caller,
      ),
    )
    const where = 'public:DEFAULT_GROUP:naming/orders'
    expect(recorded).toEqual([
      `modify instance | ${where}/10.0.0.7:80@DEFAULT | done`,
      `set health | ${where}/10.0.0.7:80@DEFAULT | refused`,
      `update metadata | ${where}/10.0.0.7:80@DEFAULT | done`,
    ])
  })

  test('names each instance of a batch, and those that it left', async () => {
    const where = 'public:DEFAULT_GROUP:naming/orders'
    await settled(operations.register(registration, caller))
    const there = { ip: instance.ip, port: instance.port, cluster: undefined, ephemeral: true }
    const batch = { serviceKey: ORDERS, consistencyType: undefined, keys: { a: 'b' } }
    const instances = [there, { ...there, port: 81 }, { ...there, cluster: 'c' }]
    await settled(operations.updateMetadata({ ...batch, instances }, caller))
    await settled(
      operations.deleteMetadata({ ...batch, consistencyType: 'ephemeral', instances: [] }, caller),
    )
    await settled(operations.deleteMetadata({ ...batch, consistencyType: 'persist', instances: [] }, caller))
    expect(recorded).toEqual([
      `update metadata | ${where}/10.0.0.7:80@DEFAULT\n! ${where}/10.0.0.7:81@DEFAULT\n! ${where}/10.0.0.7:80@c | done`,
      `delete metadata | ${where}/10.0.0.7:80@DEFAULT | done`,
      `delete metadata | ${where} | done`,
    ])
  })
})

test('an instance that leaves while several are changed is not found, and the others are changed', async () => {
  const persistent = (port: number) => ({ ...instance, port, ephemeral: false })
  for (const port of [1, 2, 3])
    await settled(operations.register({ ...registration, ...persistent(port) }, caller))
  void operations.deregister(persistent(2), caller)
  const instances = [1, 2, 3, 4].map(persistent)
  const { updated, notFound } = await settled(
    operations.modifyMany(
      { serviceKey: ORDERS, instances, weight: 7, enabled: undefined, lifts: false },
      caller,
    ),
  )
  expect(updated.map(({ port }) => port)).toEqual([1, 3])
  expect(new Set(notFound.map(({ port }) => port))).toEqual(new Set([2, 4]))
  expect(Array.from(world.state.instances(ORDERS), ({ record }) => record.weight)).toEqual([7, 7])
  const at = (port: number) => `public:DEFAULT_GROUP:naming/orders/10.0.0.7:${port}@DEFAULT`
  const { names, left } = auditedItems(recorded.at(-1)!.split(' | ')[1]!)
  expect([names.slice(0, 2), left.toSorted()]).toEqual([
    [at(1), at(3)],
    [at(2), at(4)],
  ])
})

describe('an instance of a connection', () => {
  const publish = (process: string) =>
    registered(world.state, {
      address: { ip: instance.ip, port: instance.port, cluster: 'DEFAULT' },
      publisher: connectionPublisher({ process, connectionId: '1' }),
    })
  const target = { ...instance, ephemeral: undefined }

  test('is not removed by clients of HTTP', async () => {
    publish('this')
    expect(await settled(operations.deregister({ ...target, sparesConnections: true }, caller))).toBe('ok')
    expect(world.state.instancesInAll).toBe(1)
  })

  test('is removed by an operator only if its server is gone', async () => {
    publish('gone')
    await settled(operations.deregister(target, caller))
    expect(world.state.instancesInAll).toBe(0)
    publish('this')
    const refused = expect.objectContaining({ code: 'instance-connected' })
    expect(() => operations.deregister(target, caller)).toThrow(refused)
    publish('gone')
    await settled(operations.deregister(target, caller))
    expect(world.state.instancesInAll, 'the live one takes over').toBe(1)
    expect(() => operations.deregister(target, caller)).toThrow(refused)
  })
})
