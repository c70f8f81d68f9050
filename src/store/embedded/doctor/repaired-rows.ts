import type { SqlValue } from '../connection.ts'
import type { MetaName } from '../meta.ts'
import type { Row } from '../tables.ts'
import type { OnProgress } from './finding.ts'
import { contentMd5, revisionNote, type Inventory } from './inventory.ts'
import type { RepairPlan } from './repair-plan.ts'
import type { RevisionNote } from './revision-index.ts'
import type { StoreRows } from './store-rows.ts'
import type { StoredRow } from './stored-row.ts'

/** Ids that a lost counter may have given out beyond those that are seen. */
const FLOOR_MARGIN = 10_000

/** A row to write. */
type NewRow = Pick<StoredRow, 'table' | 'row'>

/** What is known of an item that has no row any more, from the first version of it. */
interface Birth {
  readonly itemId: number
  readonly atMs: SqlValue
  readonly ip: SqlValue
  readonly user: SqlValue
}

/** The rows of a repaired store: the sound ones, changed as the plan says. */
export class RepairedRows {
  readonly #rows: StoreRows
  readonly #inventory: Inventory
  readonly #plan: RepairPlan
  readonly #isDamaged: boolean
  readonly #seen = new Set<string>()
  /** The item of each version that a deletion is made anew for. */
  readonly #itemIds = new Map<number, SqlValue>()
  /** Items to make anew, by their name's number. */
  readonly #births = new Map<number, Birth>()
  /** Numbers of the table `meta`, by name. */
  readonly #meta = new Map<string, number>()
  #lastRevision = 0

  /** `isDamaged`: anything at all was found. */
  constructor(found: { rows: StoreRows; inventory: Inventory; plan: RepairPlan }, isDamaged: boolean) {
    this.#isDamaged = isDamaged
    this.#rows = found.rows
    this.#inventory = found.inventory
    this.#plan = found.plan
  }

  /** Every row, once. */
  *all(onProgress: OnProgress): Generator<NewRow> {
    for (const [id, name] of this.#plan.namesFromIndex) yield { table: 'config_name', row: [id, ...name] }
    for (const read of this.#rows.read('writing rows', onProgress)) {
      if (read.kind === 'broken' || this.#wasSeen(read.stored)) continue
      const row = this.#changed(read.stored)
      if (row !== undefined) yield { table: read.stored.table, row }
    }
    yield* this.#itemsMadeAnew()
    yield* this.#deletionsMadeAnew()
  }

  /** Values of the table `meta` that protect what is not there any more: ids and times are never given out again. */
  metaToSet(): [MetaName, string][] {
    const { highestId, latestMs } = this.#inventory
    if (!this.#isDamaged) return []
    const values: [MetaName, string][] = []
    const floor = this.#metaNumber('revision_floor')
    values.push([
      'revision_floor',
      String(Math.max(floor, this.#lastRevision, Math.floor(highestId / 2)) + FLOOR_MARGIN),
    ])
    const clock = this.#metaNumber('clock_high_ms')
    values.push(['clock_high_ms', String(Math.max(clock, latestMs))])
    return values
  }

  #metaNumber(name: string): number {
    const value = this.#meta.get(name) ?? 0
    return Number.isFinite(value) ? value : 0
  }

  /** In a damaged file a row may stand twice: below two pages, or in an old page that belongs to nothing. */
  #wasSeen(stored: StoredRow): boolean {
    if (!this.#isDamaged) return false
    // Of two rows of one item the later one counts, and not the first: see #item.
    const key = stored.table === 'config_item' ? `${keyOf(stored)} ${stored.row[2]}` : keyOf(stored)
    if (this.#seen.has(key)) return true
    this.#seen.add(key)
    return false
  }

  #changed({ table, row, rowid }: StoredRow): Row | undefined {
    const plan = this.#plan
    switch (table) {
      case 'config_name':
        return row
      case 'config_item':
        return this.#item(rowid, row)
      case 'config_revision':
        return this.#revision(row)
      case 'instance':
        return plan.instances.has(rowid) ? undefined : row
      case 'meta':
        this.#meta.set(String(row[0]), Number(row[1]))
        return row
      case 'namespace':
      case 'service':
      case 'remembered_metadata':
        return row
    }
  }

  #item(nameId: number, row: Row): Row | undefined {
    // Of two rows of one item the later one counts.
    if (this.#inventory.items.get(nameId)?.revisionId !== Number(row[2])) return undefined
    if (this.#plan.namelessIds.has(nameId) || this.#plan.staleRows.has(nameId)) return undefined
    if (!this.#plan.items.has(nameId)) return row
    const target = this.#plan.items.get(nameId)
    return target === undefined ? undefined : row.with(2, target.id)
  }

  #revision(row: Row): Row | undefined {
    const note = revisionNote(row)
    if (this.#plan.namelessIds.has(note.nameId)) return undefined
    this.#noteBirth(note, row)
    if (this.#plan.deletions.get(note.nameId)?.id === note.id) this.#itemIds.set(note.nameId, row[2] ?? 0)
    const shown = this.#plan.hidden.has(note.id) ? row.with(12, 1) : row
    const md5 = contentMd5(row)
    return md5 === undefined || md5 === row[5] ? shown : shown.with(5, md5)
  }

  /** The first version there is of an item without a row says when and by whom it was made. */
  #noteBirth(note: RevisionNote, row: Row): void {
    const target = this.#plan.items.get(note.nameId)
    const hasRow = this.#inventory.items.has(note.nameId) && !this.#plan.staleRows.has(note.nameId)
    if (target === undefined || hasRow) return
    const itemId = Number(row[2])
    if (this.#births.get(note.nameId)?.itemId === itemId) return
    if (note.id > target.id) return
    this.#births.set(note.nameId, { itemId, atMs: row[11] ?? 0, ip: row[9] ?? '', user: row[10] ?? null })
  }

  /** Ids are taken from those that the counter leaves out: see `metaToSet`. */
  *#deletionsMadeAnew(): Generator<NewRow> {
    let revision = Math.floor(this.#inventory.highestId / 2)
    for (const [nameId, last] of this.#plan.deletions) {
      const itemId = this.#itemIds.get(nameId)
      if (itemId === undefined || this.#plan.namelessIds.has(nameId)) continue
      const id = ++revision * 2 + 1
      const told = [...REPAIRER, this.#inventory.latestMs, 0, null]
      yield {
        table: 'config_revision',
        row: [id, nameId, itemId, 'D', last.id, null, null, null, null, ...told],
      }
    }
    this.#lastRevision = revision
  }

  *#itemsMadeAnew(): Generator<NewRow> {
    for (const [nameId, { itemId, atMs, ip, user }] of this.#births) {
      const target = this.#plan.items.get(nameId)
      if (target === undefined) continue
      const unknown = [null, null, null, null, null]
      yield { table: 'config_item', row: [nameId, itemId, target.id, atMs, user, ip, ...unknown] }
    }
  }
}

/** Who makes the records that a repair adds. */
const REPAIRER = ['127.0.0.1', 'waypost doctor'] as const

function keyOf({ table, row, rowid }: StoredRow): string {
  switch (table) {
    case 'meta':
    case 'namespace':
      return `${table} ${String(row[0])}`
    case 'remembered_metadata':
      return `${table} ${JSON.stringify(row.slice(0, 5))}`
    case 'config_name':
    case 'config_revision':
    case 'config_item':
    case 'service':
    case 'instance':
      return `${table} ${rowid}`
  }
}
