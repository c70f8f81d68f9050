import type { Change } from '../../core/decisions/changes.ts'
import { stampOfId } from '../../core/decisions/stamps.ts'
import type { ContentParts, ShownContent } from './values.ts'

/** A content of this size is written with the keys that have it; a larger one in chunks, before the unit that names it. */
export const MOST_INLINE_BYTES = 256 * 1024
/** The size of a chunk: etcd takes a request of 1.5 MiB. */
const CHUNK_BYTES = 1024 * 1024

/** A content that is written in chunks, and the stamp of its version. */
export interface LargeContent {
  readonly stamp: number
  readonly content: Buffer
}

/** Where the content of a version is, if it is too large for the value that has it. */
export function partsOf({ content, historyId }: ShownContent): ContentParts | undefined {
  if (content.length <= MOST_INLINE_BYTES) return undefined
  return { stamp: stampOfId(historyId), count: Math.ceil(content.length / CHUNK_BYTES) }
}

/** The contents of changes that are written in chunks. */
export function largeContents(changes: readonly Change[]): LargeContent[] {
  return changes.flatMap((change) => {
    const written = writtenBy(change)
    const parts = written && partsOf(written)
    return parts === undefined ? [] : [{ stamp: parts.stamp, content: written!.content }]
  })
}

function writtenBy(change: Change): ShownContent | undefined {
  if (change.kind === 'config-published') return change.item
  if (change.kind !== 'history-imported') return undefined
  return { content: change.record.content, historyId: change.record.id }
}

/** The chunks of a content, in order. */
export function chunksOf(content: Buffer): Buffer[] {
  const count = Math.ceil(content.length / CHUNK_BYTES)
  return Array.from({ length: count }, (_, index) =>
    content.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES),
  )
}
