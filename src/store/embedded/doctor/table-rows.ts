import type { SqliteConnection, SqlValue } from '../database/connection.ts'
import { DamagedRow, RowReader } from '../rows/row-reader.ts'
import { sqliteCodeOf } from '../database/store-errors.ts'
import type { Table } from '../rows/table.ts'

/** A sound row, or something that cannot be read. */
export type Met<R> =
  | { readonly kind: 'row'; readonly rowid: number; readonly checksum: number; readonly row: R }
  | ({ readonly kind: 'broken'; readonly problem: string } & RowRange)

/** Row numbers, both included; `to` is undefined if nothing behind `from` can be read. */
export interface RowRange {
  readonly from: number
  readonly to: number | undefined
}

/** The progress of reading the rows of a table. */
interface ScanPosition {
  /** The row number that reading began behind, and how many rows were read since. */
  readonly after: number
  count: number
  /** The highest number of a sound row. */
  sound: number
  /** The number of the row that was read last. */
  latest: number
}

/** Every row that Waypost writes has a higher number. */
const BEFORE_ALL = 0
/** All row numbers are below this one. */
const FURTHEST = Number.MAX_SAFE_INTEGER
/** Behind a damaged page, row numbers are tried at distances that grow by this factor: a sound page is rarely skipped. */
const WIDER = 1.2
/** SQLite's codes for a damaged file. Other errors come from the machine. */
const DAMAGE = ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_TOOBIG', 'SQLITE_ERROR']

/** Whether an error says that the file is damaged. */
export function isDamage(error: unknown): error is Error {
  const code = sqliteCodeOf(error)
  return DAMAGE.some((prefix) => code?.startsWith(prefix))
}

/** Row numbers between two others, in order. They are dense near both ends: rows may be few and near one end. */
function numbersBetween(start: number, end: number): number[] {
  const distances: number[] = []
  for (let distance = 1; distance < (end - start) / 2; distance = Math.ceil(distance * WIDER))
    distances.push(distance)
  return [
    ...distances.map((distance) => start + distance),
    ...distances.map((distance) => end - distance).toReversed(),
  ]
}

/**
 * Reads the rows of one table of a damaged file. It scans the sound rows. When the scan fails, it looks up single rows up to
 * the damaged place, then tries higher row numbers until it finds one. So a damaged page loses only its own rows.
 */
export class TableRows<R> {
  readonly #connection: SqliteConnection
  readonly #reader: RowReader<R>
  /** All rows behind a row number. */
  readonly #scanQuery: string
  /** The nth row behind a row number, counted from 0. */
  readonly #rowQuery: string
  /** The number of that row. It is read without the row. */
  readonly #numberQuery: string

  /** Reads some row numbers from an index; undefined if the table has no such index. */
  readonly #indexQuery: string | undefined
  #known: readonly number[] | undefined

  /** `indexQuery` gives row numbers of the table, read from an index alone. */
  constructor(connection: SqliteConnection, table: Table<R>, indexQuery?: string) {
    this.#connection = connection
    this.#indexQuery = indexQuery
    this.#reader = new RowReader(table)
    const rest = `FROM ${table.name} NOT INDEXED WHERE rowid > ? ORDER BY rowid`
    const columns = ['rowid', 'checksum + 0', ...this.#reader.columns].join(', ')
    this.#scanQuery = `SELECT ${columns} ${rest}`
    this.#rowQuery = `${this.#scanQuery} LIMIT 1 OFFSET ?`
    this.#numberQuery = `SELECT rowid ${rest} LIMIT 1 OFFSET ?`
  }

  /** All rows, and the broken ranges between them. */
  *all(): Generator<Met<R>> {
    let after: number | undefined = BEFORE_ALL
    while (after !== undefined) after = yield* this.#scan(after)
  }

  /** The sound rows, from a page at which perhaps no table begins. */
  *sound(): Generator<Extract<Met<R>, { kind: 'row' }>> {
    if (this.#lookUp(this.#numberQuery, [BEFORE_ALL, 0]) instanceof Error) return
    for (const met of this.all()) if (met.kind === 'row') yield met
  }

  /** Reads on to the next damaged place, and past it. Returns the row number to continue behind; undefined at the end. */
  *#scan(after: number): Generator<Met<R>, number | undefined> {
    const position = { after, sound: after, latest: after, count: 0 }
    try {
      for (const read of this.#connection.each(this.#scanQuery, [after])) yield this.#taken(read, position)
      return undefined
    } catch (error) {
      if (!isDamage(error)) throw error
    }
    return yield* this.#step(position)
  }

  /** As `#scan`, row by row: the driver loses the rows that it has read just before an error. */
  *#step(position: ScanPosition): Generator<Met<R>, number | undefined> {
    let isPast = false
    while (true) {
      const at = [position.after, position.count]
      const read = this.#lookUp(this.#rowQuery, at)
      if (read === undefined) return undefined
      if (!(read instanceof Error)) {
        const { sound } = position
        yield this.#taken(read, position)
        if (isPast && position.sound > sound) return position.sound
        continue
      }
      isPast = true
      const number = this.#lookUp(this.#numberQuery, at)
      if (number === undefined) return undefined
      if (number instanceof Error) return yield* this.#leap(position, number)
      position.latest = Number(number[0])
      position.count++
      yield { kind: 'broken', from: position.latest, to: position.latest, problem: read.message }
    }
  }

  /** Leaves out the pages behind a place, which cannot be read. Returns as `#scan`. */
  *#leap({ sound, latest }: ScanPosition, { message }: Error): Generator<Met<R>, number | undefined> {
    const start = [latest, sound].find((number) => number >= sound && !this.#canFind(number + 1)) ?? sound
    const next = this.#canFind(start + 1) ? undefined : this.#readableFrom(start)
    const to = next === undefined ? undefined : next - 1
    yield { kind: 'broken', from: start + 1, to, problem: message }
    return to
  }

  /**
   * The lowest row number above `start`, in a damaged page, at which the table can be read again; undefined if nothing can be
   * read there. Each number found becomes the end of the search for a lower number.
   */
  #readableFrom(start: number): number | undefined {
    let end = FURTHEST
    for (let lower = this.#lower(start, end); lower !== undefined; lower = this.#lower(start, end))
      end = lower
    const isLast = end === FURTHEST || this.#lookUp(this.#numberQuery, [end - 1, 0]) === undefined
    return isLast ? undefined : end
  }

  /** A lower row number than `end` at which the table can be read again. */
  #lower(start: number, end: number): number | undefined {
    let bad = start
    const inIndex = this.#numbersInIndex().filter((number) => number > start && number < end)
    const probes = [...numbersBetween(start, end), ...inIndex].sort((a, b) => a - b)
    for (const probe of probes) {
      if (this.#canFind(probe, end)) return this.#boundary(bad, probe)
      bad = probe
    }
    return undefined
  }

  #numbersInIndex(): readonly number[] {
    if (this.#known !== undefined || this.#indexQuery === undefined) return this.#known ?? []
    const known: number[] = []
    try {
      for (const [number] of this.#connection.each(this.#indexQuery)) known.push(Number(number))
    } catch (error) {
      if (!isDamage(error)) throw error
    }
    return (this.#known = known)
  }

  /** The end of the damaged place that begins at `bad`, below the readable row number `good`. */
  #boundary(bad: number, good: number): number {
    let [low, high] = [bad, good]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (this.#canFind(middle)) high = middle
      else low = middle
    }
    return high
  }

  /**
   * Whether a search from `rowid` finds a row below `end`; without an end, finding no row also counts. A damaged page may lead
   * a search back to lower rows, which do not count.
   */
  #canFind(rowid: number, end = FURTHEST): boolean {
    const found = this.#lookUp(this.#numberQuery, [rowid - 1, 0])
    if (found instanceof Error) return false
    if (found === undefined) return end === FURTHEST
    return Number(found[0]) >= rowid && Number(found[0]) < end
  }

  #lookUp(query: string, values: readonly number[]): SqlValue[] | undefined | Error {
    try {
      return this.#connection.first(query, values)
    } catch (error) {
      if (isDamage(error)) return error
      throw error
    }
  }

  /** A row, checked. The number of a damaged row may be wrong, so reading does not continue from it. */
  #taken(read: readonly SqlValue[], position: ScanPosition): Met<R> {
    const rowid = Number(read[0])
    position.latest = rowid
    position.count++
    try {
      const row = this.#reader.read(read, 2)
      position.sound = Math.max(position.sound, rowid)
      return { kind: 'row', rowid, checksum: Number(read[1]), row }
    } catch (error) {
      if (!(error instanceof DamagedRow)) throw error
      return { kind: 'broken', from: rowid, to: rowid, problem: 'its checksum does not fit its contents' }
    }
  }
}
