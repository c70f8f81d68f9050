import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { KeyRange, KeyValue, TxnOperation } from '@waypost/etcd-client/messages'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import type { Sealing } from './sealing.ts'

/** Etcd takes 128 operations in a request, nested ones too. */
const AT_ONCE = 50
const PAGE_SIZE = 1_000

/** The result of a pass. */
export interface Resealed {
  /** Values that were in clear, or sealed with another key. */
  readonly sealed: number
  /** Keys with an unreadable value, which stay. */
  readonly unreadable: readonly string[]
}

/**
 * Seals each secret again that is not sealed with the key in use. A secret that changed meanwhile is left to the next
 * pass. Two servers that do so at once do no harm.
 */
export async function resealAll(
  client: Pick<EtcdClient, 'pages' | 'txn'>,
  sealing: Sealing,
): Promise<Resealed> {
  let sealed = 0
  const unreadable: string[] = []
  for (const range of rangesOf(sealing))
    for await (const { kvs } of client.pages({ ...range, pageSize: PAGE_SIZE })) {
      const others = kvs.filter((kv) => kv.sealedBy !== sealing.writesWith && sealing.isOurs(kv))
      const writes = others.flatMap((kv) => writingOf(kv) ?? (unreadable.push(kv.key), []))
      for (let at = 0; at < writes.length; at += AT_ONCE)
        await client.txn({ compare: [], success: writes.slice(at, at + AT_ONCE) })
      sealed += writes.length
    }
  return { sealed, unreadable }
}

/** Undefined: it cannot be read. */
function writingOf(kv: KeyValue): TxnOperation | undefined {
  try {
    const { key, value, modRevision } = kv
    const put = { do: 'put', key, value } as const
    return { do: 'txn', compare: [{ key, of: 'mod', is: '=', to: modRevision }], success: [put] }
  } catch {
    return undefined
  }
}

function rangesOf({ secretPlaces: { prefixes, keys } }: Sealing): KeyRange[] {
  return [...prefixes.map((key) => ({ key, end: prefixEnd(key) })), ...keys.map((key) => ({ key }))]
}
