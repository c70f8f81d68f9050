import type { SqliteConnection } from '../database/connection.ts'
import { readMeta, writeMeta } from './meta.ts'

/** How far ahead of the times given out the mark is written. */
const STEP_MS = 60_000
/**
 * A mark with less than this ahead is written again. A service that changes more than once in a millisecond is ahead of the
 * clock: this covers 30,000 changes of one service between two commits.
 */
const LEAST_AHEAD_MS = 30_000
/** How far ahead it stays when the store is closed, for times that are in no commit. */
const AHEAD_WHEN_CLOSED_MS = 1_000

/**
 * A time on disk (`clock_high_ms` of the table `meta`) that is later than every time given out (decision 0017). It is
 * written ahead, in the transactions of commits: twice a minute, with any number of commits.
 */
export class ClockMark {
  readonly #connection: SqliteConnection
  #markMs: number
  #markBeforeMs: number
  #latestMs: number

  constructor(connection: SqliteConnection) {
    this.#connection = connection
    this.#markMs = Number(readMeta(connection, 'clock_high_ms') ?? 0)
    this.#markBeforeMs = this.#markMs
    this.#latestMs = this.#markMs
  }

  /** A transaction begins; if it fails, call `undo`. */
  begin(): void {
    this.#markBeforeMs = this.#markMs
  }

  /** Times up to `latestMs` were given out. */
  raise(latestMs: number): void {
    this.#latestMs = Math.max(this.#latestMs, latestMs)
    if (this.#latestMs + LEAST_AHEAD_MS > this.#markMs) this.#write(this.#latestMs + STEP_MS)
  }

  /** The transaction failed: its mark is not on disk. */
  undo(): void {
    this.#markMs = this.#markBeforeMs
  }

  /** Nothing is given out any more: the next start need not begin far ahead of the clock. */
  settle(): void {
    const settledMs = this.#latestMs + AHEAD_WHEN_CLOSED_MS
    if (settledMs < this.#markMs) this.#connection.transaction(() => this.#write(settledMs))
  }

  #write(markMs: number): void {
    this.#markMs = markMs
    writeMeta(this.#connection, 'clock_high_ms', String(markMs))
  }
}
