import { publishConfig } from '../../src/core/config/commands/publish-config.ts'
import { configKey } from '../../src/core/config/state/config-item.ts'
import type { Change } from '../../src/core/decisions/changes.ts'
import { ELECTED, ELECTION, MEMBER, memberIdOf } from '../../src/core/cluster/members/member-records.ts'
import type { MemberFacts } from '../../src/core/cluster/members/member-records.ts'
import { address, publishing, registration } from '../../src/core/core.test-support.ts'
import { Follower } from '../../src/core/engine/follower.ts'
import { Liveness } from '../../src/core/naming/liveness/liveness.ts'
import { registerInstance } from '../../src/core/naming/commands/register-instance.ts'
import { SharedEngine } from '../../src/core/engine/shared-engine.ts'
import { SharedFollower } from '../../src/core/engine/shared-follower.ts'
import { Stamps } from '../../src/core/decisions/stamps.ts'
import { MESSAGES } from '../../src/cluster/peer-question.ts'
import type { VersionRange } from '../../src/core/cluster/members/versions.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { systemClock } from '@waypost/etcd-client/clock'
import type { DamagedKey } from '../../src/store/etcd/failures/damaged-keys.ts'
import { LAYOUTS } from '../../src/store/etcd/format/layout.ts'
import { type EtcdSetup, openEtcd } from '../../src/store/etcd/open-etcd.ts'

/** The item that tests publish. */
export const KEY = configKey('public', 'G', 'a')
/** Time limits that busy machines keep too. */
const PATIENT = { callMs: 15_000, attemptMs: 3_000 }
const PATIENT_MS = 60_000

/** Every time is later than the one before. */
let nowMs = 1_800_000_000_000
let processes = 0

/** The core of a server on etcd. */
export type StoreServer = Awaited<ReturnType<typeof startStoreServer>>

/** The differences from an ordinary server: how its store is opened, and the source of the times of its instances. */
export interface StoreServerOptions extends Partial<EtcdSetup> {
  readonly answerMs?: number
  readonly liveness?: Liveness
  readonly healthMs?: () => number
  readonly peerPort?: number
  /** Called with the client before the store is loaded. */
  readonly connected?: (client: EtcdClient) => void
  /** The messages that it understands. */
  readonly messages?: VersionRange
}

/** Starts the core of a server that shares a store; `port` is the one of its member id. */
export async function startStoreServer(
  etcd: { readonly endpoints: readonly string[]; readonly prefix: string },
  port: number,
  options: StoreServerOptions = {},
) {
  const {
    answerMs = PATIENT_MS,
    liveness = new Liveness(),
    healthMs = () => 0,
    messages,
    connected,
    ...other
  } = options
  const failures: unknown[] = []
  const damaged: DamagedKey[] = []
  const seen: Change[] = []
  const facts: MemberFacts = {
    ip: '127.0.0.1',
    port,
    peerPort: options.peerPort ?? port + 2_000,
    site: 'unknown',
    version: '1',
    process: `process ${processes++}`,
    auth: 'off',
    versions: { layouts: other.layouts ?? LAYOUTS, messages: messages ?? MESSAGES },
    ...(other.secretsKeys && { secretsKeys: other.secretsKeys.map(({ id }) => id) }),
  }
  const { store, membership, client, sealing, secretsKey } = openEtcd({
    ...etcd,
    limits: PATIENT,
    member: memberIdOf(facts),
    process: facts.process,
    clock: systemClock,
    failed: (error) => void failures.push(error),
    damaged: (one) => void damaged.push(one),
    ...other,
  })
  connected?.(client)
  const stamps = new Stamps()
  const skew = { aheadMs: 0 }
  const clock = () => {
    const wallMs = ++nowMs + skew.aheadMs
    return { wallMs, healthMs: healthMs(), stamp: stamps.next(wallMs) }
  }
  const snapshot = await store.load().catch(async (error: unknown) => {
    await store.close()
    throw error
  })
  const follower = Follower.load(snapshot, {
    clock,
    stamps,
    presence: liveness,
    feed: { publishChanges: (changes) => seen.push(...changes) },
  })
  store.follow(new SharedFollower(follower, stamps))
  const loop = { now: () => performance.now(), soon: (run: () => void) => void setImmediate(run) }
  const report = (error: unknown): void => void failures.push(error)
  const engine = new SharedEngine({ follower, store, clock, loop, report, answerMs })
  const { state } = follower
  return {
    store,
    state,
    engine,
    client,
    follower,
    failures,
    damaged,
    seen,
    membership,
    sealing,
    secretsKey,
    facts,
    clock: skew,
    now: clock,
    id: memberIdOf(facts),
    contentOf: () => state.config(KEY)?.content.toString(),
    ports: () => [...state.instances(registration().serviceKey)].map(({ record }) => record.address.port),
    members: () => Array.from(state.records(MEMBER), ([id, { process }]) => ({ id, process })),
    elected: () => state.record(ELECTION, ELECTED),
    /** Stops being a member, and ends everything. */
    async stop() {
      await membership.leave()
      await store.close()
    },
  }
}

/** Publishes {@link KEY}. */
export const publish = (content: string, other = {}) => publishConfig(publishing(content, other))
/** Registers an instance of the service of tests. */
export const register = (port: number, weight = 1) =>
  registerInstance(registration({ address: address({ port }), weight }))
