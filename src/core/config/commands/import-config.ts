import type { Change } from '../../decisions/changes.ts'
import { type Command, type Decision, storing, synced, unchanged } from '../../decisions/decision.ts'
import { HERE_ALREADY, type ImportOutcome, keeping, TAKEN } from '../../decisions/import-outcome.ts'
import { historyIdOf, itemIdOf, type Now } from '../../decisions/stamps.ts'
import type { View } from '../../decisions/view.ts'
import { recordRemoved } from '../../records/record-kind.ts'
import { ownText, ownTextOrNull } from '../../text/own-text.ts'
import {
  type ConfigItem,
  type ConfigKey,
  type ConfigType,
  configKey,
  type Operator,
} from '../state/config-item.ts'
import { type ConfigNotes, NO_NOTES, notesWith, sameNotes } from '../state/config-notes.ts'
import { DELETED_CONFIG } from '../state/deleted-config.ts'
import { type ImportMark, newestImported } from '../state/history-note.ts'
import type { HistoryOp, HistoryRecord } from '../state/history-record.ts'
import { isFarAhead } from '../state/imported-time.ts'

/** The current version of an item elsewhere. `content` and its md5 are as for a publish. */
export interface ImportedConfig {
  readonly key: ConfigKey
  readonly content: Buffer
  readonly md5: string
  readonly type: ConfigType
  readonly notes: ConfigNotes
  /** Epoch ms; undefined: not known. */
  readonly createdMs: number | undefined
  readonly modifiedMs: number | undefined
  /** The author of this version. */
  readonly operator: Operator
}

/** How an item is imported. */
export interface ImportOptions {
  /** Whether it replaces versions that were changed here. */
  readonly overwrite: boolean
  /** The newest change of the item whose record was imported. It made the version, if the times are equal. */
  readonly change?: ChangeMark | undefined
}

/** A change elsewhere: its id there, and its time (epoch ms). */
export interface ChangeMark {
  readonly oldId: string
  readonly atMs: number
}

/** A change of an item whose new text is not known yet: the record of an update has the text before it. */
export interface PendingChange extends ChangeMark {
  readonly operator: Operator
}

/** A history record of an item elsewhere. */
export interface ImportedRecord extends PendingChange {
  readonly key: ConfigKey
  readonly op: HistoryOp
  readonly content: Buffer
  readonly md5: string
  readonly type: ConfigType
  readonly appName: string
  readonly encryptedDataKey: string
}

/** Imports the current version of an item. It makes a history record that is marked as imported. */
export function importConfig(given: ImportedConfig, options: ImportOptions): Command<ImportOutcome> {
  return storing(given.key.text, given.content.length, (view, now) => {
    const [createdMs, modifiedMs] = [notAhead(given.createdMs, now), notAhead(given.modifiedMs, now)]
    const input = { ...given, createdMs, modifiedMs }
    const current = view.config(input.key)
    const problem = options.overwrite ? undefined : whyKept(view, input, current)
    if (current !== undefined && isSame(current, input)) return unchanged(HERE_ALREADY)
    if (problem !== undefined) return keeping(problem)
    return published(view, now, versionOf(input, current, options.change))
  })
}

/** The history of an item that is not here, as an import knows it. */
export interface KnownHistory {
  /** The id of its newest record; 0: it has none. */
  newestId(): number
  /** A record will have this id, unless it is decided again. */
  added(id: number): void
}

/**
 * Imports a history record. While the item is not here, the record is added to `history` as it is. Later, the item has the
 * version that its last import has brought. A record of a later change then shows which version came next, so that version is
 * published. `since` is the change before, whose text the record has.
 */
export function importHistory(
  given: ImportedRecord,
  since?: PendingChange,
  history?: KnownHistory,
): Command<ImportOutcome> {
  return storing(given.key.text, given.content.length, (view, now) => {
    const record = { ...given, atMs: notAhead(given.atMs, now) }
    const current = view.config(record.key)
    if (current !== undefined) return nextVersion(view, now, { record, current, since })
    if (view.record(DELETED_CONFIG, record.key.text) !== undefined) return keeping(OWN_HISTORY)
    const added = recordOf(record, now)
    const afterId = history?.newestId()
    history?.added(added.id)
    return synced([{ kind: 'history-imported', record: added, afterId }], TAKEN)
  })
}

/** A time far in the future becomes now (docs/move-plan.md, "Times"). */
function notAhead<T extends number | undefined>(ms: T, { wallMs }: Now): T | number {
  return ms !== undefined && isFarAhead(ms, wallMs) ? wallMs : ms
}

/** Whether a record is newer than the newest imported one: by old id, or by time where that one has no old id. */
export function isLaterRecord({ oldId, atMs }: ChangeMark, newest: ChangeMark): boolean {
  return newest.oldId === '' ? atMs > newest.atMs : BigInt(oldId) > BigInt(newest.oldId)
}

/** Why history records of a name stay out. */
export const OWN_HISTORY = 'the item has a history of its own here'

interface LaterRecord {
  readonly record: ImportedRecord
  readonly current: ConfigItem
  readonly since: PendingChange | undefined
}

function nextVersion(view: View, now: Now, { record, current, since }: LaterRecord): Decision<ImportOutcome> {
  const { modifiedMs, imported } = current
  if (imported === undefined) return keeping(OWN_HISTORY)
  if (!isLaterRecord(record, { oldId: newestImported(imported), atMs: modifiedMs }))
    return unchanged(HERE_ALREADY)
  const isChangeKnown = imported.importedId !== ''
  if (!isChangeKnown && record.atMs <= modifiedMs) return unchanged(HERE_ALREADY)
  if (record.op !== 'U') return keeping('the item is here: that it was deleted or made again is not taken')
  // The record is made with the next version: it has the text that is replaced then.
  if (record.md5 === current.md5 && record.content.equals(current.content)) return unchanged(HERE_ALREADY)
  const { key, content, md5, type, appName, encryptedDataKey, operator } = record
  const { desc, use, effect, schema, configTags } = current.notes
  const input: ImportedConfig = {
    key,
    content,
    md5,
    type,
    notes: { desc, use, effect, schema, configTags, appName, encryptedDataKey },
    createdMs: undefined,
    modifiedMs: since?.atMs ?? record.atMs,
    operator: since?.operator ?? operator,
  }
  return published(view, now, versionOf(input, current, since))
}

interface Version {
  readonly input: ImportedConfig
  readonly current: ConfigItem | undefined
  readonly change: ChangeMark | undefined
}

function versionOf(
  input: ImportedConfig,
  current: ConfigItem | undefined,
  change: ChangeMark | undefined,
): Version {
  return { input, current, change }
}

/** Publishes with the time and the author that the version had. Undefined: of now. */
function published(view: View, now: Now, { input, current, change }: Version): Decision<ImportOutcome> {
  const { key, content, md5, type, notes, operator } = input
  const historyId = historyIdOf(now.stamp)
  const modifiedMs = Math.max(input.modifiedMs ?? now.wallMs, current?.modifiedMs ?? 0)
  const item: ConfigItem = {
    key: current?.key ?? ownKey(key),
    origin: current?.origin ?? originOf(input, now),
    historyId,
    content,
    md5,
    type,
    notes: notesWith(NO_NOTES, notes),
    modifiedMs,
    imported: markOf({ input, current, change }),
  }
  const isDeleted = view.record(DELETED_CONFIG, key.text) !== undefined
  const changes: Change[] = [
    {
      kind: 'config-published',
      op: current === undefined ? 'I' : 'U',
      item,
      previous: current,
      operator: owned(operator),
    },
    ...(isDeleted ? [recordRemoved(DELETED_CONFIG, key.text, now.stamp)] : []),
  ]
  return synced(changes, TAKEN)
}

/** The mark of a version: the change that made it, or else the newest change that it certainly includes. */
function markOf({ input, current, change }: Version): ImportMark {
  if (change === undefined) return { importedId: '' }
  const importedUpTo = ownText(change.oldId)
  // The record of a first version is the one that was imported before it.
  const isItsChange = current !== undefined && change.atMs === input.modifiedMs
  return isItsChange ? { importedId: importedUpTo } : { importedId: '', importedUpTo }
}

function originOf({ createdMs, modifiedMs, operator }: ImportedConfig, { stamp, wallMs }: Now) {
  const { user: createUser, ip: createIp } = owned(operator)
  return { id: itemIdOf(stamp), createdMs: createdMs ?? modifiedMs ?? wallMs, createUser, createIp }
}

/** Why the present version stays; undefined: there is no version, or an import wrote it. */
function whyKept(view: View, input: ImportedConfig, current: ConfigItem | undefined): string | undefined {
  if (current === undefined)
    return view.record(DELETED_CONFIG, input.key.text) === undefined ? undefined : 'the item was deleted here'
  if (current.imported === undefined) return 'the item was made or changed here since the last import'
  return (input.modifiedMs ?? Infinity) < current.modifiedMs ? 'the version here is newer' : undefined
}

function isSame(current: ConfigItem, { md5, type, notes, content }: ImportedConfig): boolean {
  return (
    current.md5 === md5 &&
    current.type === type &&
    sameNotes(current.notes, notes) &&
    current.content.equals(content)
  )
}

function recordOf({ oldId, operator, ...record }: ImportedRecord, { stamp }: Now): HistoryRecord {
  const { ip: srcIp, user: srcUser } = owned(operator)
  const note = { importedId: ownText(oldId) }
  return { ...record, key: ownKey(record.key), id: historyIdOf(stamp), srcIp, srcUser, note }
}

/** Copies: a text cut out of a request would keep the whole request in memory. */
function ownKey({ namespaceId, group, dataId }: ConfigKey): ConfigKey {
  return configKey(ownText(namespaceId), ownText(group), ownText(dataId))
}

function owned({ ip, user }: Operator): Operator {
  return { ip: ownText(ip), user: ownTextOrNull(user) }
}
