import { isSame, NO_INSTANCES } from '../rows/instance-totals.ts'
import type { Findings } from '../../finding.ts'
import { EFFECTS, type Inventory } from './inventory.ts'
import { judgeItems } from './judge-items.ts'
import { newestByName } from './newest-versions.ts'
import { emptyPlan, type Judging, nameOf, placeOf, type RepairPlan } from './repair-plan.ts'
import type { RowSource } from './store-rows.ts'

/** Compares what rows of different tables say of each other; says what does not fit, and how a repair would mend it. */
export function judgeReferences(rows: RowSource, inventory: Inventory, findings: Findings): RepairPlan {
  const judging = { rows, inventory, findings, plan: emptyPlan() }
  const newest = newestByName(inventory)
  judgeNames(judging, new Set([...newest.keys(), ...inventory.items.keys()]))
  judgeItems(judging, newest)
  judgeHistory(judging)
  judgeTotals(judging)
  judgeInstances(judging)
  return judging.plan
}

function judgeNames({ rows, inventory, findings, plan }: Judging, used: ReadonlySet<number>): void {
  const missing = new Set([...used].filter((id) => !inventory.names.has(id)))
  if (missing.size === 0) return
  const known = new Set([...inventory.names.values()].map((name) => name.join('\u0002')))
  for (const { id, name } of rows.namesInIndex(inventory.names)) {
    if (missing.has(id) && !known.has(name.join('\u0002'))) plan.namesFromIndex.set(id, name)
  }
  for (const id of plan.namesFromIndex.keys()) missing.delete(id)
  for (const id of missing) plan.namelessIds.add(id)
  for (const [id, name] of plan.namesFromIndex) {
    findings.damage(`item ${nameOf(name)}`, {
      problem: `The row ${id} of the table config_name is missing.`,
      effect: 'The server cannot start while an item has no name.',
      remedy: 'The name is taken from the index.',
    })
  }
  for (const id of missing) {
    findings.damage(`item with the number ${id}`, {
      problem: 'Its row of the table config_name is missing, and the index does not have its name either.',
      effect: 'Nobody knows what this item is called.',
      remedy: 'The item and its history are lost.',
    })
  }
}

function judgeHistory(judging: Judging): void {
  const { inventory, findings, plan } = judging
  for (const note of inventory.revisions.all()) {
    if (note.op === 'I' || note.hidden || plan.namelessIds.has(note.nameId)) continue
    const source = inventory.revisions.find(note.prevId)
    if (source?.hasContent === true && source.nameId === note.nameId) continue
    plan.hidden.add(note.id)
    findings.damage(`history of the item ${placeOf(judging, note.nameId)}`, {
      problem: `The record ${note.id} answers the content of the version ${note.prevId}, which is missing.`,
      effect: 'The record is on the list but cannot be shown.',
      remedy: 'The record is taken off the list.',
    })
  }
}

/** Compares the rows of instances with their totals; a row that was reported as broken is missing from them too. */
function judgeTotals({ inventory, findings }: Judging): void {
  const { found, stored = NO_INSTANCES } = inventory.instanceTotals
  if (isSame(found, stored) || inventory.brokenTables.has('instance')) return
  const effect = `The server does not start. ${EFFECTS.instance}`
  const remedy = 'The totals are computed from the rows that are left.'
  const problem =
    inventory.instanceTotals.stored === undefined
      ? 'What tells whether all rows are there is missing in the table meta.'
      : `${stored.rows} rows were written, ${found.rows} are there, and they are not the same.`
  findings.damage('waypost.db, table instance', { problem, effect, remedy })
}

function judgeInstances({ inventory, findings, plan }: Judging): void {
  for (const [serial, { serviceSerial, ephemeral, address }] of inventory.instances) {
    if (inventory.services.has(serviceSerial)) continue
    plan.instances.add(serial)
    const place = `instance ${address}, row ${serial} of the table instance`
    const problem = `Its service, row ${serviceSerial} of the table service, is not there.`
    const effect = 'The next start of the server removes it.'
    // Written behind, an ephemeral instance may outlive its service in the file.
    if (ephemeral && !inventory.brokenTables.has('service')) findings.note(place, { problem, effect })
    else findings.damage(place, { problem, effect, remedy: 'The instance is lost.' })
  }
}
