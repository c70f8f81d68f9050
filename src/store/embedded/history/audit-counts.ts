import type { SqliteConnection } from '../database/connection.ts'

/** How many events are counted at a time: a few milliseconds, in which no commit begins. */
const COUNTED_AT_ONCE = 20_000

const NEXT = `
  SELECT count(*), sum(result <> 'done'), max(id)
  FROM (SELECT id, result FROM audit WHERE id > ? ORDER BY id LIMIT ${COUNTED_AT_ONCE})`

/** The number of events, and of events that are not `done`. They are counted once, piece by piece. */
export class AuditCounts {
  readonly #connection: SqliteConnection
  #all = 0
  #refused = 0
  #isComplete = false
  /** Up to this id all are counted. */
  #countedTo = 0

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  get all(): number {
    return this.#all
  }

  get refused(): number {
    return this.#refused
  }

  /** Counts the next piece, unless all are counted. True once they are. */
  goOn(): boolean {
    if (this.#isComplete) return true
    const [all, refused, highest] = (this.#connection.first(NEXT, [this.#countedTo]) ?? []).map(Number)
    this.#all += all ?? 0
    this.#refused += refused ?? 0
    if ((all ?? 0) < COUNTED_AT_ONCE) this.#isComplete = true
    else this.#countedTo = highest ?? 0
    return this.#isComplete
  }

  /** Counts new or removed events. Events written during the first count have higher ids: they are counted later. */
  change(all: number, refused: number): void {
    if (!this.#isComplete) return
    this.#all += all
    this.#refused += refused
  }
}
