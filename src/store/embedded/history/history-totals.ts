import type { SqliteConnection } from '../database/connection.ts'

/** How many records are counted at a time: about a millisecond, in which no commit begins. */
const COUNTED_AT_ONCE = 20_000
/** How many names are remembered. */
const MOST_REMEMBERED = 50_000

const NEXT = `
  SELECT count(*), max(id) FROM (
    SELECT id FROM config_revision WHERE name_id = ? AND hidden = 0 AND id > ? ORDER BY id LIMIT ${COUNTED_AT_ONCE}
  )`

/** The records of a name that are counted. */
interface Counted {
  records: number
  /** Records up to this id are counted; undefined: all are. */
  to: number | undefined
}

/**
 * How many records history has of each name. A name is counted once after a start, piece by piece, and follows every commit
 * and cleaning from then on. So a file needs no counts, and a count cannot differ from the rows of a file.
 */
export class HistoryTotals {
  readonly #connection: SqliteConnection
  readonly #counted = new Map<number, Counted>()

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  /** The number of records of a name. Undefined: a call counts one piece, so call again. */
  of(nameId: number): number | undefined {
    const counted = this.#remembered(nameId)
    if (counted.to !== undefined) {
      const [records, last] = (this.#connection.first(NEXT, [nameId, counted.to]) ?? []).map(Number)
      counted.records += records ?? 0
      counted.to = (records ?? 0) < COUNTED_AT_ONCE ? undefined : last
    }
    return counted.to === undefined ? counted.records : undefined
  }

  /** The record `id` of a name was added. Records that are counted later are counted then. */
  added(nameId: number, id: number): void {
    const counted = this.#counted.get(nameId)
    if (counted !== undefined && id <= (counted.to ?? Infinity)) counted.records++
  }

  /** These oldest records of a name were removed. */
  removed(nameId: number, records: number): void {
    const counted = this.#counted.get(nameId)
    if (counted !== undefined) counted.records = Math.max(0, counted.records - records)
  }

  /** Counts again: a transaction was taken back. */
  reset(): void {
    this.#counted.clear()
  }

  #remembered(nameId: number): Counted {
    const known = this.#counted.get(nameId)
    if (known !== undefined) return known
    if (this.#counted.size >= MOST_REMEMBERED) this.#counted.clear()
    const counted = { records: 0, to: 0 }
    this.#counted.set(nameId, counted)
    return counted
  }
}
