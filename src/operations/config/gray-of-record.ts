import { type GrayNote, grayNoteOf } from '../../core/config/state/config-comment.ts'
import type { ConfigKey } from '../../core/config/state/config-item.ts'
import type { State } from '../../core/engine/state.ts'

/** The gray version that a record is about; absent: it is of the formal version. */
export interface GrayOfRecord {
  readonly gray?: GrayNote | undefined
}

/** An entry as a part of the item's history, with the gray version that it is about. */
export function ofItem<R extends { readonly id: number; readonly key: ConfigKey }>(
  state: Pick<State, 'record'>,
  key: ConfigKey,
  record: R,
): R & GrayOfRecord {
  if (record.key.text === key.text) return record
  const { namespaceId, group, dataId, text } = key
  return { ...record, key: { namespaceId, group, dataId, text }, gray: grayNoteOf(state, record.id) }
}
