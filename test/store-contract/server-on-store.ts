import { setImmediate as nextTurn } from 'node:timers/promises'
import { SoleEngine } from '../../src/core/sole-engine.ts'
import { Follower } from '../../src/core/follower.ts'
import type { InstanceAddress } from '../../src/core/naming/instance.ts'
import { registerInstance } from '../../src/core/naming/register-instance.ts'
import type { ServiceKey } from '../../src/core/naming/service.ts'
import type { ChangeGroup, Now, Store } from '../../src/core/ports.ts'
import { Stamps } from '../../src/core/stamps.ts'
import { deepFrozen, START_MS } from './samples.ts'

/** The core of a server on a store, whose wall clock is the test's. Every change that it commits is frozen before. */
export type ServerOnStore = Awaited<ReturnType<typeof serverOn>>

/** Starts the core of a server on a store. `wallMs` counts from `START_MS`. */
export async function serverOn(store: Store, wallMs = 0) {
  const stamps = new Stamps()
  const clock = (): Now => {
    const nowMs = START_MS + wallMs
    return { wallMs: nowMs, healthMs: 0, stamp: stamps.next(nowMs) }
  }
  const follower = Follower.load(await store.load(), { clock, stamps, feed: { publishChanges: () => {} } })
  const commit = (groups: readonly ChangeGroup[]) =>
    store.commit(groups.map((group) => group.map(deepFrozen)))
  const engine = new SoleEngine({
    follower,
    store: { commit },
    clock,
    loop: { now: () => performance.now(), soon: (run) => void setImmediate(run) },
    report: (error) => {
      throw error
    },
  })
  const { state } = follower
  return {
    engine,
    state,
    /** Registers an instance; `port` names it in the service. */
    register: (serviceKey: ServiceKey, port: number, other: Other = {}) =>
      engine.execute(registerInstance(registrationOf(serviceKey, port, other))),
    /** Writes what is behind. */
    async flush() {
      while (engine.backlog.behind > 0 || engine.backlog.waiting > 0) {
        engine.tick()
        await nextTurn()
      }
    },
    refMs: (serviceKey: ServiceKey) => state.services.get(serviceKey)?.lastRefMs ?? state.services.floorMs,
    hosts: (serviceKey: ServiceKey) => [...state.instances(serviceKey)].map(({ record }) => record.address),
  }
}

/** The address that `register` gives an instance. */
export function addressOf(port: number, cluster = 'DEFAULT'): InstanceAddress {
  return { ip: '10.0.0.1', port, cluster }
}

/** What a registration may say besides. */
interface Other {
  readonly ephemeral?: boolean
  readonly cluster?: string
  readonly app?: string
}

function registrationOf(
  serviceKey: ServiceKey,
  port: number,
  { ephemeral = true, cluster, app = '' }: Other,
) {
  const rest = { weight: 1, enabled: true, healthy: undefined, metadata: {}, app }
  return { serviceKey, address: addressOf(port, cluster), ephemeral, ...rest }
}
