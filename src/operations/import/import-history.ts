import {
  type ChangeMark,
  type ImportedRecord,
  importHistory,
  isLaterRecord,
  type KnownHistory,
  OWN_HISTORY,
  type PendingChange,
} from '../../core/config/commands/import-config.ts'
import type { ConfigKey } from '../../core/config/state/config-item.ts'
import { type Command, unchanged } from '../../core/decisions/decision.ts'
import { HERE_ALREADY, type ImportOutcome, keeping } from '../../core/decisions/import-outcome.ts'
import type { ReadsOf } from '../../core/engine/ports.ts'
import { Refusal } from '../../core/refusal.ts'
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

/** A name that has no item. */
interface KnownName {
  /** Its newest record, with those of the part that is under way. */
  newest: NewestRecord | undefined
  /** The id of its newest record in the store; 0: there is none. */
  storedId: number
}

/** The last change of each item whose new text is not known yet, for all calls: the text may come with a later one. */
export type PendingChanges = Map<string, PendingChange>

/** The reader whose turns the reads of imports take. */
const READER = 'import'
/** Names whose newest record is read at the same time. */
const ASKED_AT_ONCE = 20
/** Items whose last change is remembered. */
const MOST_PENDING = 10_000
/** A record that is decided more often is refused for now: another server imports the history of its item. */
const MOST_DECISIONS = 6

/**
 * Imports history records; within an item in the order of their old ids. In that order they were written, whatever the
 * clocks of several servers said. A record that is not later than the newest one of its name was imported before.
 */
export class HistoryImport {
  readonly #parts: HistoryImportParts
  readonly #pending: PendingChanges
  /** The names without an item, by the texts of their keys. For one call: another server may import as well. */
  readonly #names = new Map<string, KnownName>()
  /** The change before each record of an item that is here: a record that is tried again has the same. */
  readonly #before = new Map<ImportedRecord, PendingChange | undefined>()
  /** The ids that records get in the store. */
  readonly #ids = new WeakMap<ImportedRecord, number>()

  constructor(parts: HistoryImportParts, pending: PendingChanges) {
    this.#parts = parts
    this.#pending = pending
  }

  /** Reads the names of these records again: the store has not taken them, or nobody knows. */
  async prepareAgain(records: readonly ImportedRecord[]): Promise<void> {
    for (const { key } of records) this.#names.delete(key.text)
    await this.prepare(records)
  }

  /** Reads the newest records of these names from the store. */
  async prepare(lines: readonly Pick<ImportedRecord, 'key'>[]): Promise<void> {
    const names = this.#names
    const keys = new Map(lines.map(({ key }) => [key.text, key]))
    const unknown = [...keys.values()].filter(
      (key) => !names.has(key.text) && this.#parts.state.config(key) === undefined,
    )
    for (const some of inParts(unknown, ASKED_AT_ONCE))
      await Promise.all(some.map(async (key) => void names.set(key.text, await this.#readName(key))))
  }

  /** The command that imports a record whose name was prepared. */
  commandOf(record: ImportedRecord): Command<ImportOutcome> {
    const { text } = record.key
    const { oldId, atMs, operator } = record
    const [pending, names] = [this.#pending, this.#names]
    if (this.#parts.state.config(record.key) !== undefined) {
      if (!this.#before.has(record)) this.#before.set(record, pending.get(text))
      if (pending.size >= MOST_PENDING) pending.clear()
      pending.set(text, { oldId, atMs, operator })
      return importHistory(record, this.#before.get(record))
    }
    const name = names.get(text) ?? { newest: undefined, storedId: 0 }
    const { newest } = name
    if (newest !== undefined && newest.oldId === undefined) return decided(() => keeping(OWN_HISTORY))
    if (newest?.oldId !== undefined && !isLaterRecord(record, { ...newest, oldId: newest.oldId }))
      return decided(() => unchanged(HERE_ALREADY))
    name.newest = { atMs, oldId }
    names.set(text, name)
    return importHistory(record, undefined, this.#historyFor(record, name))
  }

  /** The store has a record. */
  stored(record: ImportedRecord): void {
    const name = this.#names.get(record.key.text)
    if (name !== undefined) name.storedId = Math.max(name.storedId, this.#ids.get(record) ?? 0)
  }

  /** The store refuses a record while it has another newest one than this. */
  #historyFor(record: ImportedRecord, name: KnownName): KnownHistory {
    let decisions = 0
    return {
      newestId: () => {
        if (++decisions > MOST_DECISIONS) throw importedElsewhere()
        return name.storedId
      },
      added: (id) => void this.#ids.set(record, id),
    }
  }

  /** The newest imported change of an item, as far as it is known. */
  changeBefore({ text }: ConfigKey): ChangeMark | undefined {
    const pending = this.#pending.get(text)
    if (pending !== undefined) return pending
    const newest = this.#names.get(text)?.newest
    return newest?.oldId === undefined ? undefined : { ...newest, oldId: newest.oldId }
  }

  async #readName(key: ConfigKey): Promise<KnownName> {
    const entry = await this.#parts.store.reads(READER).historyBefore(key, Number.MAX_SAFE_INTEGER)
    if (entry === undefined) return { newest: undefined, storedId: 0 }
    return { newest: { atMs: entry.atMs, oldId: entry.note?.importedId }, storedId: entry.id }
  }
}

function decided(decide: Command<ImportOutcome>['decide']): Command<ImportOutcome> {
  return { subject: 'import', decide }
}

function importedElsewhere(): Refusal {
  const message = 'Another server imports the history of this item at the same time: try again in a moment.'
  return new Refusal('store-unavailable', message)
}
