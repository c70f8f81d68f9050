import type { HistoryLimits } from '../../core/config/state/history-limits.ts'
import type { VersionRange } from '../../core/cluster/members/versions.ts'
import type { Clock } from '@waypost/etcd-client/clock'
import type { CallTimes } from '@waypost/etcd-client/calls'
import { connectTo, type EtcdAccess } from '@waypost/etcd-client/connection'
import { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { EtcdError } from '@waypost/etcd-client/etcd-error'
import type { TxnGuard } from '@waypost/etcd-client/txn-guard'
import type { ValueForm } from '@waypost/etcd-client/value-form'
import { Compaction, type CompactMode } from './space/compaction.ts'
import { EtcdStore, type EtcdStoreParts } from './etcd-store.ts'
import { Keys } from './keys/keys.ts'
import { StoreInUse, type StoreInUseParts } from './format/store-in-use.ts'
import { EtcdMembership } from './members/membership.ts'
import { Sealing } from './sealing/sealing.ts'
import { SecretsKeyInUse } from './sealing/secrets-key-in-use.ts'
import type { SecretsKey } from './sealing/secrets-keys.ts'

/** The etcd that is used, and the server that uses it. */
export interface EtcdSetup {
  /** `http://host:port` or `https://host:port`, at least one. */
  readonly endpoints: readonly string[]
  /** The credentials of this server, and the certificates that it trusts. */
  readonly access?: EtcdAccess
  /** The beginning of all keys, with or without a slash at its end. */
  readonly prefix: string
  /** The id of this server: `<ip>:<port>` (`memberIdOf`). */
  readonly member: string
  /** A unique name for this process. */
  readonly process: string
  readonly clock: Clock
  /** See `EtcdStoreParts.history`. */
  readonly history?: () => HistoryLimits
  /** Whether `compaction` compacts; by default it does not. */
  readonly compact?: CompactMode
  /** Called with the reason to stop this server, such as `PlaceTaken`. It may be called more than once. */
  readonly failed: (error: unknown) => void
  /** The layouts that this server understands; by default those of this version. */
  readonly layouts?: VersionRange
  /** Called when etcd does not let this server in, or do something. */
  readonly refused?: (error: EtcdError) => void
  /** The keys that seal secrets, the key to use first; by default none. */
  readonly secretsKeys?: readonly SecretsKey[]
  /** See `EtcdStoreParts.damaged`. */
  readonly damaged?: EtcdStoreParts['damaged']
  /** See `StoreInUseParts`. */
  readonly waitForOthers?: StoreInUseParts['waitForOthers']
  readonly watched?: StoreInUseParts['watched']
  /** How long calls may take. */
  readonly limits?: Partial<CallTimes>
  /** Called when everything must be loaded again, with the reason, and whenever that has failed. */
  readonly reloading?: (why: unknown) => void
  /** See `EtcdStoreParts.reloaded`. */
  readonly reloaded?: EtcdStoreParts['reloaded']
}

/** The parts of an open etcd. Call `store.load`, `store.follow` and `membership.join` in this order. */
export interface OpenEtcd {
  readonly client: EtcdClient
  readonly store: EtcdStore
  readonly compaction: Compaction
  readonly membership: EtcdMembership
  readonly sealing: Sealing
  readonly secretsKey: SecretsKeyInUse
  readonly inUse: StoreInUse
}

/** Makes the store and the membership of a server. Connects at the first use; `store.close` ends everything. */
export function openEtcd({ prefix, compact, layouts, ...own }: EtcdSetup): OpenEtcd {
  const { clock, failed } = own
  const whole = `${prefix.replace(/\/+$/, '')}/`
  const keys = new Keys(whole)
  const sealing = new Sealing(keys, own.secretsKeys ?? [])
  const client = clientOf(own, keys, { values: sealing, guard: () => inUse.guard })
  const { member, waitForOthers, watched } = own
  const inUse = new StoreInUse({ client, keys, understood: layouts, member, waitForOthers, watched })
  const secretsKey = new SecretsKeyInUse({ client, keys, sealing })
  return {
    client,
    compaction: new Compaction({
      client,
      prefix: whole,
      mode: compact ?? 'off',
      nowMs: () => clock.nowMs(),
    }),
    store: new EtcdStore({ client, keys, inUse, secretsKey, ...own }),
    membership: new EtcdMembership({ client, keys, inUse, clock, failed }),
    sealing,
    secretsKey,
    inUse,
  }
}

function clientOf(
  { endpoints, access, clock, limits, refused }: Omit<EtcdSetup, 'prefix' | 'compact' | 'layouts'>,
  keys: Keys,
  { values, guard }: { values: ValueForm; guard: () => TxnGuard },
): EtcdClient {
  return new EtcdClient({
    endpoints,
    clock,
    random: Math.random,
    open: connectTo(clock, access),
    proofKey: keys.of({ of: 'format' }),
    values,
    guard,
    ...(limits && { limits }),
    ...(refused && { refused }),
  })
}
