import {
  ADMINISTRATORS,
  ROLE_PERMISSION,
  SESSION,
  SIGNING_KEY,
  USER,
  USER_ROLE,
} from '../access/access-records.ts'
import { SERVER } from '../cluster/members/server-records.ts'
import { DELETED_CONFIG } from '../config/state/deleted-config.ts'
import { GRAY, GRAY_TEXT } from '../config/state/gray-version.ts'
import { LISTS_AHEAD } from '../naming/state/lists-ahead.ts'
import { REMEMBERED_METADATA } from '../naming/state/remembered-metadata.ts'
import { NAMESPACE, NAMESPACE_LOOK } from '../namespaces/namespace.ts'
import { SWITCH } from '../switches/switch-records.ts'
import { ANNOUNCED_INTERVAL } from '../switches/announced-interval.ts'
import { type RecordKind, recordKindNamed, type StoredRecord } from '../records/record-kind.ts'

/** The kinds that this version stores. They are listed here so that they are defined before stored records are read. */
export const STORED_KINDS: readonly RecordKind<unknown>[] = [
  NAMESPACE,
  SWITCH,
  REMEMBERED_METADATA,
  USER,
  USER_ROLE,
  ADMINISTRATORS,
  ROLE_PERMISSION,
  SIGNING_KEY,
  SESSION,
  SERVER,
  DELETED_CONFIG,
  NAMESPACE_LOOK,
  LISTS_AHEAD,
  GRAY,
  GRAY_TEXT,
  ANNOUNCED_INTERVAL,
]

/** A stored record is of a kind that this version does not know: a later version has written it. */
export class UnknownRecordKind extends Error {
  constructor(recordKind: string) {
    super(
      `The store has records of the kind ${recordKind}, which this version of Waypost does not know. ` +
        'Use the version that wrote it, or a later one.',
    )
    this.name = 'UnknownRecordKind'
  }
}

/** A stored record, from the JSON text of its value. Throws `UnknownRecordKind`, or an Error that names the record. */
export function decodeRecord(recordKind: string, id: string, text: string): StoredRecord {
  const kind = recordKindNamed(recordKind)
  if (kind === undefined) throw new UnknownRecordKind(recordKind)
  try {
    return { recordKind, id, value: kind.decode(JSON.parse(text), id) }
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`The record ${id} of the kind ${recordKind} cannot be read: ${problem}`, { cause })
  }
}
