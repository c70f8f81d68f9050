import type { ConfigKey } from './config-item.ts'
import type { GrayItem } from './gray-version.ts'

/** The items with gray versions of one namespace, by the text of their keys. */
interface GrayNamespace {
  readonly all: Map<string, GrayItem>
  /** The items without a formal version. */
  readonly only: Map<string, GrayItem>
}

const NOTHING: readonly GrayItem[] = []

/**
 * All items with gray versions, by namespace, and the ones without a formal version. So a list of one namespace does
 * not visit the others. Written by State alone.
 */
export class GrayTable {
  readonly #byNamespace = new Map<string, GrayNamespace>()

  /** The namespaces that have such items, in no particular order. */
  namespaces(): Iterable<string> {
    return this.#byNamespace.keys()
  }

  /** The items of a namespace with gray versions, in the order in which they got their first one. */
  inNamespace(namespaceId: string): Iterable<GrayItem> {
    return this.#byNamespace.get(namespaceId)?.all.values() ?? NOTHING
  }

  /** The items of a namespace that have gray versions and no formal one, in no particular order. */
  onlyGray(namespaceId: string): Iterable<GrayItem> {
    return this.#byNamespace.get(namespaceId)?.only.values() ?? NOTHING
  }

  /** `isFormal`: whether the item has a formal version, too. */
  set(item: GrayItem, isFormal: boolean): void {
    const { namespaceId, text } = item.key
    const { all, only } = this.#madeOf(namespaceId)
    all.set(text, item)
    if (isFormal) only.delete(text)
    else only.set(text, item)
  }

  delete({ namespaceId, text }: ConfigKey): void {
    const items = this.#byNamespace.get(namespaceId)
    items?.all.delete(text)
    items?.only.delete(text)
    if (items?.all.size === 0) this.#byNamespace.delete(namespaceId)
  }

  /** The item of this key has a formal version from now on, or none. */
  setFormal({ namespaceId, text }: ConfigKey, isFormal: boolean): void {
    const item = this.#byNamespace.get(namespaceId)?.all.get(text)
    if (item !== undefined) this.set(item, isFormal)
  }

  #madeOf(namespaceId: string): GrayNamespace {
    const there = this.#byNamespace.get(namespaceId)
    if (there !== undefined) return there
    const made = { all: new Map<string, GrayItem>(), only: new Map<string, GrayItem>() }
    this.#byNamespace.set(namespaceId, made)
    return made
  }
}
