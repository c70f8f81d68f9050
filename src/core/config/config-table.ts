import type { ConfigItem, ConfigKey } from './config-item.ts'

/** All current configuration items, by key, by id and by namespace. Written by State alone. */
export class ConfigTable {
  readonly #byKey = new Map<string, ConfigItem>()
  readonly #byId = new Map<number, ConfigItem>()
  readonly #byNamespace = new Map<string, Set<string>>()
  #contentBytes = 0

  /** How many items there are. */
  get size(): number {
    return this.#byKey.size
  }

  /** How many bytes all contents take together. */
  get contentBytes(): number {
    return this.#contentBytes
  }

  get(key: ConfigKey): ConfigItem | undefined {
    return this.#byKey.get(key.text)
  }

  /** The item whose own id this is. */
  getById(id: number): ConfigItem | undefined {
    return this.#byId.get(id)
  }

  /** The items of a namespace, oldest first. */
  *inNamespace(namespaceId: string): Generator<ConfigItem> {
    for (const keyText of this.#byNamespace.get(namespaceId) ?? []) {
      const item = this.#byKey.get(keyText)
      if (item !== undefined) yield item
    }
  }

  /** How many items a namespace holds. */
  countIn(namespaceId: string): number {
    return this.#byNamespace.get(namespaceId)?.size ?? 0
  }

  set(item: ConfigItem): void {
    const { namespaceId, text: keyText } = item.key
    const replaced = this.#byKey.get(keyText)
    this.#contentBytes += item.content.length - (replaced?.content.length ?? 0)
    this.#byKey.set(keyText, item)
    this.#byId.set(item.origin.id, item)
    if (replaced !== undefined) return
    const members = this.#byNamespace.get(namespaceId)
    if (members === undefined) this.#byNamespace.set(namespaceId, new Set([keyText]))
    else members.add(keyText)
  }

  delete(key: ConfigKey): void {
    const keyText = key.text
    const item = this.#byKey.get(keyText)
    if (item === undefined) return
    this.#byKey.delete(keyText)
    this.#contentBytes -= item.content.length
    this.#byId.delete(item.origin.id)
    const members = this.#byNamespace.get(key.namespaceId)
    members?.delete(keyText)
    if (members?.size === 0) this.#byNamespace.delete(key.namespaceId)
  }
}
