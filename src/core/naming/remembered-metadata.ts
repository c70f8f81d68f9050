import { addressText, type InstanceAddress, type Metadata } from './instance.ts'
import { type ServiceKey, serviceKeyText } from './service.ts'

/** The keys that operators wrote over the metadata of an address, and since when nobody is at it. */
export interface Remembered {
  readonly serviceKey: ServiceKey
  readonly address: InstanceAddress
  metadata: Metadata
  /** Health time since which the instance is away; undefined while it is there. */
  absentSinceMs: number | undefined
}

/**
 * Remembered metadata of all addresses (interface.md, state rule 3). Those whose instance is away stand in
 * the order in which it left, so that finding the expired ones costs what there is to forget.
 */
export class RememberedMetadata {
  readonly #all = new Map<string, Remembered>()
  readonly #absent = new Map<string, Remembered>()

  get size(): number {
    return this.#all.size
  }

  get(serviceKey: ServiceKey, address: InstanceAddress): Remembered | undefined {
    return this.#all.size === 0 ? undefined : this.#all.get(textOf(serviceKey, address))
  }

  /** Replaces what is remembered; an empty set is forgotten. `absentSinceMs`: see `Remembered`. */
  set(remembered: Remembered): void {
    const text = textOf(remembered.serviceKey, remembered.address)
    if (Object.keys(remembered.metadata).length === 0) {
      this.delete(remembered.serviceKey, remembered.address)
      return
    }
    this.#all.set(text, remembered)
    this.#absent.delete(text)
    if (remembered.absentSinceMs !== undefined) this.#absent.set(text, remembered)
  }

  delete(serviceKey: ServiceKey, address: InstanceAddress): void {
    const text = textOf(serviceKey, address)
    this.#all.delete(text)
    this.#absent.delete(text)
  }

  /** The instance is there (undefined) or away since then (health time). */
  setAbsent(serviceKey: ServiceKey, address: InstanceAddress, sinceMs: number | undefined): void {
    const remembered = this.get(serviceKey, address)
    if (remembered === undefined) return
    remembered.absentSinceMs = sinceMs
    const text = textOf(serviceKey, address)
    this.#absent.delete(text)
    if (sinceMs !== undefined) this.#absent.set(text, remembered)
  }

  /** At most `most` of those whose instance left at `beforeMs` (health time) or earlier. */
  absentSince(beforeMs: number, most: number): Remembered[] {
    const found: Remembered[] = []
    for (const remembered of this.#absent.values()) {
      if ((remembered.absentSinceMs ?? Infinity) > beforeMs || found.length >= most) break
      found.push(remembered)
    }
    return found
  }
}

function textOf(serviceKey: ServiceKey, address: InstanceAddress): string {
  return `${serviceKeyText(serviceKey)}\u0002${addressText(address)}`
}
