import type { SqliteConnection, SqlValue } from '../database/connection.ts'
import { DamagedRow } from '../rows/checked-row.ts'
import { RowReader } from '../rows/row-reader.ts'
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

/** How far the rows of a table have been read. */
interface Place {
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
/** What SQLite says of a damaged file. Other errors are of the machine. */
const DAMAGE = ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_TOOBIG', 'SQLITE_ERROR']

/** Whether an error says that the file is damaged. */
export function isDamage(error: unknown): error is Error {
  const code = sqliteCodeOf(error)
  return DAMAGE.some((prefix) => code?.startsWith(prefix))
}

/** Row numbers between two, in order: close together near both, because rows may be few and far from one of them. */
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
 * Reads the rows of one table of a damaged file. A scan reads what is sound. Where it fails, rows are looked up one by one
 * up to the damaged place. Behind it, higher row numbers are tried until one is found. So a damaged page of rows costs its
 * own rows.
 */
export class TableRows<R> {
  readonly #connection: SqliteConnection
  readonly #reader: RowReader<R>
  /** All rows behind a row number. */
  readonly #scanQuery: string
  /** One of them, counted from 0. */
  readonly #rowQuery: string
  /** The number of that row. It is read without the row. */
  readonly #numberQuery: string

  /** Reads some row numbers from an index; undefined if the table has none for that. */
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

  /** All rows, and what is broken between them. */
  *all(): Generator<Met<R>> {
    let after: number | undefined = BEFORE_ALL
    while (after !== undefined) after = yield* this.#scan(after)
  }

  /** The sound rows, of a place where no table may begin. */
  *sound(): Generator<Extract<Met<R>, { kind: 'row' }>> {
    if (this.#lookUp(this.#numberQuery, [BEFORE_ALL, 0]) instanceof Error) return
    for (const met of this.all()) if (met.kind === 'row') yield met
  }

  /** Reads on to the next damaged place, and past it. Returns the row number to continue behind; undefined at the end. */
  *#scan(after: number): Generator<Met<R>, number | undefined> {
    const place = { after, sound: after, latest: after, count: 0 }
    try {
      for (const read of this.#connection.each(this.#scanQuery, [after])) yield this.#taken(read, place)
      return undefined
    } catch (error) {
      if (!isDamage(error)) throw error
    }
    return yield* this.#step(place)
  }

  /** As `#scan`, row by row: the driver loses the rows that it has read just before an error. */
  *#step(place: Place): Generator<Met<R>, number | undefined> {
    let isPast = false
    while (true) {
      const at = [place.after, place.count]
      const read = this.#lookUp(this.#rowQuery, at)
      if (read === undefined) return undefined
      if (!(read instanceof Error)) {
        const { sound } = place
        yield this.#taken(read, place)
        if (isPast && place.sound > sound) return place.sound
        continue
      }
      isPast = true
      const number = this.#lookUp(this.#numberQuery, at)
      if (number === undefined) return undefined
      if (number instanceof Error) return yield* this.#leap(place, number)
      place.latest = Number(number[0])
      place.count++
      yield { kind: 'broken', from: place.latest, to: place.latest, problem: read.message }
    }
  }

  /** Leaves out the pages behind a place, which cannot be read. Returns as `#scan`. */
  *#leap({ sound, latest }: Place, { message }: Error): Generator<Met<R>, number | undefined> {
    const start = [latest, sound].find((number) => number >= sound && !this.#canFind(number + 1)) ?? sound
    const next = this.#canFind(start + 1) ? undefined : this.#readableFrom(start)
    const to = next === undefined ? undefined : next - 1
    yield { kind: 'broken', from: start + 1, to, problem: message }
    return to
  }

  /**
   * The lowest row number above one in a damaged page at which the table can be read again; undefined if nothing is behind
   * that place. A place that is found is an end to look for a lower one before.
   */
  #readableFrom(start: number): number | undefined {
    let end = FURTHEST
    for (let lower = this.#lower(start, end); lower !== undefined; lower = this.#lower(start, end))
      end = lower
    const isLast = end === FURTHEST || this.#lookUp(this.#numberQuery, [end - 1, 0]) === undefined
    return isLast ? undefined : end
  }

  /** A lower place than `end` at which the table can be read again. */
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

  /** Where the damaged place ends that begins at `bad`, between that and a row number that can be found. */
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
   * Whether a search from a row number on finds a row below `end`, or without an end, that there is none. A damaged page may
   * lead a search back.
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

  /** A row, checked. The number of a damaged row can be anything: it is no place to continue at. */
  #taken(read: readonly SqlValue[], place: Place): Met<R> {
    const rowid = Number(read[0])
    place.latest = rowid
    place.count++
    try {
      const row = this.#reader.read(read, 2)
      place.sound = Math.max(place.sound, rowid)
      return { kind: 'row', rowid, checksum: Number(read[1]), row }
    } catch (error) {
      if (!(error instanceof DamagedRow)) throw error
      return { kind: 'broken', from: rowid, to: rowid, problem: 'its checksum does not fit its contents' }
    }
  }
}
