import { readCatalog, type Catalog } from '../file/catalog.ts'
import type { DatabaseFile } from '../file/database-file.ts'
import { freePages, looseRows, walkTree, type Met } from '../file/tree-walk.ts'
import type { TableName } from '../tables.ts'
import type { OnProgress } from './finding.ts'
import { storedRow, storedRowOfAny, TABLE_NAMES, type StoredRow } from './stored-row.ts'

/** What reading the tables meets: a sound row, or what is broken. */
export type ReadRow =
  | { readonly kind: 'row'; readonly stored: StoredRow }
  | { readonly kind: 'broken'; readonly table: TableName; readonly met: Broken; readonly problem: string }

type LooseRow = Extract<ReadRow, { kind: 'row' }>

type Broken = { readonly page: number; readonly rowid?: number | undefined; readonly wholePage: boolean }

const PAGES_PER_REPORT = 500

/** Reads every row of every table, around what is broken, without SQLite. Can be gone through more than once. */
export class StoreRows {
  readonly #file: DatabaseFile
  readonly catalog: Catalog

  constructor(file: DatabaseFile) {
    this.#file = file
    this.catalog = readCatalog(file)
  }

  /**
   * All rows, table by table; then, where a page of a table was broken, those in pages that belong to nothing: they
   * hang below that page. A row may come twice then; the first one counts.
   */
  *read(step: string, onProgress: OnProgress): Generator<ReadRow> {
    const visited = new Set<number>()
    let isBroken = !this.catalog.isOwn
    let reported = 0
    const instances = { rows: 0, isBroken: false }
    for (const table of TABLE_NAMES) {
      for (const met of walkTree(this.#file, this.catalog.tables[table], visited)) {
        const read = judged(table, met)
        if (read.kind === 'broken' && read.met.wholePage) isBroken = true
        if (table === 'instance') noteInstances(instances, read)
        if (visited.size >= reported + PAGES_PER_REPORT) {
          reported = visited.size
          onProgress(step, met.page, this.#file.pageCount)
        }
        yield read
      }
    }
    if (!isBroken) return
    for (const read of this.#readLoose(visited)) if (mayBelong(read, instances)) yield read
  }

  /** The names of items as the index keeps them, for names whose own row is lost. They have no checksum. */
  *namesInIndex(): Generator<{ id: number; name: readonly [string, string, string] }> {
    const root = this.catalog.indexes.get('sqlite_autoindex_config_name_1') ?? 0
    for (const met of walkTree(this.#file, root, new Set())) {
      if (met.kind !== 'row' || met.values.length !== 4) continue
      const [namespaceId, group, dataId, id] = met.values
      yield { id: Number(id), name: [String(namespaceId), String(group), String(dataId)] }
    }
  }

  /** The revisions of names as the index keeps them, in no order. They have no checksum. */
  *revisionsInIndex(): Generator<{ nameId: number; id: number }> {
    const root = this.catalog.indexes.get('config_revision_by_name') ?? 0
    for (const met of walkTree(this.#file, root, new Set())) {
      if (met.kind !== 'row' || met.values.length !== 3) continue
      yield { nameId: Number(met.values[0]), id: Number(met.values[2]) }
    }
  }

  *#readLoose(visited: Set<number>): Generator<LooseRow> {
    for (const root of this.catalog.indexes.values()) {
      for (const _ of walkTree(this.#file, root, visited));
    }
    const free = freePages(this.#file)
    for (let page = 2; page <= this.#file.pageCount; page++) {
      if (visited.has(page) || free.has(page)) continue
      for (const met of looseRows(this.#file, page)) {
        const stored = met.kind === 'row' ? storedRowOfAny(met) : undefined
        if (stored !== undefined) yield { kind: 'row', stored }
      }
    }
  }
}

/** What the tree of the table of instances held. */
interface InstancesMet {
  rows: number
  isBroken: boolean
}

function noteInstances(met: InstancesMet, read: ReadRow): void {
  if (read.kind === 'broken') {
    if (read.met.wholePage) met.isBroken = true
    return
  }
  met.rows++
}

/**
 * Whether a row in a page that belongs to nothing may be one that is lost. Packs of the instance log that were cleaned
 * away would bring back what has left.
 */
function mayBelong({ stored }: LooseRow, met: InstancesMet): boolean {
  if (stored.table !== 'instance') return true
  return met.isBroken || met.rows === 0
}

function judged(table: TableName, met: Met): ReadRow {
  const { page } = met
  if (met.kind === 'broken-page') {
    return { kind: 'broken', table, met: { page, wholePage: true }, problem: met.problem }
  }
  const { rowid } = met
  if (met.kind === 'broken-row') {
    return { kind: 'broken', table, met: { page, rowid, wholePage: false }, problem: met.problem }
  }
  const stored = storedRow(table, met)
  if (stored !== undefined) return { kind: 'row', stored }
  const problem = 'its checksum does not fit its contents'
  return { kind: 'broken', table, met: { page, rowid, wholePage: false }, problem }
}
