import type { OnProgress } from '../../local-file.ts'
import type { MetaName } from '../rows/meta.ts'
import type { ItemRow, RevisionRow } from '../rows/tables.ts'
import { contentMd5, type Inventory, recordProblem } from './inventory.ts'
import type { RepairPlan } from './repair-plan.ts'
import type { AnyRow, RowSource, StoredRow } from './store-rows.ts'

/** How many ids a lost counter may have given out above the highest id found. */
const FLOOR_MARGIN = 10_000

/** What the first version of an item tells, if the item's row is lost. */
interface Birth {
  readonly itemId: number
  readonly atMs: number
  readonly ip: string
  readonly user: string | null
}

/** The rows of a repaired store: the sound rows, changed as the plan says. */
export class RepairedRows {
  readonly #rows: RowSource
  readonly #inventory: Inventory
  readonly #plan: RepairPlan
  readonly #isDamaged: boolean
  readonly #seen = new Set<string>()
  /** The id of the item whose deletion is recorded again, by its name's number. */
  readonly #itemIds = new Map<number, number>()
  /** Items that are created again, by their name's number. */
  readonly #births = new Map<number, Birth>()
  /** Numbers of the table `meta`, by name. */
  readonly #meta = new Map<string, number>()
  #lastRevision = 0

  /** `isDamaged`: the examination found any damage. */
  constructor(found: { rows: RowSource; inventory: Inventory; plan: RepairPlan }, isDamaged: boolean) {
    this.#isDamaged = isDamaged
    this.#rows = found.rows
    this.#inventory = found.inventory
    this.#plan = found.plan
  }

  /** Every row, once. */
  *all(onProgress: OnProgress): Generator<AnyRow> {
    for (const [id, [namespaceId, group, dataId]] of this.#plan.namesFromIndex)
      yield { table: 'config_name', row: { id, namespaceId, group, dataId } }
    for (const read of this.#rows.read('writing rows', onProgress)) {
      if (read.kind === 'broken' || this.#wasSeen(read.stored)) continue
      const row = this.#changed(read.stored)
      if (row !== undefined) yield row
    }
    yield* this.#recreatedItems()
    yield* this.#recreatedDeletions()
  }

  /** Values of the table `meta` that are raised, so that no id and no time is given out a second time. */
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

  /** In a damaged file a row may occur twice: below two pages, or in an old page that no tree contains. */
  #wasSeen(stored: StoredRow): boolean {
    if (!this.#isDamaged) return false
    // The later one of two rows of an item counts, not the first: see #item.
    const key = stored.table === 'config_item' ? `${keyOf(stored)} ${stored.row.revisionId}` : keyOf(stored)
    if (this.#seen.has(key)) return true
    this.#seen.add(key)
    return false
  }

  #changed(stored: StoredRow): AnyRow | undefined {
    switch (stored.table) {
      case 'config_item':
        return this.#item(stored.row)
      case 'config_revision':
        return this.#revision(stored.row)
      case 'instance':
        return this.#plan.instances.has(stored.row.serial) ? undefined : stored
      case 'meta':
        this.#meta.set(stored.row.name, Number(stored.row.value))
        return stored
      case 'config_name':
      case 'service':
      case 'audit':
        return stored
      case 'record':
        return recordProblem(stored.row) === undefined ? stored : undefined
    }
  }

  #item(row: ItemRow): AnyRow | undefined {
    const { nameId } = row
    // The later one of two rows of an item counts.
    if (this.#inventory.items.get(nameId)?.revisionId !== row.revisionId) return undefined
    if (this.#plan.namelessIds.has(nameId) || this.#plan.staleRows.has(nameId)) return undefined
    const target = this.#plan.items.get(nameId)
    if (target === undefined && this.#plan.items.has(nameId)) return undefined
    return { table: 'config_item', row: { ...row, revisionId: target?.id ?? row.revisionId } }
  }

  #revision(row: RevisionRow): AnyRow | undefined {
    const { id, nameId, itemId } = row
    if (this.#plan.namelessIds.has(nameId)) return undefined
    this.#noteBirth(row)
    if (this.#plan.deletions.get(nameId)?.id === id) this.#itemIds.set(nameId, itemId)
    const hidden = row.hidden || this.#plan.hidden.has(id)
    return { table: 'config_revision', row: { ...row, hidden, md5: contentMd5(row) ?? row.md5 } }
  }

  /** The first version of an item without a row tells when the item was created, and who created it. */
  #noteBirth({ id, nameId, itemId, atMs, srcIp, srcUser }: RevisionRow): void {
    const target = this.#plan.items.get(nameId)
    const hasRow = this.#inventory.items.has(nameId) && !this.#plan.staleRows.has(nameId)
    if (target === undefined || hasRow) return
    if (this.#births.get(nameId)?.itemId === itemId || id > target.id) return
    this.#births.set(nameId, { itemId, atMs, ip: srcIp, user: srcUser })
  }

  /** The ids are above all ids found and below the raised counter: see `metaToSet`. */
  *#recreatedDeletions(): Generator<AnyRow> {
    let revision = Math.floor(this.#inventory.highestId / 2)
    for (const [nameId, last] of this.#plan.deletions) {
      const itemId = this.#itemIds.get(nameId)
      if (itemId === undefined || this.#plan.namelessIds.has(nameId)) continue
      const id = ++revision * 2 + 1
      const row = { ...DELETION, id, nameId, itemId, prevId: last.id, atMs: this.#inventory.latestMs }
      yield { table: 'config_revision', row }
    }
    this.#lastRevision = revision
  }

  *#recreatedItems(): Generator<AnyRow> {
    for (const [nameId, { itemId, atMs, ip, user }] of this.#births) {
      const target = this.#plan.items.get(nameId)
      if (target === undefined) continue
      const birth = { createdMs: atMs, createUser: user, createIp: ip }
      yield {
        table: 'config_item',
        row: { nameId, id: itemId, revisionId: target.id, ...birth, ...NO_NOTES },
      }
    }
  }
}

const NO_NOTES = { desc: null, use: null, effect: null, schema: null, configTags: null }

/** The fields that all deletions recorded by a repair have in common. */
const DELETION = {
  op: 'D',
  md5: null,
  type: null,
  appName: null,
  encryptedDataKey: null,
  srcIp: '127.0.0.1',
  srcUser: 'waypost doctor',
  hidden: false,
  content: null,
} as const

function keyOf(stored: StoredRow): string {
  switch (stored.table) {
    case 'meta':
      return `meta ${stored.row.name}`
    case 'record':
      return `record ${stored.row.recordKind} ${stored.row.id}`
    case 'config_name':
    case 'config_revision':
    case 'config_item':
    case 'service':
    case 'instance':
    case 'audit':
      return `${stored.table} ${stored.rowid}`
  }
}
