import { firstStampOf } from '../../../core/decisions/stamps.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { KeyValue } from '@waypost/etcd-client/messages'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import type { MemberStatus } from '@waypost/etcd-client/version'
import { CHUNK_BYTES } from '../contents/large-contents.ts'
import type { Keys } from '../keys/keys.ts'
import type { ComparedKind, KnownKeys } from '../keys/known-keys.ts'

/** The kinds of shares; `rest`: versions until compaction, and keys of others; `free`: free space inside the file. */
const QUOTA_KINDS = [
  'configs',
  'services',
  'instances',
  'records',
  'history',
  'large-contents',
  'audit',
  'rest',
  'free',
] as const

/** The part of the quota that each kind takes, from 0 to 1. */
export type QuotaShares = Readonly<Record<(typeof QUOTA_KINDS)[number], number>>

/** etcd's overhead for a key and its value. */
const OVERHEAD_BYTES = 100
/** How many keys are looked at to know their size, and at how many places of the history. */
const SAMPLE = 40
const PLACES = 4

type Client = Pick<EtcdClient, 'range'>

/** The dependencies of `quotaShares`. */
export interface QuotaSharesParts {
  readonly client: Client
  readonly keys: Keys
  readonly known: Pick<KnownKeys, 'bytes' | 'count'>
  /** Epoch milliseconds. */
  readonly nowMs: () => number
}

/**
 * Measures the share of each kind of keys in the quota. A server knows the keys that it follows; history and audit are
 * counted, and their sizes estimated from samples. `member`: the member whose file is nearest to its quota.
 */
export async function quotaShares(
  parts: QuotaSharesParts,
  {
    sizeBytes,
    inUseBytes,
    quotaBytes,
  }: Pick<MemberStatus, 'sizeBytes' | 'inUseBytes'> & { quotaBytes: number },
): Promise<QuotaShares> {
  const { client, keys, known } = parts
  const ofKnown = (kind: ComparedKind): number => known.bytes(kind) + known.count(kind) * OVERHEAD_BYTES
  const bytes = {
    configs: ofKnown('config'),
    services: ofKnown('service'),
    instances: ofKnown('instance'),
    records: ofKnown('small-record'),
    history: (await texts(parts)) + (await estimated(client, keys.every('history'))),
    'large-contents': await largeContents(client, keys),
    audit: await estimated(client, keys.every('audit')),
  }
  const sum = Object.values(bytes).reduce((all, each) => all + each, 0)
  const whole = { ...bytes, rest: Math.max(0, inUseBytes - sum), free: Math.max(0, sizeBytes - inUseBytes) }
  const share = (kind: (typeof QUOTA_KINDS)[number]): number => whole[kind] / quotaBytes
  return Object.fromEntries(QUOTA_KINDS.map((kind) => [kind, share(kind)])) as unknown as QuotaShares
}

/** The estimated bytes of the keys with a prefix, by the size of the first keys. */
async function estimated(client: Client, prefix: string): Promise<number> {
  const { kvs, count } = await client.range({ key: prefix, end: prefixEnd(prefix), limit: SAMPLE })
  return count * meanBytes(kvs)
}

/** The same for the texts of history, sampled in several places between the oldest and now. */
async function texts({ client, keys, nowMs }: QuotaSharesParts): Promise<number> {
  const prefix = keys.every('record-text')
  const end = prefixEnd(prefix)
  const { kvs, count } = await client.range({ key: prefix, end, limit: 1 })
  const oldest = kvs[0] && keys.read(kvs[0].key)
  if (oldest?.of !== 'record-text') return 0
  const span = Math.max(0, firstStampOf(nowMs()) - oldest.stamp)
  const found: KeyValue[] = [...kvs]
  for (let place = 0; place < PLACES; place++) {
    const stamp = oldest.stamp + Math.floor((span * place) / PLACES)
    const key = keys.of({ of: 'record-text', stamp })
    found.push(...(await client.range({ key, end, limit: SAMPLE / PLACES })).kvs)
  }
  return count * meanBytes(found)
}

/** The mean size with etcd's overhead; 0 without keys. */
function meanBytes(kvs: readonly KeyValue[]): number {
  if (kvs.length === 0) return 0
  const bytes = kvs.reduce((sum, { key, value }) => sum + Buffer.byteLength(key) + value.byteLength, 0)
  return bytes / kvs.length + OVERHEAD_BYTES
}

/** All pieces of a content are whole, but the last one. */
async function largeContents(client: Client, keys: Keys): Promise<number> {
  const countOf = async (kind: 'chunk' | 'named-chunks'): Promise<number> => {
    const key = keys.every(kind)
    return (await client.range({ key, end: prefixEnd(key), countOnly: true })).count
  }
  const [chunks, contents] = [await countOf('chunk'), await countOf('named-chunks')]
  return Math.max(0, chunks - contents / 2) * CHUNK_BYTES
}
