import { createHash } from 'node:crypto'
import type { ConfigItem, ConfigKey } from '../../../core/config/state/config-item.ts'
import { UnknownRecordKind } from '../../../core/engine/stored-kinds.ts'
import { recordKindNamed } from '../../../core/records/record-kind.ts'
import { fieldsOf, ShapeError, within } from '../../../core/records/shape.ts'
import type { RecordName } from './record-places.ts'
import { type ContentParts, type ItemFacts, partsShape, stamp as stampShape } from './stored-shapes.ts'
import { fromJson, itemOf, toJson, withContentOf } from './values.ts'

/** Reads a content that is in parts. */
export type ReadParts = (parts: ContentParts) => Promise<Buffer>

const MD5 = /^[0-9a-f]{32}$/

/** The item of a value, with its content. */
export function readItem(
  key: ConfigKey,
  value: Uint8Array,
  readParts: ReadParts,
): ConfigItem | Promise<ConfigItem> {
  const read = withContentOf<ItemFacts>(value)
  if (read.parts === undefined) return itemOf(key, read)
  return readParts(read.parts).then((content) => judgedItem(itemOf(key, { ...read, content })))
}

/** Throws a ShapeError if the content, which was put together, is another one. */
function judgedItem(item: ConfigItem): ConfigItem {
  const md5 = createHash('md5').update(item.content).digest('hex')
  if (md5 !== item.md5 && MD5.test(item.md5))
    throw new ShapeError(`its content has the md5 ${md5}, and ${item.md5} is noted for it`)
  return item
}

/** The value of a stored record, and the stamp of the change that has saved it. */
export interface ReadRecord {
  readonly value: unknown
  readonly stamp: number
}

/** The value of a stored record of a kind, whole or in parts. Throws `UnknownRecordKind`. */
export function readWholeRecord(
  { recordKind, id }: RecordName,
  bytes: Uint8Array,
  readParts: ReadParts,
): ReadRecord | Promise<ReadRecord> {
  if (recordKindNamed(recordKind)?.isLarge !== true) return readRecord(recordKind, id, bytes)
  const { parts: named, stamp } = fieldsOf(fromJson(bytes))
  const parts = within('parts', () => partsShape(named))
  if (parts === undefined) return readRecord(recordKind, id, bytes)
  return readParts(parts).then((json) => readRecord(recordKind, id, toJson({ value: fromJson(json), stamp })))
}

/** The value of a stored record of a kind. Throws `UnknownRecordKind`. */
export function readRecord(recordKind: string, id: string, bytes: Uint8Array): ReadRecord {
  const fields = fieldsOf(fromJson(bytes))
  const stamp = within('stamp', () => stampShape(fields['stamp']))
  const kind = recordKindNamed(recordKind)
  if (kind === undefined) throw new UnknownRecordKind(recordKind)
  return { value: kind.decode(fields['value'], id), stamp }
}
