import { setImmediate as nextTurn } from 'node:timers/promises'
import type {
  Engine,
  ChangeGroup,
  SharedStore,
  Snapshot,
  SoleEngineStore,
  Store,
} from '../../src/core/engine/ports.ts'
import { Follower } from '../../src/core/engine/follower.ts'
import type { InstanceAddress } from '../../src/core/naming/state/instance.ts'
import { registerInstance } from '../../src/core/naming/commands/register-instance.ts'
import type { ServiceKey } from '../../src/core/naming/state/service.ts'
import { SharedEngine } from '../../src/core/engine/shared-engine.ts'
import { SharedFollower } from '../../src/core/engine/shared-follower.ts'
import { SoleEngine } from '../../src/core/engine/sole-engine.ts'
import { Stamps, type Now } from '../../src/core/decisions/stamps.ts'
import { deepFrozen, START_MS } from './samples.ts'

/** The core of a server on a store, whose wall clock is the test's. */
export type ServerOnStore = Awaited<ReturnType<typeof serverOn>>

/** The parts of the engine of a server. */
interface EngineParts {
  readonly follower: Follower
  readonly stamps: Stamps
  readonly clock: () => Now
  readonly loop: { now(): number; soon(run: () => void): void }
  readonly report: (error: unknown) => void
}

/** How long a commit may take: machines that are busy answer late. */
export const PATIENT_MS = 60_000

/** Starts the core of a server that is alone on a store. `wallMs` counts from `START_MS`. Its changes are frozen. */
export function soleServerOn(store: Store, wallMs = 0): Promise<ServerOnStore> {
  const commit = (groups: readonly ChangeGroup[]) =>
    store.commit(groups.map((group) => group.map(deepFrozen)))
  const frozen: SoleEngineStore = {
    commit,
    mayHave: (serial) => store.mayHave(serial),
    surelyHas: (serial) => store.surelyHas(serial),
  }
  return serverOn(store, wallMs, (parts) => new SoleEngine({ ...parts, store: frozen }))
}

/** The methods of a shared store that a server needs. */
export type SharedState = Pick<SharedStore, 'load' | 'follow' | 'commit' | 'mostChanges'>

/** Starts the core of a server that shares a store. `wallMs` counts from `START_MS`. */
export function sharedServerOn(store: SharedState, wallMs = 0): Promise<ServerOnStore> {
  return serverOn(store, wallMs, ({ stamps, ...parts }) => {
    store.follow(new SharedFollower(parts.follower, stamps))
    return new SharedEngine({ ...parts, store, answerMs: PATIENT_MS })
  })
}

async function serverOn(
  store: { load(): Promise<Snapshot> },
  wallMs: number,
  engineOf: (parts: EngineParts) => Engine,
) {
  const stamps = new Stamps()
  const clock = (): Now => {
    const nowMs = START_MS + wallMs
    return { wallMs: nowMs, healthMs: 0, stamp: stamps.next(nowMs) }
  }
  const follower = Follower.load(await store.load(), { clock, stamps, feed: { publishChanges: () => {} } })
  const loop = { now: () => performance.now(), soon: (run: () => void) => void setImmediate(run) }
  const engine = engineOf({
    follower,
    stamps,
    clock,
    loop,
    report: (error) => {
      throw error
    },
  })
  const { state } = follower
  return {
    engine,
    state,
    clock,
    loop,
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

/** The optional fields of a registration. */
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
