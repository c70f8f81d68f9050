import { beforeEach, describe, expect, test } from 'vitest'
import { ANONYMOUS } from '../../core/access/identity.ts'
import { address, EngineWorld, ORDERS, registered, watched } from '../../core/core.test-support.ts'
import { ConnectionInstances } from '../../core/naming/connections/connection-instances.ts'
import { connectionInstanceOperations } from './connection-instances.ts'
import { Guard } from '../guard.ts'

const caller = { ip: '10.0.0.1', identity: ANONYMOUS }
const instance = { address: address(), weight: 1, enabled: true, healthy: undefined, metadata: {}, app: '' }
const request = { serviceKey: ORDERS, connectionId: 'a', instances: [instance] }

let world: EngineWorld
let recorded: string[]
let counted: Record<string, { count: number }>
let operations: ReturnType<typeof connectionInstanceOperations>
beforeEach(() => {
  recorded = []
  counted = {}
  world = new EngineWorld(1_000, 'this')
  const guard = new Guard(undefined, {
    record: ({ operation, item, result }) => void recorded.push(`${operation} | ${item} | ${result}`),
    tallyOf: (operation) => (counted[operation] ??= { count: 0 }),
  })
  operations = operationsOf(guard)
})

function operationsOf(guard: Guard) {
  const { state, liveness, engine } = world
  const connectionInstances = new ConnectionInstances({
    state,
    engine,
    processes: liveness.processes,
    process: 'this',
    clock: { at: (ms) => ms, pausedSince: () => 0, stoodStillUntil: () => -Infinity },
    monotonicMs: () => world.nowMs,
    loop: { soon: (run) => void setImmediate(run) },
    canWrite: () => true,
    report: (error) => world.reports.push(String(error)),
  })
  return connectionInstanceOperations({ guard, state, connectionInstances, maxInstanceMetadataBytes: 100 })
}

/** The result of an operation, once everything is written. */
async function settled<T>(outcome: T): Promise<Awaited<T>> {
  await world.quiet()
  return await outcome
}

describe('instances of connections', () => {
  test('are published at once, withdrawn and released', async () => {
    expect(operations.publish(request, caller)).toEqual({ registered: 1, known: 0, removed: 0 })
    expect(operations.withdraw(request, caller)).toEqual({ registered: 0, known: 0, removed: 1 })
    void operations.publish(request, caller)
    await world.flush()
    operations.release({ connectionId: 'a', comesBack: false }, caller)
    expect(world.state.instancesInAll).toBe(0)
  })

  test('that are on disk are withdrawn on disk', async () => {
    void operations.publish(request, caller)
    await world.flush()
    const withdrawn = watched(operations.withdraw(request, caller))
    expect(withdrawn.waits).toBe(true)
    await world.quiet()
    expect(withdrawn.value).toEqual({ registered: 0, known: 0, removed: 1 })
  })

  test('need the permission to write the service', () => {
    const guarded = operationsOf(
      new Guard({
        isOn: true,
        allows: (_caller, action, { kind }) => action === 'read' && kind === 'service',
      }),
    )
    const forbidden = expect.objectContaining({ code: 'forbidden' })
    expect(() => guarded.publish(request, caller)).toThrow(forbidden)
    expect(() => guarded.withdraw(request, caller)).toThrow(forbidden)
  })

  test('are limited in their metadata', () => {
    const large = { ...instance, metadata: { key: 'x'.repeat(100) } }
    expect(() => operations.publish({ ...request, instances: [large] }, caller)).toThrow(
      expect.objectContaining({ code: 'invalid-parameter' }),
    )
  })

  test('are counted by the audit, and recorded where they replace a persistent instance', async () => {
    await settled(operations.publish(request, caller))
    await settled(operations.withdraw(request, caller))
    expect(recorded).toEqual([])
    expect(counted).toEqual({ 'register instance': { count: 1 }, 'deregister instance': { count: 1 } })
    registered(world.state, { ephemeral: false })
    await settled(operations.publish(request, caller))
    expect(recorded).toEqual([
      'register instance | public:DEFAULT_GROUP:naming/orders/10.0.0.1:80@DEFAULT | done',
    ])
  })
})
