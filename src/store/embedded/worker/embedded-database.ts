import type { AuditLimit, AuditSearch, FoundEvents } from '../../../core/audit/audit-event.ts'
import type { HeldFile } from '../../local-file.ts'
import type { HistoryLimits } from '../../../core/config/state/history-limits.ts'
import { HistoryEraser } from '../history/clean-history.ts'
import { HistoryCutter } from '../history/cut-history.ts'
import { HistorySize } from '../history/history-size.ts'
import { CommitWriter } from './commit.ts'
import { AuditEvents } from '../history/audit-events.ts'
import { ConfigNames } from '../history/config-names.ts'
import type { SqliteConnection } from '../database/connection.ts'
import {
  authorsOf,
  entriesBefore,
  entryAfter,
  lastUpdateOf,
  recordBefore,
  recordById,
  recordsThere,
  skippedTo,
} from '../history/history.ts'
import { HistoryTotals } from '../history/history-totals.ts'
import { loadBatches } from './load.ts'
import type {
  CleanLimit,
  CommitBatch,
  CommitOutcome,
  CrossingEntry,
  CrossingPlace,
  CrossingRecord,
  LoadBatch,
  Methods,
  NameText,
} from '../rows/messages.ts'
import { lastStampOf, msOf, stampOfId } from '../../../core/decisions/stamps.ts'
import { ClockMark } from '../rows/clock-mark.ts'
import { readMeta, writeMeta } from '../rows/meta.ts'
import type { Values } from '../rows/table.ts'
import { AUTOCHECKPOINT, openDatabase } from './open-database.ts'

/** The store's database: all requests of the worker, synchronous, on the one connection. */
export class EmbeddedDatabase implements Methods {
  readonly #connection: SqliteConnection
  readonly #names: ConfigNames
  readonly #clock: ClockMark
  readonly #commits: CommitWriter
  readonly #cleaner: HistoryEraser
  readonly #audit: AuditEvents
  readonly #totals: HistoryTotals
  #lastRevision: number
  #isHeld = false

  /** Opens the database of a data directory; throws as `openDatabase` does. */
  constructor(directory: string, limits: HistoryLimits) {
    this.#connection = openDatabase(directory)
    this.#names = new ConfigNames(this.#connection)
    this.#clock = new ClockMark(this.#connection)
    const size = new HistorySize(this.#connection)
    const totals = new HistoryTotals(this.#connection)
    const cutter = new HistoryCutter(this.#connection, { size, totals }, limits)
    const parts = { names: this.#names, clock: this.#clock, size, totals, cutter }
    this.#totals = totals
    this.#audit = new AuditEvents(this.#connection)
    this.#commits = new CommitWriter(this.#connection, { ...parts, audit: this.#audit })
    this.#cleaner = new HistoryEraser(this.#connection, parts)
    this.#lastRevision = Math.max(lastRevisionOf(this.#connection), this.#audit.highestId)
  }

  /** No revision and no stamp that was given out before is larger, whether or not it was committed. */
  get lastRevision(): number {
    return this.#lastRevision
  }

  /** Everything but history, in batches. */
  load(): Generator<LoadBatch> {
    return loadBatches(this.#connection)
  }

  commit(batch: CommitBatch): CommitOutcome {
    this.#lastRevision = Math.max(this.#lastRevision, batch.revision)
    return this.#commits.commit(batch)
  }

  historyTotal(name: NameText): number | undefined {
    const nameId = this.#names.find(name)
    return nameId === undefined ? 0 : this.#totals.of(nameId)
  }

  historySkip(names: readonly NameText[], before: number, skipped: number): number | undefined {
    const nameIds = this.#found(names)
    return nameIds.length === 0 ? undefined : skippedTo(this.#connection, nameIds, { before, skipped })
  }

  historyEntries(names: readonly NameText[], before: number, most: number): readonly CrossingPlace[] {
    const nameIds = this.#found(names)
    if (nameIds.length === 0) return []
    const ofNames = names.map((name) => this.#names.find(name))
    return entriesBefore(this.#connection, nameIds, { before, most }).map(({ nameId, entry }) => {
      return { of: ofNames.indexOf(nameId), entry }
    })
  }

  historyRecord(id: number, expected?: NameText): CrossingRecord | undefined {
    return recordById(this.#connection, id, expected && this.#names.find(expected))
  }

  historyThere(ids: readonly number[]): readonly number[] {
    return recordsThere(this.#connection, ids)
  }

  historyBefore(name: NameText, id: number): CrossingRecord | undefined {
    const nameId = this.#names.find(name)
    return nameId === undefined ? undefined : recordBefore(this.#connection, nameId, id)
  }

  historyAfter(name: NameText, id: number): CrossingEntry | undefined {
    const nameId = this.#names.find(name)
    return nameId === undefined ? undefined : entryAfter(this.#connection, nameId, id)
  }

  authors(ids: readonly number[]): readonly (readonly [number, string | null])[] {
    return authorsOf(this.#connection, ids)
  }

  lastUpdate(name: NameText, itemId: number): CrossingRecord | undefined {
    const nameId = this.#names.find(name)
    return nameId === undefined ? undefined : lastUpdateOf(this.#connection, nameId, itemId)
  }

  cleanHistory(limit: CleanLimit): { removed: number; more: boolean } {
    return this.#cleaner.step(limit, this.#lastRevision)
  }

  saveAudit(events: readonly Values[]): void {
    this.#audit.save(events)
  }

  findAudit(search: AuditSearch, most: number): FoundEvents {
    return this.#audit.find(search, most)
  }

  cleanAudit(limit: AuditLimit): { removed: number; more: boolean } {
    return this.#audit.clean(limit)
  }

  remember(name: string, value: string): void {
    this.#clock.begin()
    try {
      this.#connection.transaction(() => {
        writeMeta(this.#connection, `server:${name}`, value)
        // A server remembers something at its start: from then on it gives out times that are later than the mark.
        this.#clock.raise(msOf(this.#lastRevision))
      })
    } catch (error) {
      this.#clock.undo()
      throw error
    }
  }

  /**
   * Overwrites a failed transaction in the log, at the same place, so that it cannot come back. Throws if that fails
   * too.
   */
  overwriteFailed(): void {
    const revision = String(this.#lastRevision)
    this.#connection.transaction(() => writeMeta(this.#connection, 'overwritten_before', revision))
  }

  recall(name: string): string | undefined {
    return readMeta(this.#connection, `server:${name}`)
  }

  /** See `LocalFile.hold`. */
  holdFile(): HeldFile {
    this.#connection.exec('PRAGMA wal_autocheckpoint = 0')
    try {
      const [busy] = this.#connection.first('PRAGMA wal_checkpoint(TRUNCATE)') ?? [1]
      if (busy !== 0) throw new Error('The log of the store could not be brought into its file')
      this.#isHeld = true
      const pages = this.#connection.number('PRAGMA page_count')
      return { revision: this.#lastRevision, bytes: pages * this.#connection.number('PRAGMA page_size') }
    } finally {
      if (!this.#isHeld) this.#connection.exec(AUTOCHECKPOINT)
    }
  }

  /** See `LocalFile.release`. */
  releaseFile(): boolean {
    const wasHeld = this.#isHeld
    this.#isHeld = false
    this.#connection.exec(AUTOCHECKPOINT)
    return wasHeld
  }

  /** The ids of the names that have one. */
  #found(names: readonly NameText[]): number[] {
    return names.map((name) => this.#names.find(name)).filter((nameId) => nameId !== undefined)
  }

  /** Brings everything into the one file and ends the connection. */
  close(): void {
    try {
      this.#clock.settle()
      this.#connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } finally {
      this.#connection.close()
    }
  }
}

/**
 * History records have the highest ids, except for audit events. Only cleaning removes records, and it writes
 * `revision_floor`. Other stamps and times are below `clock_high_ms`. So a commit writes no counter of its own.
 */
export function lastRevisionOf(connection: SqliteConnection): number {
  const highestId = connection.number('SELECT max(id) FROM config_revision')
  const floor = Number(readMeta(connection, 'revision_floor') ?? 0)
  const clockHighMs = Number(readMeta(connection, 'clock_high_ms') ?? 0)
  return Math.max(stampOfId(highestId), floor, clockHighMs === 0 ? 0 : lastStampOf(clockHighMs))
}
