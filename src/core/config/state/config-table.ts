import type { ConfigItem, ConfigKey } from './config-item.ts'

/** All current configuration items, by key, by id and by namespace. Written by State alone. */
export class ConfigTable {
  /** By namespace, then by the text of the key: a search visits one namespace. */
  readonly #byNamespace = new Map<string, Map<string, ConfigItem>>()
  readonly #byId = new Map<number, ConfigItem>()
  #contentBytes = 0

  /** How many items there are. */
  get size(): number {
    return this.#byId.size
  }

  /** The total size of all contents, in bytes. */
  get contentBytes(): number {
    return this.#contentBytes
  }

  get(key: ConfigKey): ConfigItem | undefined {
    return this.#byNamespace.get(key.namespaceId)?.get(key.text)
  }

  getById(id: number): ConfigItem | undefined {
    return this.#byId.get(id)
  }

  /** Every item there is, in no particular order. */
  all(): Iterable<ConfigItem> {
    return this.#byId.values()
  }

  /** The items of a namespace, oldest first. */
  inNamespace(namespaceId: string): Iterable<ConfigItem> {
    return this.#byNamespace.get(namespaceId)?.values() ?? []
  }

  /** The namespaces that hold items, in no particular order. */
  namespaces(): Iterable<string> {
    return this.#byNamespace.keys()
  }

  /** How many items a namespace holds. */
  countIn(namespaceId: string): number {
    return this.#byNamespace.get(namespaceId)?.size ?? 0
  }

  set(item: ConfigItem): void {
    const { namespaceId, text } = item.key
    const items = this.#itemsOf(namespaceId)
    const before = items.get(text)
    this.#contentBytes += item.content.length - (before?.content.length ?? 0)
    // Deleted and created again in one revision: only the outcome arrives here.
    if (before !== undefined && before.origin.id !== item.origin.id) this.#byId.delete(before.origin.id)
    items.set(text, item)
    this.#byId.set(item.origin.id, item)
  }

  delete({ namespaceId, text }: ConfigKey): void {
    const items = this.#byNamespace.get(namespaceId)
    const item = items?.get(text)
    if (items === undefined || item === undefined) return
    items.delete(text)
    if (items.size === 0) this.#byNamespace.delete(namespaceId)
    this.#contentBytes -= item.content.length
    this.#byId.delete(item.origin.id)
  }

  #itemsOf(namespaceId: string): Map<string, ConfigItem> {
    const there = this.#byNamespace.get(namespaceId)
    if (there !== undefined) return there
    const made = new Map<string, ConfigItem>()
    this.#byNamespace.set(namespaceId, made)
    return made
  }
}
