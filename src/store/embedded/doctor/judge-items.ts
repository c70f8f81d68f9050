import { missingVersions, type MissingVersions, type Newest } from './newest-versions.ts'
import type { Inventory } from './inventory.ts'
import { placeOf, type Judging } from './left-out.ts'
import type { RevisionNote } from './revision-index.ts'
import { NO_ITEM } from '../rows/config-rows.ts'

/** Compares the row of each item with its versions. Adds to the findings and to `leftOut`. */
export function judgeItems(judging: Judging, newest: Newest): void {
  const { rows, inventory, findings, leftOut } = judging
  const missing = missingVersions(rows, inventory, newest)
  const problems = new Map<number, Problem>()
  for (const nameId of new Set([...inventory.items.keys(), ...newest.keys()])) {
    if (leftOut.names.has(nameId)) continue
    const versions = { last: newest.get(nameId), lost: missing.known.get(nameId) }
    const problem = problemOfItem(inventory, nameId, versions)
    if (problem !== undefined) problems.set(nameId, problem)
  }
  const versions = versionsOf(problems, inventory)
  for (const [nameId, problem] of problems) {
    const leavesOut = leaveOut(judging, nameId, versions.get(nameId) ?? [])
    findings.damage(placeOf(judging, nameId), { ...problem, leavesOut })
  }
  judgeSums(judging, missing)
  judgeBareNames(judging, newest)
}

interface Problem {
  readonly problem: string
  readonly effect: string
}

interface Versions {
  /** The newest sound version. */
  readonly last: RevisionNote | undefined
  /** A newer version that is missing. */
  readonly lost: number | undefined
}

/** The problem of an item; undefined if its row and its newest history record fit. */
function problemOfItem({ items }: Inventory, nameId: number, { last, lost }: Versions): Problem | undefined {
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

/** The versions of some items, newest first. */
function versionsOf(
  items: ReadonlyMap<number, unknown>,
  { revisions }: Inventory,
): ReadonlyMap<number, RevisionNote[]> {
  const versions = new Map([...items.keys()].map((nameId) => [nameId, [] as RevisionNote[]]))
  if (items.size > 0) for (const note of revisions.all()) versions.get(note.nameId)?.push(note)
  for (const all of versions.values()) all.sort((a, b) => b.id - a.id)
  return versions
}

/**
 * Leaves out the versions newer than the newest sound version of the item, or than its deletion. Also leaves out the row of an
 * item without a version. Returns the text for the finding.
 */
function leaveOut({ inventory, leftOut }: Judging, nameId: number, versions: RevisionNote[]): string {
  const item = inventory.items.get(nameId)
  const isLast = ({ op, itemId, hasContent }: RevisionNote): boolean =>
    op === 'D' || (hasContent && itemId === (item?.itemId ?? NO_ITEM))
  const kept = versions.find(isLast)
  for (const { id } of versions) if (id > (kept?.id ?? 0)) leftOut.versions.add(id)
  if (item === undefined) return 'Its versions are left out.'
  if (kept === undefined || kept.op === 'D') {
    leftOut.items.add(nameId)
    return 'The item is left out.'
  }
  leftOut.current.set(nameId, kept.id)
  return `It gets its newest sound version, ${kept.id}.`
}

/** Reports missing sums, and losses that the sums show but nothing names. */
function judgeSums(judging: Judging, { more, suspected }: MissingVersions): void {
  const { inventory, findings } = judging
  if (inventory.versionSums === undefined)
    findings.damage('waypost.db, table meta, row current_versions', {
      problem: 'What tells whether every item has its newest version is missing.',
      effect: 'The server does not start.',
    })
  else if (more)
    findings.damage('waypost.db, tables config_item and config_revision', {
      problem:
        'The newest versions of the items are not those that were written last, and what is missing cannot all be named.',
      effect: 'The server does not start. Items may be gone, or have an older content than they had.',
      leavesOut: 'Every item gets its newest version that is left.',
    })
  for (const nameId of suspected) {
    findings.damage(placeOf(judging, nameId), {
      problem:
        'Whether it had a newer version than those that are left is not known: the index has lost it as well.',
      effect: 'It may have an older content than it had.',
      leavesOut: 'It gets its newest sound version.',
    })
  }
}

/** Cleaning leaves names without an item. If rows of items and of versions are broken, the name may have had an item. */
function judgeBareNames({ inventory, findings }: Judging, newest: Newest): void {
  const { names, items, brokenTables } = inventory
  if (!brokenTables.has('config_item') || !brokenTables.has('config_revision')) return
  for (const [id, name] of names) {
    if (items.has(id) || newest.has(id)) continue
    findings.damage(`item ${name.join('/')}`, {
      problem: 'Only its name is left: its row and all of its versions are missing.',
      effect: 'The item is gone, unless it was deleted before.',
      leavesOut: 'The item is left out.',
    })
  }
}
