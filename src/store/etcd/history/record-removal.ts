import { isGrayHistory } from '../../../core/config/state/gray-version.ts'
import { stampOfId } from '../../../core/decisions/stamps.ts'
import type { EtcdClient } from '../client/etcd-client.ts'
import type { KeyValue, TxnOperation } from '../client/messages.ts'
import { prefixEnd } from '../client/range-end.ts'
import { bytesOfRecord } from './history-size.ts'
import type { Keys } from '../keys/keys.ts'
import { mostInlineOf } from '../contents/large-contents.ts'
import { fromJson, type RecordFacts, type StoredEntry, withContentOf } from '../keys/values.ts'

/** How a record is removed. */
export interface RecordRemoval {
  readonly operations: readonly TxnOperation[]
  /** The key of its text: while it exists, nobody else has removed the record. */
  readonly text: string
  readonly bytes: number
}

/** The removal of the record of a history key. The pieces of a content go with the record that shows it last. */
export async function removalOf(
  client: Pick<EtcdClient, 'range'>,
  keys: Keys,
  { key, value }: Pick<KeyValue, 'key' | 'value'>,
): Promise<RecordRemoval> {
  const entry = fromJson(value) as StoredEntry
  const text = keys.of({ of: 'record-text', stamp: stampOfId(entry.id) })
  const operations: TxnOperation[] = [
    { do: 'delete', key },
    { do: 'delete', key: text },
  ]
  const removal = { operations, text, bytes: bytesOfRecord(entry) }
  const place = keys.read(key)
  const item = place?.of === 'history' ? place.key : undefined
  const mostInline = item === undefined ? 0 : mostInlineOf(item)
  // Also in a copy, whose records do not say that they own their texts.
  const isGray = item !== undefined && isGrayHistory(item)
  const isOfVersion = entry.op === 'I' && !entry.ownsContent && !isGray
  if (isOfVersion || entry.sharesContent || entry.size <= mostInline) return removal
  const { kvs } = await client.range({ key: text })
  const parts = kvs[0] && withContentOf<RecordFacts>(kvs[0].value).parts
  if (parts === undefined) return removal
  const prefix = keys.chunksOf(parts.stamp)
  operations.push(
    { do: 'delete', key: prefix, end: prefixEnd(prefix) },
    { do: 'delete', key: keys.of({ of: 'named-chunks', stamp: parts.stamp }) },
  )
  return removal
}
