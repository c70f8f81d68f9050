import type { SqliteConnection } from '../database/connection.ts'
import type { ConfigNames } from './config-names.ts'
import type { HistoryCutter } from './cut-history.ts'
import { eraseRecords, itemRevision } from './erase-records.ts'
import { type HistorySize, REVISION_BYTES } from './history-size.ts'
import type { HistoryTotals } from './history-totals.ts'
import type { CleanLimit } from '../rows/messages.ts'
import { writeMeta } from '../rows/meta.ts'

/** How many names one call looks at: a look without a removal is two probes of an index. */
const NAMES_PER_CALL = 200

// Times rise with ids, so the records to remove are the first ones of their name, up to the first that stays.
const OLDEST = `
  SELECT id, CAST(at_ms AS INTEGER) FROM config_revision WHERE name_id = ? AND hidden = 0 AND id < ? ORDER BY id LIMIT ?`
const FIRST_KEPT = `
  SELECT id FROM config_revision WHERE name_id = ? AND hidden = 0 ORDER BY id DESC LIMIT 1 OFFSET ?`
const BYTES_LEFT = `SELECT ifnull(sum(${REVISION_BYTES} + ifnull(length(content), 0)), 0) FROM config_revision WHERE name_id = ?`

/** The result of a step; `unfinished` is the name id after which the next step continues, if not at `next`. */
interface Cleaned {
  readonly removed: number
  readonly namesRemoved: boolean
  readonly unfinished: number | undefined
}

/** The parts that cleaning and commits share. */
export interface EraserParts {
  readonly names: ConfigNames
  readonly size: HistorySize
  readonly totals: HistoryTotals
  readonly cutter: HistoryCutter
}

/** Removes old history in small steps: goes through the names in order and begins again at the end. */
export class HistoryEraser {
  readonly #connection: SqliteConnection
  readonly #names: ConfigNames
  readonly #size: HistorySize
  readonly #totals: HistoryTotals
  readonly #cutter: HistoryCutter
  #lastNameId = 0

  constructor(connection: SqliteConnection, { names, size, totals, cutter }: EraserParts) {
    this.#connection = connection
    this.#names = names
    this.#size = size
    this.#totals = totals
    this.#cutter = cutter
  }

  /** The next step (see the port). Keeps `lastRevision`, because the record with the highest id may be removed. */
  step(limit: CleanLimit, lastRevision: number): { removed: number; more: boolean } {
    const due = this.#dueNames(limit)
    if (due.names.length === 0 && !this.#cutter.isOver) {
      this.#lastNameId = due.next
      return { removed: 0, more: due.next > 0 }
    }
    const before = this.#size.total
    try {
      const result = this.#connection.transaction(() => {
        writeMeta(this.#connection, 'revision_floor', String(lastRevision))
        const cleaned = this.#cleanNames(due.names, limit)
        const cut = this.#cutter.cut()
        this.#size.write()
        return { ...cleaned, cut }
      })
      if (result.namesRemoved) this.#names.reset()
      this.#lastNameId = result.unfinished ?? due.next
      const hasMore =
        result.unfinished !== undefined || due.next > 0 || (result.cut > 0 && this.#cutter.isOver)
      return { removed: result.removed + result.cut, more: hasMore }
    } catch (error) {
      this.#size.undo(before)
      this.#totals.reset()
      this.#cutter.reset()
      throw error
    }
  }

  /** The next names with something to remove, and where the step after this one continues (0: at the start). */
  #dueNames(limit: CleanLimit): { names: number[]; next: number } {
    const ids = this.#connection
      .all('SELECT id FROM config_name WHERE id > ? ORDER BY id LIMIT ?', [this.#lastNameId, NAMES_PER_CALL])
      .map((row) => Number(row[0]))
    const names = ids.filter((nameId) => this.#isDue(nameId, limit))
    return { names, next: ids.length < NAMES_PER_CALL ? 0 : (ids.at(-1) ?? 0) }
  }

  #isDue(nameId: number, limit: CleanLimit): boolean {
    if (this.#removable(nameId, limit, 1).length > 0) return true
    // A name that a crash or an earlier cleaning left with nothing under it.
    return itemRevision(this.#connection, nameId) === undefined && this.#countOf(nameId) === 0
  }

  /** Cleans names until `most` records are gone; `unfinished` is then where to continue. */
  #cleanNames(names: readonly number[], limit: CleanLimit): Cleaned {
    let removed = 0
    let namesRemoved = false
    for (const nameId of names) {
      const ids = this.#removable(nameId, limit, limit.most - removed)
      const last = ids.at(-1)
      if (last !== undefined) this.#erase(nameId, last)
      removed += ids.length
      namesRemoved = this.#removeEmptyName(nameId) || namesRemoved
      // This name may have more to remove: the next step begins with it.
      if (removed >= limit.most) return { removed, namesRemoved, unfinished: nameId - 1 }
    }
    return { removed, namesRemoved, unfinished: undefined }
  }

  #erase(nameId: number, last: number): void {
    const { bytes, records } = eraseRecords(this.#connection, nameId, last)
    this.#size.change(nameId, -bytes)
    this.#totals.removed(nameId, records)
  }

  /** The ids of the records of a name that may go, oldest first. */
  #removable(nameId: number, limit: CleanLimit, most: number): number[] {
    const oldest = this.#connection.all(OLDEST, [nameId, this.#firstKept(nameId, limit.keep), most])
    const stays = oldest.findIndex((row) => Number(row[1]) >= limit.beforeMs)
    return oldest.slice(0, stays < 0 ? undefined : stays).map((row) => Number(row[0]))
  }

  /** Records from this id on stay whatever their age. */
  #firstKept(nameId: number, keep: number): number {
    if (keep <= 0 || itemRevision(this.#connection, nameId) === undefined) return Number.MAX_SAFE_INTEGER
    return this.#connection.number(FIRST_KEPT, [nameId, keep - 1])
  }

  #removeEmptyName(nameId: number): boolean {
    if (itemRevision(this.#connection, nameId) !== undefined || this.#countOf(nameId) > 0) return false
    this.#size.change(nameId, -this.#connection.number(BYTES_LEFT, [nameId]))
    this.#connection.run('DELETE FROM config_revision WHERE name_id = ?', [nameId])
    this.#connection.run('DELETE FROM config_name WHERE id = ?', [nameId])
    return true
  }

  #countOf(nameId: number): number {
    return this.#connection.number(
      'SELECT count(*) FROM (SELECT 1 FROM config_revision WHERE name_id = ? AND hidden = 0 LIMIT 1)',
      [nameId],
    )
  }
}
