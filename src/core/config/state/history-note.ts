import { object, optional, type Shape, text } from '../../records/shape.ts'
import { ownText } from '../../text/own-text.ts'
import { type GrayRule, grayRuleOf } from './gray-rule.ts'

/** How an import marks the version that it writes. */
export interface ImportMark {
  /** The id of its change at the source, or empty where the source has no record of the change. */
  readonly importedId: string
  /** The newest change there that the version certainly has, if its own change is not known. */
  readonly importedUpTo?: string | undefined
}

/** The part of a note about the gray version of a history record. */
export interface GrayNote {
  readonly name: string
  /** Its rule after the change. */
  readonly rule: GrayRule
}

/** The fields of a history record besides the version: why, by which import, of which gray version. It lasts as long as the record. */
export interface HistoryNote extends Partial<ImportMark> {
  /** Why somebody made the change; absent: nobody says. */
  readonly comment?: string | undefined
  /** Absent: the record is of the formal version. */
  readonly gray?: GrayNote | undefined
  /** The gray version that became the formal one by this change. */
  readonly promotedFrom?: string | undefined
}

/** The note of a change; undefined: there is nothing to note. */
export function historyNote(
  comment: string | undefined,
  more?: Omit<HistoryNote, 'comment'>,
): HistoryNote | undefined {
  if (comment === undefined || comment === '') return more
  return { comment: ownText(comment), ...more }
}

/** The note of a new formal version. */
export function publishNote(change: {
  readonly comment?: string | undefined
  readonly promotedFrom?: string | undefined
  readonly item: { readonly imported?: ImportMark | undefined }
}): HistoryNote | undefined {
  const { comment, promotedFrom, item } = change
  return historyNote(comment, promotedFrom === undefined ? item.imported : { ...item.imported, promotedFrom })
}

export const importMarkShape = object<ImportMark>({ importedId: text, importedUpTo: optional(text) })

/** A note as stores have it in JSON. */
export const historyNoteShape: Shape<HistoryNote> = object<HistoryNote>({
  comment: optional(text),
  gray: optional(object<GrayNote>({ name: text, rule: grayRuleOf })),
  promotedFrom: optional(text),
  importedId: optional(text),
  importedUpTo: optional(text),
})

/** The mark of the version that a change with this note has written. */
export function importMarkOf(note: HistoryNote | undefined): ImportMark | undefined {
  const { importedId, importedUpTo } = note ?? {}
  if (importedId === undefined) return undefined
  return { importedId, importedUpTo }
}

/** The newest change at the source that an imported version certainly has; empty: not known. */
export function newestImported({ importedId, importedUpTo }: ImportMark): string {
  return importedUpTo ?? importedId
}
