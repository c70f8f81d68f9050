import type { NameText } from '../messages.ts'
import type { Findings } from './finding.ts'
import type { Inventory } from './inventory.ts'
import type { RevisionNote } from './revision-index.ts'
import type { StoreRows } from './store-rows.ts'

/** What a repair does besides copying every sound row. */
export interface RepairPlan {
  /** Names that were read from the index, their own rows being lost. */
  readonly namesFromIndex: Map<number, NameText>
  /** Names whose rows of all tables are left out: nobody knows what they are called. */
  readonly namelessIds: Set<number>
  /** Items that get another revision than their row says, or have no row; undefined: the row is left out. */
  readonly items: Map<number, RevisionNote | undefined>
  /** Names of items that stay deleted though the record of the deletion is lost: by the version that they had last. */
  readonly deletions: Map<number, RevisionNote>
  /** Records that history no longer shows: the content that they answer is lost. */
  readonly hidden: Set<number>
  /** Instances that are left out: their service is gone. */
  readonly instances: Set<number>
}

/** Compares what rows of different tables say of each other; says what does not fit, and how a repair would mend it. */
export function judgeReferences(rows: StoreRows, inventory: Inventory, findings: Findings): RepairPlan {
  const plan: RepairPlan = {
    namesFromIndex: new Map(),
    namelessIds: new Set(),
    items: new Map(),
    deletions: new Map(),
    hidden: new Set(),
    instances: new Set(),
  }
  const newest = newestByName(inventory)
  judgeNames({ rows, inventory, findings, plan }, new Set([...newest.keys(), ...inventory.items.keys()]))
  judgeItems({ rows, inventory, findings, plan }, newest)
  judgeBareNames(inventory, findings, newest)
  judgeHistory({ rows, inventory, findings, plan })
  judgeInstances({ rows, inventory, findings, plan })
  return plan
}

interface Judging {
  readonly rows: StoreRows
  readonly inventory: Inventory
  readonly findings: Findings
  readonly plan: RepairPlan
}

/** The newest revision of each name, and the newest one that has a content. */
interface Newest {
  readonly revision: RevisionNote
  readonly withContent: RevisionNote | undefined
}

function newestByName({ revisions }: Inventory): Map<number, Newest> {
  const newest = new Map<number, Newest>()
  for (const note of revisions.all()) {
    const known = newest.get(note.nameId)
    const isNewer = known === undefined || note.id > known.revision.id
    const before = known?.withContent
    const hasNewer = note.hasContent && note.id > (before?.id ?? 0)
    if (!isNewer && !hasNewer) continue
    newest.set(note.nameId, {
      revision: isNewer ? note : known.revision,
      withContent: hasNewer ? note : before,
    })
  }
  return newest
}

function judgeNames({ rows, inventory, findings, plan }: Judging, used: ReadonlySet<number>): void {
  const missing = new Set([...used].filter((id) => !inventory.names.has(id)))
  if (missing.size === 0) return
  const known = new Set([...inventory.names.values()].map((name) => name.join('\u0002')))
  for (const { id, name } of rows.namesInIndex()) {
    if (missing.delete(id) && !known.has(name.join('\u0002'))) plan.namesFromIndex.set(id, name)
  }
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

function judgeItems(judging: Judging, newest: ReadonlyMap<number, Newest>): void {
  const { inventory, findings, plan } = judging
  for (const nameId of new Set([...inventory.items.keys(), ...newest.keys()])) {
    if (plan.namelessIds.has(nameId)) continue
    const problem = problemOfItem(inventory, nameId, newest.get(nameId))
    if (problem === undefined) continue
    const target = targetOf(inventory, nameId, newest.get(nameId))
    plan.items.set(nameId, target)
    const last = newest.get(nameId)
    if (target === undefined && last?.withContent !== undefined && last.revision.op !== 'D')
      plan.deletions.set(nameId, last.withContent)
    findings.damage(`item ${placeOf(judging, nameId)}`, {
      ...problem,
      remedy: remedyOf(inventory, nameId, target),
    })
  }
}

/** What is wrong with an item: its row and the newest record of its history must speak of the same version. */
function problemOfItem(
  { items, revisions }: Inventory,
  nameId: number,
  newest: Newest | undefined,
): { problem: string; effect: string } | undefined {
  const item = items.get(nameId)
  const last = newest?.revision
  if (item === undefined) {
    if (last === undefined || last.op === 'D') return undefined
    return {
      problem: `Its history ends with the version ${last.id}, but the table config_item has no row of it.`,
      effect: 'Clients are told that the item does not exist.',
    }
  }
  const current = revisions.find(item.revisionId)
  if (current === undefined || current.nameId !== nameId || !current.hasContent) {
    return {
      problem: `Its current version ${item.revisionId} is ${current === undefined ? 'missing' : 'not one of its own'}.`,
      effect: 'The server cannot start while an item has no content.',
    }
  }
  if (last !== undefined && last.id > current.id) {
    return {
      problem: `It stands at the version ${current.id}, but its history goes on to the record ${last.id}.`,
      effect: 'Clients read an older version than the newest one.',
    }
  }
  return undefined
}

/**
 * The version that an item gets. An item without a row was deleted where only the history is damaged (the record of
 * the deletion is what is lost); else its row was lost and it is made anew.
 */
function targetOf(
  { items, brokenTables }: Inventory,
  nameId: number,
  newest: Newest | undefined,
): RevisionNote | undefined {
  if (newest === undefined || newest.revision.op === 'D') return undefined
  const deletionLost = brokenTables.has('config_revision') && !brokenTables.has('config_item')
  if (!items.has(nameId) && deletionLost) return undefined
  return newest.withContent
}

function remedyOf({ items }: Inventory, nameId: number, target: RevisionNote | undefined): string {
  if (target === undefined)
    return items.has(nameId) ? 'The item is lost.' : 'It stays deleted; its history gets a record of that.'
  if (!items.has(nameId))
    return `It is made anew with the version ${target.id}; description and tags are lost.`
  return `It falls back to its newest sound version, ${target.id}.`
}

/** A name with nothing under it is what cleaning may leave; where rows of items and versions are lost it had some. */
function judgeBareNames(
  { names, items, brokenTables }: Inventory,
  findings: Findings,
  newest: ReadonlyMap<number, Newest>,
): void {
  if (!brokenTables.has('config_item') || !brokenTables.has('config_revision')) return
  for (const [id, name] of names) {
    if (items.has(id) || newest.has(id)) continue
    findings.damage(`item ${nameOf(name)}`, {
      problem: 'Only its name is left: its row and all of its versions are missing.',
      effect: 'The item is gone, unless it was deleted before.',
      remedy: 'The item is lost.',
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

function judgeInstances({ inventory, findings, plan }: Judging): void {
  for (const { serial, serviceSerial, ephemeral, address } of inventory.instances) {
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

function placeOf({ inventory, plan }: Judging, nameId: number): string {
  const name = inventory.names.get(nameId) ?? plan.namesFromIndex.get(nameId)
  return name === undefined ? `with the number ${nameId}` : nameOf(name)
}

function nameOf([namespaceId, group, dataId]: NameText): string {
  return `${namespaceId}/${group}/${dataId}`
}
