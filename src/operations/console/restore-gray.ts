import { hash } from 'node:crypto'
import { publishGray } from '../../core/config/commands/publish-gray.ts'
import { DELETED_CONFIG } from '../../core/config/state/deleted-config.ts'
import type { GrayNote } from '../../core/config/state/history-note.ts'
import type { ConfigKey } from '../../core/config/state/config-item.ts'
import { GRAY, grayNamed } from '../../core/config/state/gray-version.ts'
import type { HistoryRecord } from '../../core/config/state/history-record.ts'
import type { Engine, ReadsOf } from '../../core/engine/ports.ts'
import type { State } from '../../core/engine/state.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Caller } from '../authorisation.ts'
import { turnOf } from '../../core/access/turn-of.ts'
import { operatorOf } from '../config/configs.ts'
import { ownCopy } from '../config/import-configs.ts'

/** Dependencies of {@link restoreGray}. */
export interface RestoreGrayParts {
  readonly state: Pick<State, 'record'>
  readonly store: ReadsOf<'historyRecord' | 'historyThere'>
  readonly engine: Pick<Engine, 'execute'>
}

/** The item whose gray version is restored, and by whom. `casMd5` is compared with each version that is written. */
interface RestoreGrayRequest {
  readonly key: ConfigKey
  readonly casMd5: string
  readonly comment: string | undefined
  readonly srcUser: string | undefined
}

/** A gray version that has ended, with its text. */
interface EndedGray {
  readonly record: HistoryRecord
  readonly note: GrayNote
}

/**
 * Publishes an ended gray version again, with its rule. Was an item without a formal version deleted, then all its gray
 * versions come back, each with its own commit. Resolves with the md5 and the new release id of the first. Refusals
 * `history-not-found`, and the refusals of `publishGray`.
 */
export async function restoreGray(
  parts: RestoreGrayParts,
  { record, request }: { record: HistoryRecord; request: RestoreGrayRequest },
  caller: Caller,
): Promise<{ readonly md5: string; readonly historyId: number }> {
  const first = endedOf(record)
  const others = othersOf(parts, record, request.key)
  const there = new Set(
    others.length === 0 ? [] : await parts.store.reads(turnOf(caller)).historyThere(others),
  )
  for (const id of others) if (!there.has(id)) throw notThere(id)
  await publish(parts, { ended: first, request }, caller)
  // One text at a time: they may be large.
  for (const id of others) {
    const ended = await endedAt(parts, { id, key: request.key }, caller)
    await publish(parts, { ended, request }, caller)
  }
  const version = grayNamed(parts.state.record(GRAY, request.key.text), first.note.name)
  return { md5: record.md5, historyId: version?.id ?? record.id }
}

/** If `record` is the first of the versions that ended with the item: the record ids of the others. */
function othersOf({ state }: RestoreGrayParts, record: HistoryRecord, key: ConfigKey): number[] {
  const deleted = state.record(DELETED_CONFIG, key.text)
  if (deleted?.historyId !== record.id) return []
  return deleted.gray?.slice(1).map(({ historyId }) => historyId) ?? []
}

async function endedAt(
  parts: RestoreGrayParts,
  { id, key }: { id: number; key: ConfigKey },
  caller: Caller,
): Promise<EndedGray> {
  const record = await parts.store.reads(turnOf(caller)).historyRecord(id, key)
  if (record === undefined) throw notThere(id)
  return endedOf(record)
}

function notThere(id: number): Refusal {
  return new Refusal('history-not-found', `There is no history record ${id}.`)
}

function endedOf(record: HistoryRecord): EndedGray {
  const note = record.note?.gray
  if (note !== undefined && record.op === 'D') return { record, note }
  throw notAnEnd(record.id)
}

/** A Refusal `history-not-found`. */
export function notAnEnd(id: number): Refusal {
  return new Refusal('history-not-found', `The record ${id} is not the end of a gray version.`)
}

function publish(
  { engine }: RestoreGrayParts,
  { ended, request }: { ended: EndedGray; request: RestoreGrayRequest },
  caller: Caller,
): true | Promise<true> {
  const { type, encryptedDataKey, ...record } = ended.record
  const { name, rule } = ended.note
  const { key, casMd5, comment, srcUser } = request
  const content = ownCopy(record.content)
  const md5 = hash('md5', content, 'hex')
  const operator = operatorOf(caller, srcUser)
  const input = { key, name, rule, content, md5, type, encryptedDataKey, casMd5, operator, comment }
  return engine.execute(publishGray(input))
}
