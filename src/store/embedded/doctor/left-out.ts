import type { Findings } from '../../finding.ts'
import type { NameText } from '../rows/messages.ts'
import type { Inventory } from './inventory.ts'
import type { RowSource } from './store-rows.ts'

/** The sound rows that break a rule between rows: a salvage leaves them out. */
export interface RowsLeftOut {
  /** Numbers of names that are missing: rows of all tables with them are left out. */
  readonly names: Set<number>
  /** Items whose row is left out, by the number of the name. */
  readonly items: Set<number>
  /** Versions without their item, by id. */
  readonly versions: Set<number>
  /** Versions that history no longer shows, because the content that they answer is missing. */
  readonly hidden: Set<number>
  /** Instances whose service is missing, by serial. */
  readonly instances: Set<number>
  /** The newest sound version of items that have lost a newer one, by the number of the name. */
  readonly current: Map<number, number>
}

/** The data to judge, and the results. */
export interface Judging {
  readonly rows: RowSource
  readonly inventory: Inventory
  readonly findings: Findings
  readonly leftOut: RowsLeftOut
  /** Names that only the index still has. They have no checksum, so they are used in messages only. */
  readonly namesInIndex: Map<number, NameText>
}

/** No row is left out. */
export function nothingLeftOut(): RowsLeftOut {
  return {
    names: new Set(),
    items: new Set(),
    versions: new Set(),
    hidden: new Set(),
    instances: new Set(),
    current: new Map(),
  }
}

/** The name of an item for messages. */
export function placeOf({ inventory, namesInIndex }: Judging, nameId: number): string {
  const name = inventory.names.get(nameId) ?? namesInIndex.get(nameId)
  return name === undefined ? `item with the number ${nameId}` : `item ${name.join('/')}`
}
