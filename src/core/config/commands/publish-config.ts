import type { Change } from '../../decisions/changes.ts'
import { type Command, synced, unchanged } from '../../decisions/decision.ts'
import { ownText, ownTextOrNull } from '../../text/own-text.ts'
import { recordRemoved, recordSaved } from '../../records/record-kind.ts'
import { historyIdOf, itemIdOf, type Now } from '../../decisions/stamps.ts'
import type { ConfigItem, ConfigKey, ConfigType, Operator } from '../state/config-item.ts'
import type { View } from '../../decisions/view.ts'
import { DAMAGED_ITEM } from '../state/damaged-item.ts'
import { DELETED_CONFIG, deletedConfigOf, deletedGrayOf } from '../state/deleted-config.ts'
import { type ConfigNotes, NO_NOTES, notesWith, sameNotes } from '../state/config-notes.ts'
import { GRAY, type GrayItem } from '../state/gray-version.ts'
import { type GrayChange, grayEnded, stampsToEnd } from './gray-records.ts'
import { Refusal } from '../../refusal.ts'

const MD5_OF_NOTHING = 'd41d8cd98f00b204e9800998ecf8427e'

/** New content for an item. `md5` is the digest of `content`; undefined fields of `notes` keep their values. */
export interface PublishConfig {
  readonly key: ConfigKey
  readonly content: Buffer
  readonly md5: string
  /** Undefined keeps the type of an item that exists, and is `typeIfNew` for a new one. */
  readonly type: ConfigType | undefined
  /** Absent: `text`. */
  readonly typeIfNew?: ConfigType | undefined
  readonly notes: Partial<ConfigNotes>
  /** Publishes only if the current md5 is this one (`''`: only if the item is not there). */
  readonly casMd5: string | undefined
  readonly operator: Operator
  /** Why; absent: nobody says. */
  readonly comment?: string | undefined
  /** The gray version whose text it is; absent: it is no promotion. */
  readonly promotedFrom?: string | undefined
}

/** Answers true. Publishing what is already there changes nothing and makes no history record. */
export function publishConfig(input: PublishConfig): Command<true> {
  return {
    subject: input.key.text,
    growsBy: input.content.length,
    surelySyncs: (view) => input.casMd5 === undefined && view.config(input.key)?.md5 !== input.md5,
    decide(view, now) {
      const previous = view.config(input.key)
      checkCas(input.casMd5, previous)
      const item = nextVersion(input, previous, now)
      if (previous !== undefined && sameVersion(previous, item)) return unchanged(true)
      const op = previous === undefined ? 'I' : 'U'
      const { operator, comment, promotedFrom } = input
      return synced(
        [
          { kind: 'config-published', op, item, previous, operator, comment, promotedFrom },
          ...(previous === undefined ? noLongerDeleted(view, item, now) : []),
        ],
        true,
      )
    },
  }
}

function noLongerDeleted(view: View, { key }: ConfigItem, { stamp }: Now): Change[] {
  const isDeleted = view.record(DELETED_CONFIG, key.text) !== undefined
  return isDeleted ? [recordRemoved(DELETED_CONFIG, key.text, stamp)] : []
}

function nextVersion(input: PublishConfig, previous: ConfigItem | undefined, now: Now): ConfigItem {
  const { operator } = input
  return {
    key: previous?.key ?? ownKey(input.key),
    origin: previous?.origin ?? {
      id: itemIdOf(now.stamp),
      createdMs: now.wallMs,
      createUser: ownTextOrNull(operator.user),
      createIp: ownText(operator.ip),
    },
    historyId: historyIdOf(now.stamp),
    content: input.content,
    md5: input.md5,
    type: input.type ?? previous?.type ?? input.typeIfNew ?? 'text',
    notes: notesWith(previous?.notes ?? NO_NOTES, input.notes),
    modifiedMs: Math.max(now.wallMs, previous?.modifiedMs ?? 0),
  }
}

/** A copy: a text cut out of a request would keep the whole request in memory. */
function ownKey({ namespaceId, group, dataId, text }: ConfigKey): ConfigKey {
  return { namespaceId: ownText(namespaceId), group: ownText(group), dataId: ownText(dataId), text }
}

function sameVersion(a: ConfigItem, b: ConfigItem): boolean {
  return a.md5 === b.md5 && a.type === b.type && sameNotes(a.notes, b.notes) && a.content.equals(b.content)
}

/**
 * How to delete. `id`: only the item with this id, and not a later one of its name. `casMd5`: only if the item is still
 * the one that it names. `comment`: why. `keepsGray`: the formal version alone goes.
 */
interface DeleteOptions {
  readonly id?: number
  readonly keepsGray?: boolean | undefined
  readonly casMd5?: string | undefined
  readonly comment?: string | undefined
}

/** An item that the store has and cannot read, with its key alone; undefined: it has none, or can read it. */
function unreadableIn(view: View, key: ConfigKey): ConfigItem | undefined {
  if (view.record(DAMAGED_ITEM, key.text) === undefined) return undefined
  const origin = { id: 0, createdMs: 0, createUser: null, createIp: '' }
  return {
    key,
    origin,
    historyId: 0,
    content: Buffer.alloc(0),
    md5: MD5_OF_NOTHING,
    type: 'text',
    notes: NO_NOTES,
    modifiedMs: 0,
  }
}

/**
 * Removes an item, with its gray versions. Answers true, also if it did not exist. Refusal `config-changed` where it is not
 * the one that is meant. See {@link DeletedConfig}.
 */
export function deleteConfig(
  key: ConfigKey,
  operator: Operator,
  { id, casMd5, comment, keepsGray = false }: DeleteOptions = {},
): Command<true> {
  return {
    subject: key.text,
    stamps: (view) => 1 + stampsToEnd(view, key),
    decide(view, { wallMs, stamp }) {
      const deleted = view.config(key) ?? unreadableIn(view, key)
      checkCas(casMd5, deleted)
      if (id !== undefined && deleted?.origin.id !== id)
        throw new Refusal('config-changed', `The item with the id ${id} is gone.`)
      const gray = keepsGray ? undefined : view.record(GRAY, key.text)
      const atMs = gray?.versions.reduce((latest, one) => Math.max(latest, one.modifiedMs), wallMs) ?? wallMs
      const change = { operator, comment, atMs, stamp: stamp + 1 }
      if (deleted === undefined)
        return gray === undefined ? unchanged(true) : synced(grayOnlyDeleted(view, gray, change), true)
      const ended = gray === undefined ? [] : grayEnded(view, gray, change)
      const deletion = { operator, atMs: Math.max(wallMs, deleted.modifiedMs), historyId: historyIdOf(stamp) }
      const value = deletedConfigOf(deleted, deletion)
      return synced(
        [
          { kind: 'config-deleted', key, deleted, ...deletion, comment },
          recordSaved(DELETED_CONFIG, { id: deleted.key.text, value, stamp }),
          ...ended,
        ],
        true,
      )
    },
  }
}

/** The end of an item that has gray versions only: the bin has it as such. The first version ends with the stamp. */
function grayOnlyDeleted(view: View, gray: GrayItem, change: GrayChange & { stamp: number }): Change[] {
  const { stamp } = change
  const historyIds = gray.versions.map((_version, index) => historyIdOf(stamp + index))
  const value = deletedGrayOf(gray, { ...change, historyIds })
  return [...grayEnded(view, gray, change), recordSaved(DELETED_CONFIG, { id: gray.key.text, value, stamp })]
}

/**
 * Throws Refusal `config-changed` if the current version is not the one that a caller knows. `casMd5` is its md5; `''`:
 * no item; undefined: any version. The refusal does not show the version: a caller who may publish may not always read.
 */
export function checkCas(casMd5: string | undefined, current: Pick<ConfigItem, 'md5'> | undefined): void {
  if (casMd5 === undefined || casMd5 === (current?.md5 ?? '')) return
  throw new Refusal('config-changed', 'The item is not the one that casMd5 names: read it again.', {
    parameter: 'casMd5',
    allowed: 'the md5 of the current content',
  })
}
