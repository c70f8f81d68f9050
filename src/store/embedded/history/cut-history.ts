import type { HistoryLimits } from '../../../core/config/state/history-limits.ts'
import type { SqliteConnection } from '../database/connection.ts'
import { eraseRecords, itemRevision } from './erase-records.ts'
import type { HistorySize } from './history-size.ts'
import type { HistoryTotals } from './history-totals.ts'

/** How many records one transaction removes: after a limit was lowered, later transactions remove the rest. */
const MOST_RECORDS = 500
const MOST_BYTES = 256 * 1024 * 1024
/** How many revisions one transaction looks at in search of the oldest. */
const LOOKED_AT = 2_000
const AT_ONCE = 100
/** How many late records are remembered. */
const MOST_LATE = 10_000

const OLDEST_OF_NAME = 'SELECT id FROM config_revision WHERE name_id = ? AND hidden = 0 ORDER BY id LIMIT 2'
const OLDEST = `
  SELECT id, name_id FROM config_revision WHERE id > ? AND hidden = 0 ORDER BY id LIMIT ${AT_ONCE}`
const NEWEST_OF_NAME = `
  SELECT id FROM config_revision WHERE name_id = ? AND hidden = 0 ORDER BY id DESC LIMIT 1`
const SHOWN = 'SELECT 1 FROM config_revision WHERE id = ? AND hidden = 0'

/** The number of records that one transaction has removed, and the total bytes below which it does not go. */
interface CutProgress {
  removed: number
  readonly leastTotal: number
}

/** A record and its item. */
interface Oldest {
  readonly id: number
  readonly nameId: number
}

/**
 * Keeps history within its bytes: removes the oldest records in the transaction of a commit. The newest record of an item
 * stays; the newest record of a deleted item is removed too if all items together take too much.
 */
export class HistoryCutter {
  readonly #connection: SqliteConnection
  readonly #size: HistorySize
  readonly #totals: HistoryTotals
  readonly #limits: HistoryLimits
  /** Older records were looked at: they were the newest of their items. */
  #lookedTo = 0
  /** Older records which are not the newest of their items any more. */
  #late: Oldest[] = []

  constructor(
    connection: SqliteConnection,
    { size, totals }: { size: HistorySize; totals: HistoryTotals },
    limits: HistoryLimits,
  ) {
    this.#connection = connection
    this.#size = size
    this.#totals = totals
    this.#limits = limits
  }

  /** Whether all items together take more than they may. */
  get isOver(): boolean {
    return this.#size.total > this.#limits.maxBytes
  }

  /** Begins from the oldest record again: a transaction was taken back. */
  reset(): void {
    this.#lookedTo = 0
    this.#late = []
  }

  /** A record `id` of an item is not its newest any more. */
  noteOlder(nameId: number, id: number): void {
    if (id > this.#lookedTo) return
    this.#late.push({ nameId, id })
    if (this.#late.length > MOST_LATE) this.reset()
  }

  /** Cuts the history of these items, and then of all. Returns how many records were removed. */
  cut(nameIds: Iterable<number> = []): number {
    const progress: CutProgress = { removed: 0, leastTotal: this.#size.total - MOST_BYTES }
    for (const nameId of nameIds) this.#cutItem(nameId, progress)
    this.#cutAll(progress)
    return progress.removed
  }

  #cutItem(nameId: number, progress: CutProgress): void {
    const { maxBytesOfItem } = this.#limits
    if (maxBytesOfItem === Infinity) return
    while (this.#mayGoOn(progress) && this.#size.of(nameId) > maxBytesOfItem) {
      const [oldest, next] = this.#connection.all(OLDEST_OF_NAME, [nameId])
      if (oldest === undefined || next === undefined) return
      this.#erase({ nameId, id: Number(oldest[0]) }, progress)
    }
  }

  #cutAll(progress: CutProgress): void {
    for (let looked = 0; looked < LOOKED_AT;) {
      if (!this.isOver || !this.#mayGoOn(progress)) return
      const some = this.#oldest()
      if (some.length === 0) return
      looked += some.length
      for (const record of some) {
        if (!this.isOver || !this.#mayGoOn(progress)) return
        this.#lookedTo = Math.max(this.#lookedTo, record.id)
        if (this.#mayGo(record)) this.#erase(record, progress)
      }
    }
  }

  #mayGoOn({ removed, leastTotal }: CutProgress): boolean {
    return removed < MOST_RECORDS && this.#size.total > leastTotal
  }

  /** The next records to look at. Late ones are older than all others. */
  #oldest(): Oldest[] {
    if (this.#late.length > 0) return this.#late.splice(0, 1)
    const rows = this.#connection.all(OLDEST, [this.#lookedTo])
    return rows.map(([id, nameId]) => ({ id: Number(id), nameId: Number(nameId) }))
  }

  #mayGo({ id, nameId }: Oldest): boolean {
    if (this.#connection.first(SHOWN, [id]) === undefined) return false
    if (itemRevision(this.#connection, nameId) === undefined) return true
    return this.#connection.number(NEWEST_OF_NAME, [nameId]) !== id
  }

  #erase({ nameId, id }: Oldest, progress: CutProgress): void {
    const { bytes, records } = eraseRecords(this.#connection, nameId, id)
    this.#size.change(nameId, -bytes)
    this.#totals.removed(nameId, records)
    progress.removed++
  }
}
