import type { ConfigDeleted, ConfigPublished, HistoryImported } from '../../../core/decisions/changes.ts'
import { type ConfigItem, configKey, type ConfigType } from '../../../core/config/state/config-item.ts'
import { NO_NOTES, notesWith } from '../../../core/config/state/config-notes.ts'
import {
  type HistoryNote,
  historyNote,
  historyNoteShape,
  importMarkOf,
  publishNote,
} from '../../../core/config/state/history-note.ts'
import type { ItemRow, NameRow, RevisionRow } from './tables.ts'

/** The rows of an item and its current version. */
export interface ItemRows {
  readonly name: NameRow
  readonly item: ItemRow
  readonly revision: RevisionRow
}

/** In rows of changes: the worker finds the number of the name. */
const UNKNOWN_NAME = 0

/** The version that a change writes, without its content. */
export function publishedRow(change: ConfigPublished): RevisionRow {
  const { op, item, previous, operator } = change
  return {
    id: item.historyId,
    nameId: UNKNOWN_NAME,
    itemId: item.origin.id,
    op,
    prevId: previous?.historyId ?? null,
    md5: item.md5,
    type: item.type,
    appName: item.notes.appName,
    encryptedDataKey: item.notes.encryptedDataKey,
    srcIp: operator.ip,
    srcUser: operator.user,
    atMs: item.modifiedMs,
    note: noteText(publishNote(change)),
    hidden: false,
    content: null,
  }
}

/** The record of a deletion. */
export function deletedRow({ deleted, historyId, operator, atMs, comment }: ConfigDeleted): RevisionRow {
  return {
    id: historyId,
    nameId: UNKNOWN_NAME,
    itemId: deleted.origin.id,
    op: 'D',
    prevId: deleted.historyId,
    md5: null,
    type: null,
    appName: null,
    encryptedDataKey: null,
    srcIp: operator.ip,
    srcUser: operator.user,
    atMs,
    note: noteText(historyNote(comment)),
    hidden: false,
    content: null,
  }
}

/** The item id of a record that was imported without an item of its name: no other row has it. */
export const NO_ITEM = 0

/** An imported record, without its content. It answers its own content, not the content of the revision before it. */
export function importedRow({ record }: HistoryImported): RevisionRow {
  const { id, op, md5, type, appName, encryptedDataKey, srcIp, srcUser, atMs, note } = record
  return {
    id,
    nameId: UNKNOWN_NAME,
    itemId: NO_ITEM,
    op,
    prevId: id,
    md5,
    type,
    appName,
    encryptedDataKey,
    srcIp,
    srcUser,
    atMs,
    note: noteText(note),
    hidden: false,
    content: null,
  }
}

/** The fields of an item that do not belong to a version, and the version that they were written with. */
export function itemRow({ origin, historyId, notes }: ConfigItem): ItemRow {
  const { desc, use, effect, schema, configTags } = notes
  return {
    nameId: UNKNOWN_NAME,
    ...origin,
    revisionId: historyId,
    desc,
    use,
    effect,
    schema,
    configTags,
  }
}

/** Whether the row of an item need not change for a new version. Compares all fields of `itemRow`. */
export function hasSameRow(item: ConfigItem, previous: ConfigItem): boolean {
  if (item.origin !== previous.origin) return false
  const [its, before] = [item.notes, previous.notes]
  return (
    its.desc === before.desc &&
    its.use === before.use &&
    its.effect === before.effect &&
    its.schema === before.schema &&
    its.configTags === before.configTags
  )
}

/** An item, from its rows and its content. */
export function configItemOf({ name, item, revision }: ItemRows, content: Buffer): ConfigItem {
  const { id, createdMs, createUser, createIp, desc, use, effect, schema, configTags } = item
  const { appName, encryptedDataKey } = revision
  const notes = { desc, use, effect, schema, configTags }
  return {
    key: configKey(name.namespaceId, name.group, name.dataId),
    origin: { id, createdMs, createUser, createIp },
    historyId: revision.id,
    content,
    md5: String(revision.md5),
    type: revision.type as ConfigType,
    notes: notesWith(NO_NOTES, {
      ...notes,
      appName: appName ?? '',
      encryptedDataKey: encryptedDataKey ?? '',
    }),
    modifiedMs: revision.atMs,
    imported: importMarkOf(noteOfText(revision.note)),
  }
}

/** The column of a note. */
export function noteText(note: HistoryNote | undefined): string | null {
  return note === undefined ? null : JSON.stringify(note)
}

/** The note of its column. */
export function noteOfText(text: string | null): HistoryNote | undefined {
  return text === null ? undefined : historyNoteShape(JSON.parse(text))
}
