import type { PlanConfig, PlanHistory, PlanItem, PlanLine, PlanNamespace } from '../../plan/plan.ts'
import { type Access, accessLines } from '../checks/access-lines.ts'
import type { PlanReading } from '../reading.ts'

/** The known facts about the items of a database before they are read. */
export interface KnownRows {
  /** The ids of namespaces as they have them. */
  readonly spaces: readonly string[]
  /** The oldest items. */
  readonly oldest: readonly PlanItem[]
}

/**
 * The data of a server beside its database, which may be an older dump. The reading of the database calls these functions in
 * this order.
 */
export interface ServerBeside {
  /** Reads the lists of the server. */
  begin(database: KnownRows): AsyncIterable<PlanLine>
  /** The lines of namespaces, if the database has these. */
  namespaces(ofDatabase: readonly PlanNamespace[]): Iterable<PlanLine>
  /** The lines of users, roles and permissions, if the database has these. */
  access(ofDatabase: Access): AsyncIterable<PlanLine>
  /** The database has this record, which is in the plan. */
  sawRecord(record: PlanHistory): void
  /** Whether the plan takes the item from the database. */
  takes(config: PlanConfig): boolean
  /** The lines of the items that the plan has as the server has them. */
  items(): AsyncIterable<PlanLine>
  /** Whether they have this item. */
  brought(item: PlanItem): boolean
}

/** A database without a server: everything comes from the database. */
export class NoServerBeside implements ServerBeside {
  readonly #reading: PlanReading

  constructor(reading: PlanReading) {
    this.#reading = reading
  }

  async *begin(): AsyncGenerator<PlanLine> {}

  namespaces(ofDatabase: readonly PlanNamespace[]): Iterable<PlanLine> {
    return ofDatabase
  }

  async *access(ofDatabase: Access): AsyncGenerator<PlanLine> {
    yield* accessLines(ofDatabase, this.#reading.administrators)
  }

  sawRecord(): void {}

  takes(): boolean {
    return true
  }

  async *items(): AsyncGenerator<PlanLine> {}

  brought(): boolean {
    return false
  }
}
