import {
  type ChangeMark,
  type ImportedRecord,
  importHistory,
  isLaterRecord,
  OWN_HISTORY,
  type PendingChange,
} from '../../core/config/commands/import-config.ts'
import type { ConfigKey } from '../../core/config/state/config-item.ts'
import { type Command, unchanged } from '../../core/decisions/decision.ts'
import { HERE_ALREADY, type ImportOutcome, keeping } from '../../core/decisions/import-outcome.ts'
import type { ReadsOf } from '../../core/engine/ports.ts'
import { inParts } from '../../core/work/in-parts.ts'
import type { State } from '../../core/engine/state.ts'

/** Dependencies of the import of history records. */
export interface HistoryImportParts {
  readonly state: Pick<State, 'config' | 'record'>
  readonly store: ReadsOf<'historyBefore'>
}

/** The newest record of a name that has no item. `oldId` undefined: it was not imported. */
interface NewestRecord {
  readonly atMs: number
  readonly oldId: string | undefined
}

/** The reader whose turns the reads of imports take. */
const READER = 'import'
/** Names whose newest record is read at the same time. */
const ASKED_AT_ONCE = 20
/** Items whose last change is remembered. */
const MOST_PENDING = 10_000

/**
 * Imports history records; within an item in the order of their old ids. In that order they were written, whatever the
 * clocks of several servers said. A record that is not later than the newest one of its name was imported before.
 */
export class HistoryImport {
  readonly #parts: HistoryImportParts
  /** The newest records of names without an item. It is for one call, because another server may import as well. */
  readonly #newest = new Map<string, NewestRecord | undefined>()
  /** The change before each record of an item that is here: a record that is tried again has the same. */
  readonly #before = new Map<ImportedRecord, PendingChange | undefined>()
  /** The last change of an item whose new text is not known yet. */
  readonly #pending: Map<string, PendingChange>

  /** `pending`: of the calls before. */
  constructor(parts: HistoryImportParts, pending: Map<string, PendingChange>) {
    this.#parts = parts
    this.#pending = pending
  }

  /** Reads the names of these records again: the store has not taken them, or nobody knows. */
  async prepareAgain(records: readonly ImportedRecord[]): Promise<void> {
    for (const { key } of records) this.#newest.delete(key.text)
    await this.prepare(records)
  }

  /** Reads the newest records of these names from the store. */
  async prepare(lines: readonly Pick<ImportedRecord, 'key'>[]): Promise<void> {
    const names = new Map(lines.map(({ key }) => [key.text, key]))
    const unknown = [...names.values()].filter(
      (key) => !this.#newest.has(key.text) && this.#parts.state.config(key) === undefined,
    )
    for (const some of inParts(unknown, ASKED_AT_ONCE))
      await Promise.all(some.map(async (key) => void this.#newest.set(key.text, await this.#newestOf(key))))
  }

  /** The command that imports a record whose name was prepared. */
  commandOf(record: ImportedRecord): Command<ImportOutcome> {
    const { text } = record.key
    const { oldId, atMs, operator } = record
    if (this.#parts.state.config(record.key) !== undefined) {
      if (!this.#before.has(record)) this.#before.set(record, this.#pending.get(text))
      if (this.#pending.size >= MOST_PENDING) this.#pending.clear()
      this.#pending.set(text, { oldId, atMs, operator })
      return importHistory(record, this.#before.get(record))
    }
    const newest = this.#newest.get(text)
    if (newest !== undefined && newest.oldId === undefined) return decided(() => keeping(OWN_HISTORY))
    if (newest?.oldId !== undefined && !isLaterRecord(record, { ...newest, oldId: newest.oldId }))
      return decided(() => unchanged(HERE_ALREADY))
    this.#newest.set(text, { atMs, oldId })
    return importHistory(record)
  }

  /** The newest imported change of an item, as far as it is known. */
  changeBefore({ text }: ConfigKey): ChangeMark | undefined {
    const pending = this.#pending.get(text)
    if (pending !== undefined) return pending
    const newest = this.#newest.get(text)
    return newest?.oldId === undefined ? undefined : { ...newest, oldId: newest.oldId }
  }

  async #newestOf(key: ConfigKey): Promise<NewestRecord | undefined> {
    const entry = await this.#parts.store.reads(READER).historyBefore(key, Number.MAX_SAFE_INTEGER)
    if (entry === undefined) return undefined
    return { atMs: entry.atMs, oldId: entry.note?.importedId }
  }
}

function decided(decide: Command<ImportOutcome>['decide']): Command<ImportOutcome> {
  return { subject: 'import', decide }
}
