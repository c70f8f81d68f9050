import type { Finding } from '../../local-file.ts'
import { VersionSums } from '../rows/current-versions.ts'
import { SAMPLE_ROWS } from '../rows/rows.test-support.ts'
import type { ItemRow, RevisionRow, TableName } from '../rows/tables.ts'
import { Findings } from '../../finding.ts'
import { type Inventory, takeInventory } from './inventory.ts'
import { judgeReferences } from './judge-references.ts'
import type { RowsLeftOut } from './left-out.ts'
import { soundRows } from './salvage.ts'
import type { AnyRow, ReadRow, RowSource } from './store-rows.ts'

/** The contents of a store besides its sound rows. */
export interface Beside {
  /** Tables with a broken row. */
  readonly broken?: readonly TableName[]
  /** The names and revisions in the indexes; by default the names and revisions of the rows. */
  readonly namesInIndex?: readonly (readonly [id: number, dataId: string])[]
  readonly revisionsInIndex?: readonly (readonly [nameId: number, id: number])[]
}

/** The doctor's results for some rows. */
export interface Outcome {
  readonly findings: readonly Finding[]
  readonly inventory: Inventory
  readonly leftOut: RowsLeftOut
  /** The rows that a salvage copies. */
  readonly copied: readonly AnyRow[]
}

/** The name with this number. Its dataId is a letter: a for 1, b for 2. */
export function name(id: number): AnyRow {
  const dataId = String.fromCharCode(96 + id)
  return { table: 'config_name', row: { id, namespaceId: 'public', group: 'g', dataId } }
}

/** The row of the item with the name `nameId`, written with a revision. */
export function item(nameId: number, revisionId: number, other: Partial<ItemRow> = {}): AnyRow {
  const row = { ...SAMPLE_ROWS.config_item, nameId, id: nameId * 100, revisionId, ...other }
  return { table: 'config_item', row }
}

/** A revision of the item with the name `nameId`; without `prevId` its first revision. */
export function revision(nameId: number, id: number, other: Partial<RevisionRow> = {}): AnyRow {
  const { prevId = null } = other
  const op = prevId === null ? 'I' : 'U'
  const content = Buffer.from('one')
  const version = { nameId, id, itemId: nameId * 100, op, prevId, hidden: false, content } as const
  const row = { ...SAMPLE_ROWS.config_revision, ...version, ...other }
  return { table: 'config_revision', row }
}

/** The deletion of the item with the name `nameId`. */
export function deletion(nameId: number, id: number, prevId: number): AnyRow {
  return revision(nameId, id, { op: 'D', prevId, content: null, md5: null })
}

/** The sums of current versions, by name, as the last commit has written them. */
export function sums(versions: Readonly<Record<number, number>>): AnyRow {
  const items = Object.entries(versions).map(([nameId, revisionId]) => ({
    nameId: Number(nameId),
    revisionId,
  }))
  return { table: 'meta', row: { name: 'current_versions', value: VersionSums.of(items).toString() } }
}

/** The totals of instances as the last commit has written them. */
export function totals(rows: number, checksums: number): AnyRow {
  return { table: 'meta', row: { name: 'instance_totals', value: `${rows} ${checksums}` } }
}

/** Examines and salvages a store with these sound rows. The checksum of a row is its rowid. */
export function outcomeOf(rows: readonly AnyRow[], beside: Beside = {}): Outcome {
  const source = sourceOf(rows, beside)
  const findings = new Findings()
  const inventory = takeInventory(source, findings, () => {})
  const leftOut = judgeReferences(source, inventory, findings)
  const copied = Array.from(
    soundRows({ rows: source, inventory, leftOut }, () => {}),
    ({ table, row }) => ({ table, row }) as AnyRow,
  )
  return { findings: findings.kept, inventory, leftOut, copied }
}

function sourceOf(
  rows: readonly AnyRow[],
  { broken = [], namesInIndex, revisionsInIndex }: Beside,
): RowSource {
  const read: ReadRow[] = rows.map((row) => ({
    kind: 'row',
    stored: { ...row, rowid: rowidOf(row), checksum: rowidOf(row) },
  }))
  for (const table of broken)
    read.push({
      kind: 'broken',
      table,
      rows: { from: 1, to: 1 },
      problem: 'a test broke it',
    })
  const names = namesInIndex ?? rows.flatMap((row) => (row.table === 'config_name' ? [nameOf(row.row)] : []))
  const revisions = revisionsInIndex ?? rows.flatMap(revisionInIndex)
  return {
    *read() {
      yield* read
    },
    *namesInIndex() {
      for (const [id, dataId] of names) yield { id, name: ['public', 'g', dataId] }
    },
    newestInIndex(nameId) {
      return Math.max(0, ...revisions.flatMap(([name, id]) => (name === nameId ? [id] : [])))
    },
  }
}

function nameOf({ id, dataId }: { id: number; dataId: string }): readonly [number, string] {
  return [id, dataId]
}

function revisionInIndex(row: AnyRow): (readonly [number, number])[] {
  return row.table === 'config_revision' ? [[row.row.nameId, row.row.id]] : []
}

function rowidOf(row: AnyRow): number {
  switch (row.table) {
    case 'config_item':
      return row.row.nameId
    case 'config_name':
    case 'config_revision':
    case 'audit':
      return row.row.id
    case 'service':
    case 'instance':
      return row.row.serial
    case 'meta':
    case 'record':
      return 1
  }
}
