import type { NameText } from '../messages.ts'
import type { Findings } from './finding.ts'
import type { Inventory } from './inventory.ts'
import type { RevisionNote } from './revision-index.ts'
import type { RowSource } from './store-rows.ts'

/** What a repair does besides copying every sound row. */
export interface RepairPlan {
  /** Names that were read from the index, their own rows being lost. */
  readonly namesFromIndex: Map<number, NameText>
  /** Names whose rows of all tables are left out: nobody knows what they are called. */
  readonly namelessIds: Set<number>
  /** Items that get another version than the one written last, or have no row; undefined: the row is left out. */
  readonly items: Map<number, RevisionNote | undefined>
  /** Names of items whose row is that of another item of the same name: it is made anew. */
  readonly staleRows: Set<number>
  /** Names of items that stay deleted though the record of the deletion is lost: by the version that they had last. */
  readonly deletions: Map<number, RevisionNote>
  /** Records that history no longer shows: the content that they answer is lost. */
  readonly hidden: Set<number>
  /** Instances that are left out: their service is gone. */
  readonly instances: Set<number>
}

/** What is judged, and what comes of it. */
export interface Judging {
  readonly rows: RowSource
  readonly inventory: Inventory
  readonly findings: Findings
  readonly plan: RepairPlan
}

/** A plan that changes nothing. */
export function emptyPlan(): RepairPlan {
  return {
    namesFromIndex: new Map(),
    namelessIds: new Set(),
    items: new Map(),
    staleRows: new Set(),
    deletions: new Map(),
    hidden: new Set(),
    instances: new Set(),
  }
}

/** How to call the item of a name. */
export function placeOf({ inventory, plan }: Judging, nameId: number): string {
  const name = inventory.names.get(nameId) ?? plan.namesFromIndex.get(nameId)
  return name === undefined ? `with the number ${nameId}` : nameOf(name)
}

/** How to call an item. */
export function nameOf([namespaceId, group, dataId]: NameText): string {
  return `${namespaceId}/${group}/${dataId}`
}
