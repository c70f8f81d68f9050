import type { Connection } from './connection.ts'
import { type Line, linesIn, PERSISTENT } from './instance-lines.ts'
import { RowReader } from './row-reader.ts'
import { RowWriter } from './row-writer.ts'
import { DamagedRow, type Row, TABLES } from './tables.ts'

/** A row of the table `instance`: lines that were written together. Later ones have higher numbers. */
export interface Pack {
  readonly id: number
  readonly lines: readonly Line[]
}

const READER = new RowReader(TABLES.instance)
const PACKS = `SELECT ${READER.columns.join(', ')} FROM instance`
const NEWEST_FIRST = `${PACKS} ORDER BY id DESC`
const OLDEST = `${PACKS} WHERE id < ? ORDER BY id LIMIT ?`
const ONE = `${PACKS} WHERE id = ?`
const REMOVE = 'DELETE FROM instance WHERE id <= ?'

/** The packs of the instance log in the database. Whoever reads is thrown `DamagedRow` at one that is not as it was written. */
export class InstancePacks {
  readonly #connection: Connection
  readonly #writer: RowWriter

  constructor(connection: Connection) {
    this.#connection = connection
    this.#writer = new RowWriter(connection, TABLES.instance)
  }

  /** All of them, the newest first; must be read to the end. */
  *newestFirst(): Generator<Pack> {
    for (const row of this.#connection.each(NEWEST_FIRST)) yield packOf(row)
  }

  /** The oldest ones of those below a number. */
  oldest(before: number, most: number): Pack[] {
    return this.#connection.all(OLDEST, [before, most]).map(packOf)
  }

  /** The pack of that number, which was written and not removed. */
  find(id: number): Pack {
    const row = this.#connection.first(ONE, [id])
    if (row === undefined) throw missingPacks(id - 1, id + 1)
    return packOf(row)
  }

  /** Takes a pack to write; the next `flush` at the latest writes it. */
  add(id: number, lines: Buffer): void {
    this.#writer.add([id, lines])
  }

  flush(): void {
    this.#writer.flush()
  }

  /** Forgets what was taken and not written. */
  reset(): void {
    this.#writer.reset()
  }

  /** Removes all up to that one. */
  removeUpTo(id: number): void {
    this.#connection.run(REMOVE, [id])
  }
}

function packOf(row: Row): Pack {
  const [id, lines] = READER.read(row)
  return { id: Number(id), lines: Buffer.isBuffer(lines) ? [...linesIn(lines)] : [] }
}

/** What a row costs beside its lines, in bytes: reading and removing many small ones is the more work. */
export const ROW_BYTES = 200

/** What a pack of lines takes of the log, in bytes. */
export function sizeOf(lines: readonly Line[]): number {
  return lines.reduce((bytes, { start, end }) => bytes + end - start, ROW_BYTES)
}

/** What the line of an instance that is there takes of the log, in bytes; a persistent one has a row to itself. */
export function weightOf({ start, end, kind }: Line): number {
  return end - start + (kind === PERSISTENT ? ROW_BYTES : 0)
}

/** Between two packs others are missing: they are numbered without a gap. */
export function missingPacks(below: number, above: number): DamagedRow {
  const [first, last] = [below + 1, above - 1]
  const problem = first === last ? 'it is missing' : `it is missing, and all after it up to ${last}`
  return new DamagedRow('instance', String(first), problem)
}
