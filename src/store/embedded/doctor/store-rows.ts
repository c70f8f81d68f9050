import type { OnProgress } from '../../local-file.ts'
import { checksumColumnsOf, columnsOf, type CheckedTable, verified } from '../checked-row.ts'
import type { SqlValue } from '../connection.ts'
import { readCatalog, type Catalog } from '../file/catalog.ts'
import type { DatabaseFile } from '../file/database-file.ts'
import { freePages, looseRows, walkTree, type Met } from '../file/tree-walk.ts'
import type { Values } from '../table.ts'
import { type RowOf, TABLE_NAMES, type TableName, TABLES } from '../tables.ts'

/** A row of any table. */
export type AnyRow = { readonly [T in TableName]: { readonly table: T; readonly row: RowOf<T> } }[TableName]

/** A row of any table that was read and checked. */
export type StoredRow = AnyRow & { readonly rowid: number; readonly checksum: number }

/** A sound row, or something broken. */
export type ReadRow =
  | { readonly kind: 'row'; readonly stored: StoredRow }
  | { readonly kind: 'broken'; readonly table: TableName; readonly met: Broken; readonly problem: string }

type LooseRow = Extract<ReadRow, { kind: 'row' }>

type Broken = { readonly page: number; readonly rowid?: number | undefined; readonly wholePage: boolean }

const PAGES_PER_REPORT = 500

/** What the doctor reads of a store. */
export type RowSource = Pick<StoreRows, 'read' | 'namesInIndex' | 'revisionsInIndex'>

/** Reads every row of every table without SQLite, and goes on behind what is broken. */
export class StoreRows {
  readonly #file: DatabaseFile
  readonly catalog: Catalog

  constructor(file: DatabaseFile) {
    this.#file = file
    this.catalog = readCatalog(file)
  }

  /**
   * All rows, table by table. If a page of a table is broken, rows follow from pages that no tree contains: they were
   * below that page. Then a row may come twice; the first one counts.
   */
  *read(step: string, onProgress: OnProgress): Generator<ReadRow> {
    const visited = new Set<number>()
    const incomplete = new Set<TableName>()
    let isBroken = !this.catalog.isOwn
    let reported = 0
    for (const table of TABLE_NAMES) {
      // A file of an earlier build.
      if (this.catalog.isOwn && this.catalog.tables[table] === 0) continue
      let rows = 0
      for (const met of walkTree(this.#file, this.catalog.tables[table], visited)) {
        const read = judged(table, met)
        if (read.kind === 'row') rows++
        else if (read.met.wholePage) incomplete.add(table)
        if (visited.size >= reported + PAGES_PER_REPORT) {
          reported = visited.size
          onProgress(step, met.page, this.#file.pageCount)
        }
        yield read
      }
      isBroken ||= incomplete.has(table)
      if (rows === 0) incomplete.add(table)
    }
    if (!isBroken) return
    // Of a table that is whole only rows that were removed are left in such pages.
    for (const read of this.#readLoose(visited)) if (incomplete.has(read.stored.table)) yield read
  }

  /** The names of items in the index, for names whose own row is lost. They have no checksum. */
  *namesInIndex(): Generator<{ id: number; name: readonly [string, string, string] }> {
    const root = this.catalog.indexes.get('sqlite_autoindex_config_name_1') ?? 0
    for (const met of walkTree(this.#file, root, new Set())) {
      if (met.kind !== 'row' || met.values.length !== 4) continue
      const [namespaceId, group, dataId, id] = met.values
      yield { id: Number(id), name: [String(namespaceId), String(group), String(dataId)] }
    }
  }

  /** The revisions of names in the index, in no order. They have no checksum. */
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

type MetRow = Extract<Met, { kind: 'row' }>

/** In these tables the key is the rowid, which is not kept in the row itself. */
const KEYED_BY_ROWID = new Set<TableName>([
  'config_name',
  'config_revision',
  'config_item',
  'service',
  'instance',
  'audit',
])

/** The row as it was written; undefined where its number of columns or its checksum does not fit the table. */
export function storedRow(table: TableName, { rowid, values }: MetRow): StoredRow | undefined {
  const found = KEYED_BY_ROWID.has(table) ? values.with(0, rowid) : values
  const definition = TABLES[table]
  const sound = checkedValues(definition, found)
  if (sound === undefined) return undefined
  const checksum = found.at(definition.content === undefined ? -1 : -2)
  return { table, row: definition.decode(sound), rowid, checksum } as StoredRow
}

/** The row of whichever table it fits: the checksum proves it. */
export function storedRowOfAny(met: MetRow): StoredRow | undefined {
  for (const table of TABLE_NAMES) {
    const stored = storedRow(table, met)
    if (stored !== undefined) return stored
  }
  return undefined
}

function checkedValues(table: CheckedTable, found: Values): Values | undefined {
  const checksumCount = checksumColumnsOf(table).length
  const contentCount = table.content === undefined ? 0 : 1
  if (found.length !== columnsOf(table).length + checksumCount) return undefined
  // In the file the content comes after the checksums.
  const end = found.length - contentCount
  const fields = found.slice(0, end - checksumCount).map(textOf)
  const checksums = found.slice(end - checksumCount, end)
  try {
    return verified(table, { values: [...fields, ...found.slice(end)], checksums, hasContent: true })
  } catch {
    return undefined
  }
}

/** A text with a NUL is stored as bytes. */
function textOf(value: SqlValue): SqlValue {
  return Buffer.isBuffer(value) ? value.toString() : value
}
