import { isGrayHistory } from '../../../core/config/state/gray-version.ts'
import type { Change } from '../../../core/decisions/changes.ts'
import { stampOfId } from '../../../core/decisions/stamps.ts'
import type { ConfigKey } from '../../../core/config/state/config-item.ts'
import { type RecordSaved, recordKindNamed } from '../../../core/records/record-kind.ts'
import type { RecordName } from '../keys/record-places.ts'
import type { ContentParts } from '../keys/stored-shapes.ts'
import { type RecordedChange, recordOfChange, type ShownContent, toJson } from '../keys/values.ts'

/** A content up to this size is written in its key; a larger content in chunks, before the unit that names it. */
export const MOST_INLINE_BYTES = 256 * 1024
/** The same for the history of gray versions: many may end with one unit. */
const MOST_INLINE_OF_GRAY = 32 * 1024
/** The size of a chunk: etcd takes a request of 1.5 MiB. */
export const CHUNK_BYTES = 1024 * 1024

/** A content that is written in chunks, and the stamp of its version. */
export interface LargeContent {
  readonly stamp: number
  readonly content: Buffer
}

/** The place of a history record's text that is in etcd already. */
export interface SharedText {
  readonly parts: ContentParts
  /** True: deleting this record deletes the chunks. False: a gray version or a later record owns them. */
  readonly isOwner: boolean
}

/** The texts of a unit that are in etcd already: `SharedTexts`. */
export interface TextsElsewhere {
  /** Whether the text of a record is not written with it. */
  has(change: Change): boolean
  /** The place of a record's text; undefined: it is written with the record. */
  of(change: Change): SharedText | undefined
}

/** The place of a version's content, if it is too large for its value. */
export function partsOf(
  { content, historyId }: ShownContent,
  mostInline = MOST_INLINE_BYTES,
): ContentParts | undefined {
  if (content.length <= mostInline) return undefined
  return { stamp: stampOfId(historyId), count: Math.ceil(content.length / CHUNK_BYTES) }
}

/** The most bytes of a text that is written with its record in the history of this key. */
export function mostInlineOf(key: ConfigKey): number {
  return isGrayHistory(key) ? MOST_INLINE_OF_GRAY : MOST_INLINE_BYTES
}

/** The place of the text of a change's history record, if it is not shared. */
function partsOfRecord(change: RecordedChange): ContentParts | undefined {
  const { facts, shown } = recordOfChange(change)
  return partsOf(shown, mostInlineOf(facts.key))
}

/** The stored history record of a change, and the place of its text. */
export function storedRecord(
  change: RecordedChange,
  texts: Pick<TextsElsewhere, 'of'>,
): ReturnType<typeof recordOfChange> & { readonly parts: ContentParts | undefined } {
  const { facts, shown } = recordOfChange(change)
  const shared = texts.of(change)
  if (shared === undefined) return { facts, shown, parts: partsOf(shown, mostInlineOf(facts.key)) }
  const { parts, isOwner } = shared
  if (isOwner) return { facts, shown, parts }
  const { ownsContent: _ownsContent, ...rest } = facts
  return { facts: { ...rest, sharesContent: true }, shown, parts }
}

/** The place of a small record's value, as JSON, if it is too large for its key. */
export function partsOfValue({ recordKind, id }: RecordName, json: Buffer): ContentParts | undefined {
  if (recordKindNamed(recordKind)?.isLarge !== true || json.length <= MOST_INLINE_BYTES) return undefined
  return { stamp: Number(id), count: Math.ceil(json.length / CHUNK_BYTES) }
}

/** The contents of changes that are written in chunks. */
export function largeContents(
  changes: readonly Change[],
  texts: Pick<TextsElsewhere, 'has'>,
): LargeContent[] {
  return changes.flatMap((change) => {
    if (change.kind === 'record-saved') return largeValue(change)
    if (texts.has(change)) return []
    const written = writtenBy(change)
    const parts = change.kind === 'history-imported' ? partsOfRecord(change) : written && partsOf(written)
    return parts === undefined ? [] : [{ stamp: parts.stamp, content: written!.content }]
  })
}

/** About how many bytes are written in chunks. */
export function largeBytes(changes: readonly Change[], texts: Pick<TextsElsewhere, 'has'>): number {
  const sizes = changes.map((change) => {
    if (change.kind === 'record-saved') return largeValueBytes(change)
    return texts.has(change) ? 0 : (writtenBy(change)?.content.length ?? 0)
  })
  return sizes.reduce((sum, bytes) => sum + (bytes > MOST_INLINE_BYTES ? bytes : 0), 0)
}

/** The bytes of the contents in a value: only a content makes a value large. */
function largeValueBytes({ recordKind, value }: RecordSaved): number {
  if (recordKindNamed(recordKind)?.isLarge !== true) return 0
  const contents = Object.values(value as object).filter((one) => Buffer.isBuffer(one))
  return contents.reduce((sum, { length }) => sum + length, 0)
}

function largeValue(change: RecordSaved): LargeContent[] {
  if (recordKindNamed(change.recordKind)?.isLarge !== true) return []
  const content = toJson(change.value)
  const parts = partsOfValue(change, content)
  return parts === undefined ? [] : [{ stamp: parts.stamp, content }]
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
