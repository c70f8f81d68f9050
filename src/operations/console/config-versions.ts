import { hash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { GRAY, grayHistoryKey, grayNamed } from '../../core/config/state/gray-version.ts'
import { DELETED_CONFIG, type DeletedConfig } from '../../core/config/state/deleted-config.ts'
import type { ConfigItem, ConfigKey, ConfigType } from '../../core/config/state/config-item.ts'
import type { ConfigNotes } from '../../core/config/state/config-notes.ts'
import type { HistoryEntry, HistoryRecord } from '../../core/config/state/history-record.ts'
import { publishConfig } from '../../core/config/commands/publish-config.ts'
import type { Engine, KeptReads, ReadsOf } from '../../core/engine/ports.ts'
import { Refusal } from '../../core/refusal.ts'
import type { State } from '../../core/engine/state.ts'
import { isOfGray, recordOfItem, type RecordRequest } from '../config/config-history.ts'
import { configResource, operatorOf, READ_CONFIG, WRITE_CONFIG } from '../config/configs.ts'
import type { Guard, Resource } from '../guard.ts'
import { askerOf, type Caller } from '../authorisation.ts'
import { ownCopy } from '../config/import-configs.ts'
import { foundPage } from '../name-search.ts'
import { cutPage, type PageRequest } from '../page.ts'
import { notAnEnd, restoreGray } from './restore-gray.ts'

interface VersionParts {
  readonly guard: Guard
  readonly state: Pick<State, 'config' | 'record' | 'records'>
  readonly store: ReadsOf<'history' | 'historyRecord' | 'historyAfter' | 'historyThere'>
  readonly engine: Pick<Engine, 'execute'>
}

/** A former text of an item, with its fields. */
export interface VersionText {
  readonly content: Buffer
  readonly md5: string
  readonly type: ConfigType
  readonly appName: string
  readonly encryptedDataKey: string
}

/** Which page of the versions of an item. `withGray`: the changes of its gray versions are among them. */
export interface VersionsRequest {
  readonly key: ConfigKey
  readonly page: PageRequest
  readonly withGray: boolean
}

/** A change of an item, or of a gray version of it, with the text that it left. */
export interface ConfigVersion {
  readonly entry: HistoryEntry
  readonly comment: string
  /** The text AFTER the change; undefined after a deletion, or where a gray version's is on another page. */
  readonly text: { readonly md5: string; readonly size: number; readonly type: ConfigType } | undefined
  /** Whether it is the version that clients get. */
  readonly isCurrent: boolean
}

/** A page of the versions of an item, newest first. */
export interface FoundVersions {
  readonly page: PageRequest
  readonly totalCount: number
  readonly versions: readonly ConfigVersion[]
}

/** Which version becomes the current one again. */
export interface RestoreRequest extends RecordRequest {
  /** The md5 of the current content, `''` where there is no item. */
  readonly casMd5: string
  readonly comment: string | undefined
  readonly srcUser: string | undefined
}

/** The version that a restore has made. */
export interface Restored {
  /** Undefined for a caller who may publish and not read. */
  readonly md5: string | undefined
  readonly historyId: number
}

/**
 * Makes the operations on versions. A history record keeps the text BEFORE its change. People mistake it for
 * the text of the change, and a restore would then bring back another text, or delete. So a version is a
 * change with the text AFTER it.
 */
export function versionOperations(parts: VersionParts) {
  const { guard, state } = parts
  const resources = ({ key }: { key: ConfigKey }) => [configResource(key)]
  return {
    /** A page of the versions of an item, also of one that is deleted. */
    list: guard.operation({
      permission: READ_CONFIG,
      resources,
      inPlace: true,
      run: (request: VersionsRequest, caller: Caller) =>
        listVersions({ ...parts, reads: parts.store.reads(askerOf(caller)) }, request),
    }),
    /**
     * One version with its text, also the begin or end of a gray version. A deletion has the deleted text. Refuses as
     * the read of a history record does.
     */
    read: guard.operation({
      permission: READ_CONFIG,
      resources,
      inPlace: true,
      run: async (request: RecordRequest, caller) => {
        const { record, text } = await changeOf(parts, request, caller)
        return {
          record,
          text: text ?? (await textAfterChange(parts, record, caller)),
          comment: commentOf(record),
        }
      },
    }),
    /**
     * Publishes the text of a version, also of a deletion. It never deletes. For the end of a gray version, it
     * publishes that version again with its rule. Refuses as `publish` and `read` do.
     */
    restore: guard.operation({
      permission: WRITE_CONFIG,
      audit: { operation: 'restore config' },
      resources,
      // A change is finished without its caller too: it could be half done.
      run: (request: RestoreRequest, { ip, identity }) => restore(parts, request, { ip, identity }),
    }),
    /** The deleted items of one namespace or of all that history still has, last deleted first. */
    deleted: guard.listing({
      permission: READ_CONFIG,
      scope: ({ namespaceId }: { namespaceId: string | undefined; page: PageRequest }): Resource => ({
        kind: 'some-configs',
        namespaceId,
      }),
      find: ({ namespaceId }) =>
        Array.from(state.records(DELETED_CONFIG), ([, deleted]) => deleted)
          .filter(({ key }) => namespaceId === undefined || key.namespaceId === namespaceId)
          .toSorted((a, b) => b.historyId - a.historyId),
      resource: ({ key }) => configResource(key),
      run: (allowed: readonly DeletedConfig[], { page }) => foundPage(allowed, page),
    }),
  }
}

/** A page may be read between a commit and its arrival in the state. */
const MOST_TRIES = 100

async function listVersions(
  parts: VersionParts & { readonly reads: Pick<KeptReads, 'history' | 'historyAfter'> },
  { key, withGray, ...asked }: VersionsRequest,
): Promise<FoundVersions> {
  const page = cutPage(asked.page)
  const keys = withGray ? [key, grayHistoryKey(key)] : [key]
  for (let tries = 1; ; tries++) {
    const { totalCount, entries } = await parts.reads.history(keys, page)
    const formal = entries.filter((entry) => !isOfGray(entry))
    const [first] = formal
    // The newest page has nothing newer, unless an item was published meanwhile.
    const newer =
      first === undefined || page.pageNo === 1 ? undefined : await parts.reads.historyAfter(key, first.id)
    const current = parts.state.config(key)
    if (tries < MOST_TRIES && newer === undefined && isBetween(first, current)) {
      await nextTurn()
      continue
    }
    const versions = entries.map((entry, at) =>
      isOfGray(entry)
        ? grayChangeOf(entry, textAfter({ parts, key, page }, entry, entries.slice(0, at)))
        : versionOf({ entry, newer: formal[formal.indexOf(entry) - 1] ?? newer, current }),
    )
    return { page, totalCount, versions }
  }
}

/** A gray version may have no type of its own. */
type TextFacts = Pick<HistoryEntry, 'md5' | 'size'> & { readonly type: ConfigType | undefined }

/** The facts of the text after a change of a gray version: the next record has them, or the version that is out. */
function textAfter(
  { parts, key, page }: { parts: VersionParts; key: ConfigKey; page: PageRequest },
  { op, note, ...own }: HistoryEntry,
  newer: readonly HistoryEntry[],
): TextFacts | undefined {
  if (op !== 'U') return op === 'I' ? own : undefined
  const name = note?.gray?.name ?? ''
  const next = newer.findLast((entry) => entry.note?.gray?.name === name)
  return next ?? (page.pageNo === 1 ? grayNamed(parts.state.record(GRAY, key.text), name) : undefined)
}

function grayChangeOf(entry: HistoryEntry, after: TextFacts | undefined): ConfigVersion {
  const text = after && { md5: after.md5, size: after.size, type: after.type ?? entry.type }
  return { entry, comment: commentOf(entry), text, isCurrent: false }
}

/** Whether the newest record and the item do not belong together: a commit has not arrived in the state yet. */
function isBetween(first: HistoryEntry | undefined, current: ConfigItem | undefined): boolean {
  if (first === undefined) return false
  return first.op === 'D' ? current !== undefined : current?.historyId !== first.id
}

interface Neighbours {
  readonly entry: HistoryEntry
  readonly newer: HistoryEntry | undefined
  readonly current: ConfigItem | undefined
}

function versionOf({ entry, newer, current }: Neighbours): ConfigVersion {
  const isCurrent = current?.historyId === entry.id
  const comment = commentOf(entry)
  if (entry.op === 'D') return { entry, comment, text: undefined, isCurrent }
  if (isCurrent) {
    const { md5, type, content } = textOfItem(current)
    return { entry, comment, text: { md5, type, size: content.length }, isCurrent }
  }
  // The record of an update has the version before it.
  const { md5, type, size } = entry.op === 'I' ? entry : (newer ?? entry)
  return { entry, comment, text: { md5, type, size }, isCurrent }
}

/** A record without its content: others wait for the store meanwhile, and a content may have 10 MiB. */
type Change = Omit<HistoryRecord, 'content'>

/** The change of a record. With the text of the record, unless it is an update: then the text after it is elsewhere. */
async function changeOf(
  parts: VersionParts,
  request: RecordRequest,
  caller: Caller,
): Promise<{ readonly record: Change; readonly text: HistoryRecord | undefined }> {
  const whole = await recordOfItem(parts, request, caller)
  const { content: _content, ...record } = whole
  return { record, text: record.op === 'U' ? undefined : whole }
}

/** The text after an update. */
async function textAfterChange(parts: VersionParts, record: Change, caller: Caller): Promise<VersionText> {
  if (isOfGray(record)) throw noText(record.id)
  const { key, id } = record
  const reads = parts.store.reads(askerOf(caller))
  for (let tries = 1; tries < MOST_TRIES; tries++) {
    const current = parts.state.config(key)
    if (current?.historyId === id) return textOfItem(current)
    // The record that follows has the text that the change left.
    const newer = await reads.historyAfter(key, id)
    const text = newer === undefined ? undefined : await reads.historyRecord(newer.id, key)
    if (text !== undefined) return text
    await nextTurn()
  }
  throw noText(id)
}

function noText(id: number): Refusal {
  return new Refusal('history-not-found', `The text of the version ${id} is not there any more.`)
}

function textOfItem({ content, md5, type, notes }: ConfigItem): VersionText {
  return { content, md5, type, appName: notes.appName, encryptedDataKey: notes.encryptedDataKey }
}

function commentOf({ note }: Pick<HistoryRecord, 'note'>): string {
  return note?.comment ?? ''
}

async function restore(parts: VersionParts, request: RestoreRequest, caller: Caller): Promise<Restored> {
  const { key, casMd5, comment, srcUser } = request
  const { record, text } = await changeOf(parts, request, caller)
  const shows = parts.guard.shows(caller, 'read', configResource(key))
  if (isOfGray(record)) {
    if (text === undefined) throw notAnEnd(record.id)
    const restored = await restoreGray(parts, { record: text, request }, caller)
    return { ...restored, md5: shows ? restored.md5 : undefined }
  }
  const { type, appName, encryptedDataKey, ...found } = text ?? (await textAfterChange(parts, record, caller))
  const content = ownCopy(found.content)
  const md5 = hash('md5', content, 'hex')
  const notes = { ...notesOfDeleted(parts, record), appName, encryptedDataKey }
  const operator = operatorOf(caller, srcUser)
  const command = publishConfig({ key, content, md5, type, notes, casMd5, operator, comment })
  await parts.engine.execute(command)
  return { md5: shows ? md5 : undefined, historyId: parts.state.config(key)?.historyId ?? record.id }
}

/** The notes of a deleted item. */
function notesOfDeleted({ state }: VersionParts, { key, id }: Change): Partial<ConfigNotes> {
  const deleted = state.record(DELETED_CONFIG, key.text)
  if (deleted?.historyId !== id) return {}
  const { desc, use, effect, configTags } = deleted.notes
  return { desc, use, effect, configTags }
}
