import { NO_ITEM } from '../rows/config-rows.ts'
import { type CurrentVersion, VersionSums } from '../rows/current-versions.ts'
import type { Inventory } from './inventory.ts'
import type { RevisionNote } from './revision-index.ts'
import type { RowSource } from './store-rows.ts'

/** The newest sound revision of each name, by the number of the name. */
export type Newest = ReadonlyMap<number, RevisionNote>

/** The newest sound revision of every name. */
export function newestByName({ revisions }: Inventory): Newest {
  const newest = new Map<number, RevisionNote>()
  for (const note of revisions.all())
    if (note.id > (newest.get(note.nameId)?.id ?? 0)) newest.set(note.nameId, note)
  return newest
}

/** The missing current versions of items. */
export interface MissingVersions {
  /** The missing version of an item, newer than all versions left, by the name's number. */
  readonly known: ReadonlyMap<number, number>
  /** The names of items that may have lost a newer version. */
  readonly suspected: readonly number[]
  /** Whether more is missing than `known` and lost rows of items explain. */
  readonly more: boolean
}

const NOTHING: MissingVersions = { known: new Map(), suspected: [], more: false }

/**
 * The items that have lost their newest versions: then the sums differ. Rows of items and the index name lost versions, which
 * are later than the versions left. The sums find one more.
 */
export function missingVersions(rows: RowSource, inventory: Inventory, newest: Newest): MissingVersions {
  const expected = inventory.versionSums
  const left = leftVersions(inventory, newest)
  if (expected?.equals(sumsOf(left))) return NOTHING
  const indexed = new Map([...left.keys()].map((nameId) => [nameId, rows.newestInIndex(nameId)]))
  const known = pointedTo(inventory, newest)
  for (const [nameId, id] of indexed) {
    if (id > Math.max(known.get(nameId) ?? 0, lastOf(newest, nameId))) known.set(nameId, id)
  }
  if (isExplained({ inventory, newest }, left, known)) return { ...NOTHING, known }
  const suspected = [...left].filter(([nameId, id]) => !known.has(nameId) && (indexed.get(nameId) ?? 0) < id)
  return { known, suspected: suspected.map(([nameId]) => nameId), more: true }
}

/** The newest version left of each item with a row; 0 without a version. */
function leftVersions({ items }: Inventory, newest: Newest): Map<number, number> {
  const versionOf = (nameId: number) => {
    const revision = newest.get(nameId)
    return revision === undefined || revision.op === 'D' ? 0 : revision.id
  }
  return new Map([...items.keys()].map((nameId) => [nameId, versionOf(nameId)]))
}

/** Missing versions that rows of items were written with. */
function pointedTo({ items }: Inventory, newest: Newest): Map<number, number> {
  const lost = [...items].filter(([nameId, { revisionId }]) => revisionId > lastOf(newest, nameId))
  return new Map(lost.map(([nameId, { revisionId }]) => [nameId, revisionId]))
}

/** The id of the newest revision left of a name, deletions included; 0 without a revision. */
function lastOf(newest: Newest, nameId: number): number {
  return newest.get(nameId)?.id ?? 0
}

/**
 * Whether the versions left, the known missing versions, and the items that lost only their row explain the sums. If one
 * more missing version explains them, it is added to `known`.
 */
function isExplained(
  { inventory, newest }: { inventory: Inventory; newest: Newest },
  left: ReadonlyMap<number, number>,
  known: Map<number, number>,
): boolean {
  const expected = inventory.versionSums
  if (expected === undefined) return false
  const versions = new Map([...left, ...known])
  const found = sumsOf(versions)
  if (expected.equals(found)) return true
  const one = expected.oneLater(asItems(versions))
  if (one !== undefined && inventory.revisions.find(one.revisionId) === undefined) {
    known.set(one.nameId, one.revisionId)
    return true
  }
  for (const [nameId, revision] of newest) {
    if (!inventory.items.has(nameId) && revision.op !== 'D' && revision.itemId !== NO_ITEM)
      found.move(nameId, 0, revision.id)
  }
  return expected.equals(found)
}

function sumsOf(versions: ReadonlyMap<number, number>): VersionSums {
  return VersionSums.of(asItems(versions))
}

function asItems(versions: ReadonlyMap<number, number>): CurrentVersion[] {
  return [...versions].map(([nameId, revisionId]) => ({ nameId, revisionId }))
}
