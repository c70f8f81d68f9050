import { addressText, type Metadata } from './instance.ts'
import type { Place } from './presence.ts'
import { serviceKeyText } from './service.ts'

/** The keys that operators wrote over the metadata of an address, for all addresses (interface.md, state rule 3). */
export class RememberedMetadata {
  readonly #all = new Map<string, Metadata>()

  get size(): number {
    return this.#all.size
  }

  get(place: Place): Metadata | undefined {
    return this.#all.size === 0 ? undefined : this.#all.get(textOf(place))
  }

  /** Replaces what is remembered. An empty set is forgotten. */
  set(place: Place, metadata: Metadata): void {
    if (Object.keys(metadata).length === 0) this.#all.delete(textOf(place))
    else this.#all.set(textOf(place), metadata)
  }
}

function textOf({ serviceKey, address }: Place): string {
  return `${serviceKeyText(serviceKey)}\u0002${addressText(address)}`
}
