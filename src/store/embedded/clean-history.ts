import type { SqliteConnection, SqlValue } from './connection.ts'
import type { ConfigNames } from './config-names.ts'
import { newestRevision } from './current-versions.ts'
import type { CleanLimit } from './messages.ts'
import { writeMeta } from './meta.ts'

/** How many names one call looks at: a look without a removal is two probes of an index. */
const NAMES_PER_CALL = 200

// Times rise with ids, so the records to remove are the first ones of their name, up to the first that stays.
const OLDEST = `
  SELECT id, CAST(at_ms AS INTEGER) FROM config_revision WHERE name_id = ? AND hidden = 0 AND id < ? ORDER BY id LIMIT ?`
const FIRST_KEPT = `
  SELECT id FROM config_revision WHERE name_id = ? AND hidden = 0 ORDER BY id DESC LIMIT 1 OFFSET ?`
const NEXT = `
  SELECT CAST(prev_id AS INTEGER) FROM config_revision WHERE name_id = ? AND hidden = 0 AND id > ? ORDER BY id LIMIT 1`

/** The revision whose content an item has, hidden or not. */
const ITEM_REVISION = `SELECT ${newestRevision('config_item.name_id')} FROM config_item WHERE name_id = ?`

/** What a step did; `unfinished` is the name id after which the next one goes on, if not at `next`. */
interface Cleaned {
  readonly removed: number
  readonly namesRemoved: boolean
  readonly unfinished: number | undefined
}

/** Removes old history in small steps: goes through the names in order and begins again at the end. */
export class HistoryEraser {
  readonly #connection: SqliteConnection
  readonly #names: ConfigNames
  #lastNameId = 0

  constructor(connection: SqliteConnection, names: ConfigNames) {
    this.#connection = connection
    this.#names = names
  }

  /**
   * The next step (see the port). `lastRevision` is kept when records go: ids follow from the highest
   * record there is, and the highest may be among those that go.
   */
  step(limit: CleanLimit, lastRevision: number): { removed: number; more: boolean } {
    const due = this.#dueNames(limit)
    if (due.names.length === 0) {
      this.#lastNameId = due.next
      return { removed: 0, more: due.next > 0 }
    }
    const result = this.#connection.transaction(() => {
      writeMeta(this.#connection, 'revision_floor', String(lastRevision))
      return this.#cleanNames(due.names, limit)
    })
    if (result.namesRemoved) this.#names.reset()
    this.#lastNameId = result.unfinished ?? due.next
    return { removed: result.removed, more: result.unfinished !== undefined || due.next > 0 }
  }

  /** The next names with something to remove, and where the step after this one goes on (0: at the start). */
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
    return this.#itemRevision(nameId) === undefined && this.#countOf(nameId) === 0
  }

  /** Cleans names until `most` records are gone; `unfinished` is where to go on then. */
  #cleanNames(names: readonly number[], limit: CleanLimit): Cleaned {
    let removed = 0
    let namesRemoved = false
    for (const nameId of names) {
      const ids = this.#removable(nameId, limit, limit.most - removed)
      const last = ids.at(-1)
      if (last !== undefined) this.#remove(nameId, last)
      removed += ids.length
      namesRemoved = this.#removeEmptyName(nameId) || namesRemoved
      // This name may have more to remove: the next step begins with it.
      if (removed >= limit.most) return { removed, namesRemoved, unfinished: nameId - 1 }
    }
    return { removed, namesRemoved, unfinished: undefined }
  }

  /** The ids of the records of a name that may go, oldest first. */
  #removable(nameId: number, limit: CleanLimit, most: number): number[] {
    const oldest = this.#connection.all(OLDEST, [nameId, this.#firstKept(nameId, limit.keep), most])
    const stays = oldest.findIndex((row) => Number(row[1]) >= limit.beforeMs)
    return oldest.slice(0, stays < 0 ? undefined : stays).map((row) => Number(row[0]))
  }

  /** Records from this id on stay whatever their age. */
  #firstKept(nameId: number, keep: number): number {
    if (keep <= 0 || this.#itemRevision(nameId) === undefined) return Number.MAX_SAFE_INTEGER
    return this.#connection.number(FIRST_KEPT, [nameId, keep - 1])
  }

  /** Removes the records up to `last`, except those whose content is still answered: they are hidden. */
  #remove(nameId: number, last: number): void {
    const next = this.#connection.first(NEXT, [nameId, last])?.[0] ?? 0
    const carriers: SqlValue[] = [next, this.#itemRevision(nameId) ?? 0]
    for (const hidden of [0, 1]) {
      this.#connection.run(
        'DELETE FROM config_revision WHERE name_id = ? AND hidden = ? AND id <= ? AND id NOT IN (?, ?)',
        [nameId, hidden, last, ...carriers],
      )
    }
    this.#connection.run(
      'UPDATE config_revision SET hidden = 1 WHERE name_id = ? AND hidden = 0 AND id <= ?',
      [nameId, last],
    )
  }

  #removeEmptyName(nameId: number): boolean {
    if (this.#itemRevision(nameId) !== undefined || this.#countOf(nameId) > 0) return false
    this.#connection.run('DELETE FROM config_revision WHERE name_id = ?', [nameId])
    this.#connection.run('DELETE FROM config_name WHERE id = ?', [nameId])
    return true
  }

  #itemRevision(nameId: number): number | undefined {
    const row = this.#connection.first(ITEM_REVISION, [nameId])
    return row === undefined ? undefined : Number(row[0])
  }

  #countOf(nameId: number): number {
    return this.#connection.number(
      'SELECT count(*) FROM (SELECT 1 FROM config_revision WHERE name_id = ? AND hidden = 0 LIMIT 1)',
      [nameId],
    )
  }
}
