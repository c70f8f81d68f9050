import { isGrayHistory } from '../../../core/config/state/gray-version.ts'
import { isStamp, stampOfId } from '../../../core/decisions/stamps.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { KeyValue, TxnOperation } from '@waypost/etcd-client/messages'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import { bytesOfRecord } from './history-size.ts'
import type { Keys } from '../keys/keys.ts'
import { chunkRuns } from '../contents/chunk-runs.ts'
import { mostInlineOf } from '../contents/large-contents.ts'
import { type RecordFacts, withContentOf } from '../keys/values.ts'
import type { PlacedEntry } from './stored-entry.ts'

/** How a record is removed. */
export interface RecordRemoval {
  readonly operations: readonly TxnOperation[]
  /** The key of its text: while it exists, nobody else has removed the record. */
  readonly text: string
  readonly bytes: number
}

/**
 * The removal of the record of a history key. The pieces of a content go with the record that shows it last. Pieces
 * behind a key of another form are left to `ChunkCleaning`.
 */
export async function removalOf(
  client: Pick<EtcdClient, 'range'>,
  keys: Keys,
  { key, place, entry }: PlacedEntry,
): Promise<RecordRemoval> {
  const text = keys.of({ of: 'record-text', stamp: stampOfId(entry.id) })
  const operations: TxnOperation[] = [
    { do: 'delete', key },
    { do: 'delete', key: text },
  ]
  const removal = { operations, text, bytes: bytesOfRecord(entry) }
  // Also in a copy, whose records do not say that they own their texts.
  const isOfVersion = entry.op === 'I' && !entry.ownsContent && !isGrayHistory(place.key)
  if (isOfVersion || entry.sharesContent || entry.size <= mostInlineOf(place.key)) return removal
  const { kvs } = await client.range({ key: text })
  const stamp = kvs[0] && stampOfChunks(kvs[0])
  if (stamp === undefined) return removal
  const prefix = keys.chunksOf(stamp)
  const chunks = await client.range({ key: prefix, end: prefixEnd(prefix), keysOnly: true })
  const [run] = chunkRuns(keys, chunks.kvs)
  if (run !== undefined) operations.push({ do: 'delete', ...run.range })
  operations.push({ do: 'delete', key: keys.of({ of: 'named-chunks', stamp }) })
  return removal
}

/** The stamp of the pieces that a text names; undefined: it names none, or cannot be read. */
function stampOfChunks({ value }: KeyValue): number | undefined {
  try {
    const stamp = withContentOf<RecordFacts>(value).parts?.stamp
    return isStamp(stamp) ? stamp : undefined
  } catch {
    return undefined
  }
}
