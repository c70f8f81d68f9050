import { itemName, type PlanThing } from '../plan/plan.ts'
import { ShapeError } from '../core/records/shape.ts'

/**
 * The order of history in a plan: the records of an item by their old ids, and then the item (docs/move-plan.md, "Order"). A
 * server would silently leave out records in another order: it takes them for records that it has already.
 */
export class HistoryOrder {
  readonly #items = new Set<string>()
  readonly #newest = new Map<string, bigint>()

  /** Throws ShapeError for a record that comes too late. `number`: of the line. */
  check(number: number, line: PlanThing): void {
    if (line.kind === 'config') this.#items.add(itemName(line))
    if (line.kind !== 'history') return
    const name = itemName(line)
    if (this.#items.has(name))
      throw new ShapeError(
        `line ${number} of the plan: a history record of ${name} comes after the item; put the records before it`,
      )
    const id = BigInt(line.oldId)
    const newest = this.#newest.get(name)
    if (newest !== undefined && id < newest)
      throw new ShapeError(
        `line ${number} of the plan: the history record ${id} of ${name} comes after that with the id ${newest}; put them in the order of their ids`,
      )
    this.#newest.set(name, id)
  }
}
