import { itemName, type PlanItem, type PlanNote } from '../../plan/plan.ts'
import { isEncrypted } from '../checks/content-lines.ts'
import type { Dialect, ListedItem } from '../old/dialect.ts'
import { inOrder, orNote } from '../old/in-order.ts'
import { listItems } from '../old/item-lists.ts'

/** An item that a server lists. */
interface Listed {
  readonly item: PlanItem
  /** Its possible md5s; empty: the list has none. Two if the server has the item in `public` and without a namespace. */
  readonly md5s: readonly string[]
}

/** The items that a server lists, and their md5s. */
export class ListedItems {
  readonly #byName = new Map<string, Listed>()
  /** Namespaces whose lists could not be read whole. */
  readonly #failed = new Set<string>()

  /** How many there are. */
  get size(): number {
    return this.#byName.size
  }

  /** Reads the list of a namespace. Resolves with a note if that failed. */
  async read(dialect: Dialect, namespace: string): Promise<PlanNote | undefined> {
    const unsure: PlanItem[] = []
    const note = await listItems(dialect, namespace, (listed) => {
      const item = { namespace: spaceOf(namespace), group: listed.group, dataId: listed.dataId }
      // A database may have rows without names, which cannot be read by name.
      if (item.group === '' || item.dataId === '') return
      this.#add(item, listed)
      if (listed.md5 === null && isEncrypted(listed.dataId)) unsure.push(item)
    })
    if (note !== undefined) this.#failed.add(spaceOf(namespace))
    await this.#askMd5s(dialect, unsure)
    return note
  }

  /** Lists of 1.x and 2.x have no md5 of an item that a plugin may have encrypted. */
  async #askMd5s(dialect: Dialect, items: readonly PlanItem[]): Promise<void> {
    const read = inOrder(items, async (item) => {
      const config = await orNote('config', itemName(item), () => dialect.config(item))
      return { item, md5: config?.kind === 'config' ? config.md5 : null }
    })
    for await (const { item, md5 } of read) this.#add(item, { md5 })
  }

  #add(item: PlanItem, { md5 }: Pick<ListedItem, 'md5'>): void {
    const name = itemName(item)
    const before = this.#byName.get(name)?.md5s ?? []
    this.#byName.set(name, { item, md5s: md5 === null ? before : [...before, md5] })
  }

  has(name: string): boolean {
    return this.#byName.has(name)
  }

  /** Takes an item out; undefined: it was not listed. */
  take(name: string): Listed | undefined {
    const listed = this.#byName.get(name)
    this.#byName.delete(name)
    return listed
  }

  /** The items that were not taken out. */
  left(): PlanItem[] {
    return [...this.#byName.values()].map(({ item }) => item)
  }

  /** Whether the server lists all that it has in a namespace. */
  isWhole(namespace: string): boolean {
    return !this.#failed.has(spaceOf(namespace))
  }
}

function spaceOf(namespace: string): string {
  return namespace === 'public' ? '' : namespace
}
