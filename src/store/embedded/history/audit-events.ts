import type { AuditLimit, AuditSearch, FoundEvents } from '../../../core/audit/audit-event.ts'
import { firstStampOf } from '../../../core/decisions/stamps.ts'
import { AuditCounts } from './audit-counts.ts'
import type { SqliteConnection, SqlValue } from '../database/connection.ts'
import { RowReader } from '../rows/row-reader.ts'
import { RowWriter } from '../rows/row-writer.ts'
import type { Values } from '../rows/table.ts'
import { TABLES } from '../rows/tables.ts'

/** How many events one search looks at: a few milliseconds, in which no commit begins. */
const LOOKED_AT = 1_000

const EVENTS = new RowReader(TABLES.audit)

/** The conditions of a search, each with the field that gives its value. */
const CONDITIONS: readonly (readonly [field: keyof AuditSearch, condition: string])[] = [
  ['username', 'username = ?'],
  ['operation', 'operation = ?'],
  ['itemPart', 'instr(item, ?) > 0'],
  ['ip', 'ip = ?'],
  ['result', 'result = ?'],
  ['fromMs', 'at_ms >= ?'],
  ['toMs', 'at_ms <= ?'],
]

const OLDEST = 'SELECT id, CAST(at_ms AS INTEGER) FROM audit ORDER BY id LIMIT ?'
const OLDEST_REFUSED = `
  SELECT id FROM audit INDEXED BY audit_refused WHERE result <> 'done' ORDER BY id LIMIT ?`
const SOME = 'id IN (SELECT value FROM json_each(?))'

/** The events of the audit in the database. */
export class AuditEvents {
  readonly #connection: SqliteConnection
  readonly #writer: RowWriter
  #counts: AuditCounts

  constructor(connection: SqliteConnection) {
    this.#connection = connection
    this.#writer = new RowWriter(connection, TABLES.audit)
    this.#counts = new AuditCounts(connection)
  }

  /** The highest id; 0 without events. */
  get highestId(): number {
    return this.#connection.number('SELECT max(id) FROM audit')
  }

  /** See the port. */
  save(rows: readonly Values[]): void {
    this.#unsynced(() => this.write(rows))
  }

  /** Writes rows. The transaction is the caller's: it calls `reset` if that is taken back. */
  write(rows: readonly Values[]): void {
    const highest = this.highestId
    for (const row of rows) this.#writer.add(row)
    this.#writer.flush()
    const added = rows.filter((row) => TABLES.audit.field(row, 'id') > highest)
    const refused = added.filter((row) => TABLES.audit.field(row, 'result') !== 'done')
    this.#counts.change(added.length, refused.length)
  }

  /** A transaction with rows was taken back. */
  reset(): void {
    this.#writer.reset()
    this.#counts = new AuditCounts(this.#connection)
  }

  /** See the port. */
  find(search: AuditSearch, most: number): FoundEvents {
    const { before = Number.MAX_SAFE_INTEGER, fromMs = 0 } = search
    // A stamp is not before the time at which it was given out.
    const floor = firstStampOf(fromMs)
    const lowest = Math.max(floor, this.#lowestLookedAt(before))
    const used = CONDITIONS.filter(([field]) => search[field] !== undefined)
    const where = ['id < ?', 'id >= ?', ...used.map(([, condition]) => condition)].join(' AND ')
    const sql = `SELECT ${EVENTS.columns.join(', ')} FROM audit WHERE ${where} ORDER BY id DESC LIMIT ?`
    const values: SqlValue[] = used.map(([field]) => search[field] ?? null)
    const rows = this.#connection.all(sql, [before, lowest, ...values, most])
    const events = rows.map((row) => EVENTS.read(row))
    const reached = events.length < most ? lowest : (events.at(-1)?.id ?? lowest)
    return { events, goOn: this.#isAnyBetween(floor, reached) ? reached : undefined }
  }

  /** See the port. The newest event always stays: new ids are above its id. */
  clean(limit: AuditLimit): { removed: number; more: boolean } {
    if (!this.#counts.goOn()) return { removed: 0, more: true }
    const due = this.#idsDue(limit)
    // The next step finds out whether there are more.
    if (due.length === 0) return { removed: 0, more: false }
    const ids = [JSON.stringify(due)]
    const refused = this.#connection.number(
      `SELECT count(*) FROM audit WHERE ${SOME} AND result <> 'done'`,
      ids,
    )
    this.#unsynced(() => this.#connection.run(`DELETE FROM audit WHERE ${SOME}`, ids))
    this.#counts.change(-due.length, -refused)
    return { removed: due.length, more: true }
  }

  /** Refusals go first: then fewer of the others are beyond the limit. */
  #idsDue({ beforeMs, keep, keepRefused, most }: AuditLimit): number[] {
    const refusedBeyond = Math.min(most, this.#counts.refused - keepRefused)
    const refused = refusedBeyond > 0 ? this.#connection.all(OLDEST_REFUSED, [refusedBeyond]) : []
    const beyond = this.#counts.all - keep
    const oldest = this.#connection
      .all(OLDEST, [most])
      .filter(([, atMs], index) => index < beyond || Number(atMs) < beforeMs)
    const { highestId } = this
    const idsOf = (rows: SqlValue[][]) => rows.map(([id]) => Number(id)).filter((id) => id !== highestId)
    const first = idsOf(refused)
    return first.length > 0 ? first : idsOf(oldest)
  }

  /** The lowest id among the events that one search examines. */
  #lowestLookedAt(before: number): number {
    const nextOnes = 'SELECT id FROM audit WHERE id < ? ORDER BY id DESC LIMIT ?'
    return this.#connection.number(`SELECT min(id) FROM (${nextOnes})`, [before, LOOKED_AT])
  }

  #isAnyBetween(floor: number, reached: number): boolean {
    const any = 'SELECT 1 FROM audit WHERE id >= ? AND id < ? LIMIT 1'
    return this.#connection.first(any, [floor, reached]) !== undefined
  }

  /** A transaction that does not wait for the disk: the next commit or checkpoint syncs the log (decision 0032). */
  #unsynced(work: () => void): void {
    this.#connection.exec('PRAGMA synchronous = NORMAL')
    try {
      this.#connection.transaction(work)
    } catch (error) {
      this.reset()
      throw error
    } finally {
      this.#connection.exec('PRAGMA synchronous = FULL')
    }
  }
}
