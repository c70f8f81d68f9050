import { fieldsOf, textIn } from '../../records/shape.ts'
import { defineRecordKind, recordSaved, type RecordSaved } from '../../records/record-kind.ts'
import type { RecordView } from '../../records/record-tables.ts'
import { ownText } from '../../text/own-text.ts'
import type { GrayRule } from './gray-rule.ts'

/** The note beside the history record of a change. */
export interface ConfigComment {
  /** Why somebody made it; empty: nobody says. */
  readonly comment: string
  /** An import wrote the record: its id at the source, or empty where the source has no record of the change. */
  readonly importedId?: string
  /** An imported version whose own change is not known: the newest change there that it certainly has. */
  readonly importedUpTo?: string
  /** The name of the gray version that the record is of, and its rule after the change. */
  readonly gray?: GrayNote
}

/** The part of a note about the gray version of a history record. */
export interface GrayNote {
  readonly name: string
  readonly rule: GrayRule
}

/** The comments of changes, by the id of the history record. They are cleaned with the history. */
export const CONFIG_COMMENT = defineRecordKind<ConfigComment>(
  'config-comment',
  (json) => {
    const fields = fieldsOf(json)
    const { importedId, importedUpTo, gray } = fields
    return {
      comment: textIn(fields, 'comment'),
      ...(importedId === undefined ? {} : { importedId: textIn(fields, 'importedId') }),
      ...(importedUpTo === undefined ? {} : { importedUpTo: textIn(fields, 'importedUpTo') }),
      ...(gray === undefined ? {} : { gray: fieldsOf(gray) as unknown as GrayNote }),
    }
  },
  { isReadOneByOne: true },
)

/** The change that keeps a comment beside its change; empty without a comment. */
export function commentSaved(
  comment: string | undefined,
  { historyId, stamp }: { historyId: number; stamp: number },
): RecordSaved[] {
  if (comment === undefined || comment === '') return []
  return [recordSaved(CONFIG_COMMENT, { id: String(historyId), value: { comment: ownText(comment) }, stamp })]
}

/** The change that notes which gray version a history record is about. */
export function grayChangeSaved(
  gray: GrayNote,
  { comment, historyId, stamp }: { comment: string | undefined; historyId: number; stamp: number },
): RecordSaved {
  const value = { comment: ownText(comment ?? ''), gray }
  return recordSaved(CONFIG_COMMENT, { id: String(historyId), value, stamp })
}

/** The gray version that a history record is about; undefined: it is of the formal version. */
export function grayNoteOf(records: Pick<RecordView, 'record'>, historyId: number): GrayNote | undefined {
  return records.record(CONFIG_COMMENT, String(historyId))?.gray
}

/** The fields that mark a history record as imported. */
export type ImportMark = Pick<ConfigComment, 'importedId' | 'importedUpTo'>

/** The change that marks a history record as imported. */
export function importMarked(
  mark: ImportMark,
  { historyId, stamp }: { historyId: number; stamp: number },
): RecordSaved {
  return recordSaved(CONFIG_COMMENT, { id: String(historyId), value: { comment: '', ...mark }, stamp })
}

/** The id of an imported record at its origin, or empty; undefined: a record of this server. */
export function importedIdOf(records: Pick<RecordView, 'record'>, historyId: number): string | undefined {
  return records.record(CONFIG_COMMENT, String(historyId))?.importedId
}

/** The id at the source of the newest change in an imported version; empty: not known; undefined: not imported. */
export function importedUpTo(records: Pick<RecordView, 'record'>, historyId: number): string | undefined {
  const comment = records.record(CONFIG_COMMENT, String(historyId))
  return comment?.importedUpTo ?? comment?.importedId
}
