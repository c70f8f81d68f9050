import { missingVersions, type MissingVersions, type Newest } from './newest-versions.ts'
import type { Inventory } from './inventory.ts'
import { nameOf, placeOf, type Judging } from './repair-plan.ts'
import type { RevisionNote } from './revision-index.ts'
import { NO_ITEM } from '../rows/config-rows.ts'

/** Compares the row of each item with its versions that are left. Adds to the findings and the plan. */
export function judgeItems(judging: Judging, newest: ReadonlyMap<number, Newest>): void {
  const { rows, inventory, findings, plan } = judging
  const missing = missingVersions(rows, inventory, newest)
  for (const nameId of new Set([...inventory.items.keys(), ...newest.keys()])) {
    if (plan.namelessIds.has(nameId)) continue
    const last = newest.get(nameId)
    const problem = problemOfItem(inventory, nameId, {
      last: last?.revision,
      lost: missing.known.get(nameId),
    })
    if (problem === undefined) continue
    const target = planItem(judging, nameId, last)
    findings.damage(`item ${placeOf(judging, nameId)}`, {
      ...problem,
      remedy: remedyOf(judging, nameId, target),
    })
  }
  judgeSums(judging, missing)
  judgeBareNames(judging, newest)
}

interface Versions {
  /** The newest sound version. */
  readonly last: RevisionNote | undefined
  /** A newer version that is missing. */
  readonly lost: number | undefined
}

/** What is wrong with an item; undefined if its row and its newest history record fit. */
function problemOfItem(
  { items }: Inventory,
  nameId: number,
  { last, lost }: Versions,
): { problem: string; effect: string } | undefined {
  const item = items.get(nameId)
  if (item === undefined) {
    if (last === undefined || last.op === 'D' || last.itemId === NO_ITEM) return undefined
    return {
      problem: `Its history ends with the version ${last.id}, but the table config_item has no row of it.`,
      effect: 'Clients get a 404 for the item, or the server does not start.',
    }
  }
  if (lost !== undefined || last === undefined) {
    return {
      problem: `Its current version ${lost ?? item.revisionId} is missing.`,
      effect: 'The server cannot start while an item has no content, or only an older one.',
    }
  }
  if (last.op === 'D') {
    return {
      problem: `It has a row, but its history ends with its deletion, the record ${last.id}.`,
      effect: 'The server does not start.',
    }
  }
  if (last.hasContent && last.itemId === item.itemId) return undefined
  return {
    problem: `Its current version ${last.id} ${last.hasContent ? 'is not one of its own' : 'has no content'}.`,
    effect: 'The server does not start.',
  }
}

/** Adds to the plan which version an item gets. */
function planItem({ inventory, plan }: Judging, nameId: number, last: Newest | undefined) {
  const target = targetOf(inventory, nameId, last)
  plan.items.set(nameId, target)
  if (target === undefined && last?.withContent !== undefined && last.revision.op !== 'D')
    plan.deletions.set(nameId, last.withContent)
  const itemId = inventory.items.get(nameId)?.itemId
  if (target !== undefined && itemId !== undefined && itemId !== target.itemId) plan.staleRows.add(nameId)
  return target
}

/**
 * The version that an item gets; undefined: none. If only the history is damaged, an item without a row was deleted, and
 * the record of that is lost. Otherwise its row is lost, and it is created again.
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

function remedyOf({ inventory, plan }: Judging, nameId: number, target: RevisionNote | undefined): string {
  if (target === undefined)
    return inventory.items.has(nameId)
      ? 'The item is lost.'
      : 'It stays deleted; its history gets a record of that.'
  if (!inventory.items.has(nameId) || plan.staleRows.has(nameId))
    return `It is rebuilt with the version ${target.id}; description and tags are lost.`
  return `It falls back to its newest sound version, ${target.id}.`
}

/** Reports missing sums, and losses that the sums show but nothing names. */
function judgeSums(judging: Judging, { more, suspected }: MissingVersions): void {
  const { inventory, findings } = judging
  if (inventory.versionSums === undefined)
    findings.damage('waypost.db, table meta, row current_versions', {
      problem: 'What tells whether every item has its newest version is missing.',
      effect: 'The server does not start.',
      remedy: 'It is rebuilt from the existing versions.',
    })
  else if (more)
    findings.damage('waypost.db, tables config_item and config_revision', {
      problem:
        'The newest versions of the items are not those that were written last, and what is missing cannot all be named.',
      effect: 'The server does not start. Items may be gone, or have an older content than they had.',
      remedy: 'Every item gets its newest version that is left.',
    })
  for (const nameId of suspected) {
    findings.damage(`item ${placeOf(judging, nameId)}`, {
      problem:
        'Whether it had a newer version than those that are left is not known: the index has lost it as well.',
      effect: 'It may have an older content than it had.',
      remedy: 'It gets its newest sound version.',
    })
  }
}

/** Cleaning leaves names without an item. If rows of items and of versions are broken, such a name may have had one. */
function judgeBareNames({ inventory, findings }: Judging, newest: ReadonlyMap<number, Newest>): void {
  const { names, items, brokenTables } = inventory
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
