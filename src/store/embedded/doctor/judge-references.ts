import { isSame, NO_INSTANCES } from '../rows/instance-totals.ts'
import type { Findings } from '../../finding.ts'
import { EFFECTS, type Inventory } from './inventory.ts'
import { judgeItems } from './judge-items.ts'
import { newestByName } from './newest-versions.ts'
import { type Judging, type RowsLeftOut, nothingLeftOut, placeOf } from './left-out.ts'
import type { RowSource } from './store-rows.ts'

/** Judges the rules between rows of different tables, and leaves out rows that break them. */
export function judgeReferences(rows: RowSource, inventory: Inventory, findings: Findings): RowsLeftOut {
  const judging = { rows, inventory, findings, leftOut: nothingLeftOut(), namesInIndex: new Map() }
  const newest = newestByName(inventory)
  judgeNames(judging, new Set([...newest.keys(), ...inventory.items.keys()]))
  judgeItems(judging, newest)
  judgeHistory(judging)
  judgeTotals(judging)
  judgeInstances(judging)
  return judging.leftOut
}

function judgeNames(judging: Judging, used: ReadonlySet<number>): void {
  const { rows, inventory, findings, leftOut, namesInIndex } = judging
  if (findings.counts.damage > 0) forgetRepeatedNames(inventory)
  for (const id of used) if (!inventory.names.has(id)) leftOut.names.add(id)
  if (leftOut.names.size === 0) return
  for (const { id, name } of rows.namesInIndex(inventory.names))
    if (leftOut.names.has(id)) namesInIndex.set(id, name)
  for (const id of leftOut.names)
    findings.damage(placeOf(judging, id), {
      problem: `The row ${id} of the table config_name is missing.`,
      effect: 'The server cannot start while an item has no name.',
      leavesOut: 'The item and its history are left out.',
    })
}

/** An old page outside of all trees may have another number of the same name. */
function forgetRepeatedNames({ names }: Inventory): void {
  const seen = new Set<string>()
  for (const [id, name] of names) {
    const text = JSON.stringify(name)
    if (seen.has(text)) names.delete(id)
    seen.add(text)
  }
}

function judgeHistory(judging: Judging): void {
  const { inventory, findings, leftOut } = judging
  for (const note of inventory.revisions.all()) {
    if (note.op === 'I' || note.hidden) continue
    if (leftOut.names.has(note.nameId) || leftOut.versions.has(note.id)) continue
    const source = inventory.revisions.find(note.prevId)
    if (source?.hasContent === true && source.nameId === note.nameId) continue
    leftOut.hidden.add(note.id)
    findings.damage(`history of the ${placeOf(judging, note.nameId)}`, {
      problem: `The record ${note.id} answers the content of the version ${note.prevId}, which is missing.`,
      effect: 'The record is on the list but cannot be shown.',
      leavesOut: 'The record is left out.',
    })
  }
}

/** Compares the rows of instances with their totals; a row that was reported as broken is missing from them too. */
function judgeTotals({ inventory, findings }: Judging): void {
  const { found, stored = NO_INSTANCES } = inventory.instanceTotals
  if (isSame(found, stored) || inventory.brokenTables.has('instance')) return
  const effect = `The server does not start. ${EFFECTS.instance}`
  const leavesOut = 'What is missing is left out, and cannot be named.'
  const problem =
    inventory.instanceTotals.stored === undefined
      ? 'What tells whether all rows are there is missing in the table meta.'
      : `${stored.rows} rows were written, ${found.rows} are there, and they are not the same.`
  findings.damage('waypost.db, table instance', { problem, effect, leavesOut })
}

function judgeInstances({ inventory, findings, leftOut }: Judging): void {
  for (const [serial, { serviceSerial, ephemeral, address }] of inventory.instances) {
    if (inventory.services.has(serviceSerial)) continue
    const place = `instance ${address}, row ${serial} of the table instance`
    const problem = `Its service, row ${serviceSerial} of the table service, is not there.`
    const effect = 'The next start of the server removes it.'
    // Written behind, an ephemeral instance may outlive its service in the file.
    if (ephemeral && !inventory.brokenTables.has('service')) findings.note(place, { problem, effect })
    else {
      leftOut.instances.add(serial)
      findings.damage(place, { problem, effect, leavesOut: 'The instance is left out.' })
    }
  }
}
