import type { NameText } from '../rows/messages.ts'
import type { Findings } from '../../finding.ts'
import type { Inventory } from './inventory.ts'
import type { RevisionNote } from './revision-index.ts'
import type { RowSource } from './store-rows.ts'

/** What a repair does besides copying every sound row. */
export interface RepairPlan {
  /** Names whose rows are lost and that the index still has. */
  readonly namesFromIndex: Map<number, NameText>
  /** Numbers of names that are lost: rows of all tables with them are left out. */
  readonly namelessIds: Set<number>
  /** Items that get another version than the last one, or have no row; undefined: the row is left out. */
  readonly items: Map<number, RevisionNote | undefined>
  /** Names of items whose row belongs to an older item of the same name: the row is created again. */
  readonly staleRows: Set<number>
  /** The last version of items that stay deleted although the record of the deletion is lost. */
  readonly deletions: Map<number, RevisionNote>
  /** Records that history no longer shows because their content is lost. */
  readonly hidden: Set<number>
  /** Instances that are left out because their service is lost. */
  readonly instances: Set<number>
}

/** What is judged, and the results. */
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

/** The name of an item for messages. */
export function placeOf({ inventory, plan }: Judging, nameId: number): string {
  const name = inventory.names.get(nameId) ?? plan.namesFromIndex.get(nameId)
  return name === undefined ? `with the number ${nameId}` : nameOf(name)
}

/** The name of an item for messages. */
export function nameOf([namespaceId, group, dataId]: NameText): string {
  return `${namespaceId}/${group}/${dataId}`
}
