import { fieldsOf, textIn } from '../../records/json-fields.ts'
import { defineRecordKind, recordSaved, type RecordSaved } from '../../records/record-kind.ts'
import { ownText } from '../../text/own-text.ts'

/** Why somebody made a change. */
export interface ConfigComment {
  readonly comment: string
}

/** The comments of changes; the id of the record is that of the history record. They are cleaned with the history. */
export const CONFIG_COMMENT = defineRecordKind<ConfigComment>('config-comment', (json) => ({
  comment: textIn(fieldsOf(json), 'comment'),
}))

/** The change that keeps a comment, beside the change that it is about; none where there is no comment. */
export function commentSaved(
  comment: string | undefined,
  { historyId, stamp }: { historyId: number; stamp: number },
): RecordSaved[] {
  if (comment === undefined || comment === '') return []
  return [recordSaved(CONFIG_COMMENT, { id: String(historyId), value: { comment: ownText(comment) }, stamp })]
}
