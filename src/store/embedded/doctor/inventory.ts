import { hostPort } from '../../../core/text/ip-address.ts'
import { NotExaminable, type OnProgress } from '../../local-file.ts'
import { createHash } from 'node:crypto'
import { decodeRecord, UnknownRecordKind } from '../../../core/engine/stored-kinds.ts'
import { VersionSums } from '../rows/current-versions.ts'
import { instanceOfText } from '../rows/instance-text.ts'
import { type InstanceTotals, NO_INSTANCES, parsedTotals, sumOf } from '../rows/instance-totals.ts'
import type { NameText } from '../rows/messages.ts'
import type { InstanceRow, MetaRow, RecordRow, RevisionRow, TableName } from '../rows/tables.ts'
import type { Findings } from '../../finding.ts'
import { RevisionIndex, type RevisionNote } from './revision-index.ts'
import type { ReadRow, RowSource, StoredRow } from './store-rows.ts'

/** The fields of an item's row that other rows depend on. */
interface ItemNote {
  readonly itemId: number
  /** The revision that the row was written with. */
  readonly revisionId: number
}

/** The fields of an instance's row that other rows depend on. */
interface InstanceNote {
  readonly serviceSerial: number
  readonly ephemeral: boolean
  readonly address: string
}

/** All sound rows of a file, without contents. References are judged by them. */
export interface Inventory {
  readonly names: Map<number, NameText>
  readonly items: Map<number, ItemNote>
  readonly revisions: RevisionIndex
  /** The names of services by serial, for messages. */
  readonly services: Map<number, string>
  /** Instances by serial. */
  readonly instances: Map<number, InstanceNote>
  /** The totals of the sound rows of instances, and the totals that were stored. */
  instanceTotals: { found: InstanceTotals; stored: InstanceTotals | undefined }
  /** Tables with something broken in them. */
  readonly brokenTables: Set<TableName>
  /** The stored sums of the current versions of all items. */
  versionSums: VersionSums | undefined
  /** The number of sound rows of each table. */
  readonly counts: Map<TableName, number>
  /** The highest id of all revisions. */
  highestId: number
  /** The latest time of all history records, epoch milliseconds. */
  latestMs: number
}

/** Reads and checks every row. Broken rows become findings. */
export function takeInventory(rows: RowSource, findings: Findings, onProgress: OnProgress): Inventory {
  const inventory: Inventory = {
    names: new Map(),
    items: new Map(),
    revisions: new RevisionIndex(),
    services: new Map(),
    instances: new Map(),
    instanceTotals: { found: NO_INSTANCES, stored: undefined },
    brokenTables: new Set(),
    versionSums: undefined,
    counts: new Map(),
    highestId: 0,
    latestMs: 0,
  }
  for (const read of rows.read('checking rows', onProgress)) {
    if (read.kind === 'broken') noteBroken(inventory, findings, read)
    else noteRow(inventory, findings, read.stored)
  }
  return inventory
}

/** A revision without its content. */
function revisionNote(row: RevisionRow): RevisionNote {
  const { id, nameId, itemId, op, prevId, hidden, content } = row
  return { id, nameId, itemId, prevId: prevId ?? 0, op, hidden, hasContent: content !== null }
}

/** The md5 of the content of a revision; undefined if it has no content. */
export function contentMd5({ content }: RevisionRow): string | undefined {
  return content === null ? undefined : createHash('md5').update(content).digest('hex')
}

/** The effect of losing rows of a table. */
export const EFFECTS: Record<TableName, string> = {
  meta: 'The clock and counters of the store are lost.',
  config_name:
    'The names of configuration items are lost; the items are named below where others speak of them.',
  config_item: 'What describes configuration items (creation, description, tags) is lost.',
  config_revision:
    'Versions of configuration items are lost; items whose current one is among them are named below.',
  record:
    'Small records are lost: names of namespaces, switches that were set, or metadata that was remembered for instances.',
  service: 'Settings and metadata of services are lost, and with them their registered instances.',
  instance: 'Registered instances are lost. Ephemeral ones come back with their next beat.',
  audit: 'Events of the audit are lost; nothing else refers to them.',
}

function noteBroken(
  inventory: Inventory,
  findings: Findings,
  broken: Extract<ReadRow, { kind: 'broken' }>,
): void {
  const { table, rows, problem } = broken
  const { from, to } = rows
  inventory.brokenTables.add(table)
  const place = `waypost.db, table ${table}`
  if (from === to) {
    findings.damage(`${place}, row ${from}`, {
      problem: `The row is damaged: ${problem}.`,
      effect: EFFECTS[table],
      leavesOut: 'The row is left out.',
    })
    return
  }
  const isAll = to === undefined && !inventory.counts.has(table)
  const which = to === undefined ? `rows from ${from} on` : `rows ${from} to ${to}`
  findings.damage(isAll ? place : `${place}, ${which}`, {
    problem: isAll
      ? `The page where it begins cannot be read: ${problem}.`
      : `They cannot be read: ${problem}.`,
    effect: EFFECTS[table],
    leavesOut: isAll
      ? 'Rows of pages below it are looked for. A small table has none and is left out.'
      : 'Rows of pages below a damaged one are looked for. The others are left out.',
  })
}

function noteRow(inventory: Inventory, findings: Findings, stored: StoredRow): void {
  const { names, items, services, counts } = inventory
  counts.set(stored.table, (counts.get(stored.table) ?? 0) + 1)
  switch (stored.table) {
    case 'config_name': {
      const { id, namespaceId, group, dataId } = stored.row
      if (!names.has(id)) names.set(id, [namespaceId, group, dataId])
      return
    }
    case 'config_item': {
      const { nameId, id, revisionId } = stored.row
      // The later of two rows counts: a page outside of all trees may be old.
      if ((items.get(nameId)?.revisionId ?? 0) < revisionId) items.set(nameId, { itemId: id, revisionId })
      return
    }
    case 'config_revision':
      noteRevision(inventory, findings, stored.row)
      return
    case 'service':
      services.set(stored.row.serial, `${stored.row.namespaceId}/${stored.row.groupedName}`)
      return
    case 'instance':
      noteInstance(inventory, stored.row, stored.checksum)
      return
    case 'meta':
      noteMeta(inventory, stored.row)
      return
    case 'record':
      noteRecord(findings, stored.row)
      return
    case 'audit':
      return
  }
}

/** Throws NotExaminable for a kind of a later version, which cannot be judged here. */
function noteRecord(findings: Findings, row: RecordRow): void {
  const problem = recordProblem(row)
  if (problem === undefined) return
  findings.damage(`waypost.db, table record, ${row.recordKind} ${row.id}`, {
    problem: `${problem}.`,
    effect: 'The server does not start.',
    leavesOut: 'The record is left out.',
  })
}

/** Why a record with a sound checksum cannot be read. Throws NotExaminable for a kind that this version does not know. */
export function recordProblem({ recordKind, id, value }: RecordRow): string | undefined {
  try {
    decodeRecord(recordKind, id, value)
    return undefined
  } catch (error) {
    if (error instanceof UnknownRecordKind) throw new NotExaminable(error.message)
    return error instanceof Error ? error.message : String(error)
  }
}

function noteMeta(inventory: Inventory, { name, value }: MetaRow): void {
  if (name === 'current_versions') inventory.versionSums ??= VersionSums.parse(value)
  if (name === 'instance_totals') inventory.instanceTotals.stored ??= parsedTotals(value)
}

function noteInstance(inventory: Inventory, row: InstanceRow, checksum: number): void {
  const { serial, serviceSerial, record } = row
  // The first of two rows with the same serial counts: the other is in a page outside of all trees.
  if (inventory.instances.has(serial)) return
  const { ephemeral, address } = instanceOfText(serial, record)
  const at = hostPort(address.ip, address.port)
  inventory.instances.set(serial, { serviceSerial, ephemeral, address: at })
  const totals = inventory.instanceTotals
  totals.found = sumOf(totals.found, { rows: 1, checksums: checksum })
}

function noteRevision(inventory: Inventory, findings: Findings, row: RevisionRow): void {
  const note = revisionNote(row)
  if (!inventory.revisions.add(note)) return
  inventory.highestId = Math.max(inventory.highestId, note.id)
  inventory.latestMs = Math.max(inventory.latestMs, row.atMs)
  const md5 = contentMd5(row)
  if (md5 !== undefined && md5 !== row.md5) {
    findings.damage(`waypost.db, table config_revision, row ${note.id}`, {
      problem: `The content has the md5 ${md5}, and ${row.md5} is noted for it.`,
      effect: 'Watchers of the item compare md5s: they may load it again and again.',
    })
  }
}
