import { type Due, NOT_DUE } from '../../work/due-book.ts'
import { addressText, type InstanceAddress } from '../state/instance.ts'
import type { PublishedInstance } from '../commands/replace-instances.ts'
import type { ServiceKey } from '../state/service.ts'

/** Instances by their `addressText`. */
type ByAddress = ReadonlyMap<string, PublishedInstance>

const NOTHING: ByAddress = new Map()

/** The client of a connection, as people are shown it. */
export interface PublishingClient {
  /** The name and version of its library as sent; ''. */
  readonly library: string
  readonly ip: string
  readonly port: number
  /** Epoch ms. */
  readonly connectedMs: number
}

/** Instances of a replacement, as one of the commands that carry it out names them. */
export interface Part {
  readonly instances: readonly PublishedInstance[]
  readonly leaving: readonly InstanceAddress[]
  /** Whether an address of another publisher is taken over. */
  readonly takesOver: boolean
}

/**
 * What a connection publishes in a service, and where it may have instances that it does not publish any more: where a
 * removal has failed, or a registration of which nobody knows what became.
 */
export class Publication implements Due {
  readonly serviceKey: ServiceKey
  readonly connectionId: string
  client: PublishingClient | undefined
  #wanted: ByAddress = NOTHING
  readonly #leaving = new Map<string, InstanceAddress>()
  /** Wanted, and removed by somebody else. */
  readonly #missing = new Set<string>()
  /** Wanted, and taken over by somebody else. */
  readonly #taken = new Set<string>()
  /** Wanted, but its user may not have it there now; undefined: the user may. */
  #withheld: ByAddress | undefined
  /** The user who has published it; undefined: nobody had to sign in. */
  username: string | undefined
  /** Settled when all that is on its way has ended; undefined: nothing is. It never rejects. */
  underway: Promise<void> | undefined
  /** The connection has ended. */
  isClosed = false
  /** Then: until when its instances are kept, if they did not go at once. */
  keptUntilMs = -Infinity
  dueTick = NOT_DUE

  constructor(serviceKey: ServiceKey, connectionId: string) {
    this.serviceKey = serviceKey
    this.connectionId = connectionId
  }

  get wanted(): ByAddress {
    return this.#wanted
  }

  get leaving(): readonly InstanceAddress[] {
    return [...this.#leaving.values()]
  }

  /** How many instances it has, or may have. */
  get size(): number {
    return this.#wanted.size + this.#leaving.size
  }

  /** Whether there is nothing to remember. */
  get isOver(): boolean {
    if (this.#withheld !== undefined) return false
    return this.#wanted.size === 0 && this.#leaving.size === 0 && this.underway === undefined
  }

  /** Whether its instances are withheld: see {@link withhold}. */
  get isWithheld(): boolean {
    return this.#withheld !== undefined
  }

  /** Whether something must be put right. */
  get needsCare(): boolean {
    return this.#leaving.size > 0 || this.#missing.size > 0
  }

  /** Whether somebody else has an address that this connection wants too. */
  get isWaiting(): boolean {
    return this.#taken.size > 0
  }

  /** From now on these are wanted. Undo it with the function that is returned, if they could not be registered. */
  want(instances: readonly PublishedInstance[]): () => void {
    const before = this.#wanted
    const after = new Map(instances.map((instance) => [addressText(instance.address), instance]))
    const withheld = this.#withheld
    this.#withheld = undefined
    this.#set(before, after)
    return () => {
      this.#withheld ??= withheld
      if (this.#wanted === after) this.#set(after, before)
      else this.#leave(after)
    }
  }

  /** All of them must leave. They are remembered until they may come back, or the client publishes something else. */
  withhold(): void {
    const withheld = this.#withheld ?? this.#wanted
    this.want([])
    this.#withheld = withheld
  }

  /** What is withheld may come back: it is missing now. */
  allow(): void {
    const withheld = [...(this.#withheld?.values() ?? [])]
    this.want(withheld)
    for (const { address } of withheld) this.miss(address)
  }

  /** The instances at these addresses are certainly not there any more. */
  gone(addresses: readonly InstanceAddress[]): void {
    for (const address of addresses) this.#leaving.delete(addressText(address))
  }

  /** A wanted instance was removed by somebody else. */
  miss(address: InstanceAddress): void {
    const text = addressText(address)
    if (this.#wanted.has(text)) this.#missing.add(text)
  }

  /**
   * Another publisher has taken over an address. It is wanted all the same: that one may be an older connection of the same
   * client, whose server is late.
   */
  lose(address: InstanceAddress): void {
    const text = addressText(address)
    if (this.#wanted.has(text)) this.#taken.add(text)
  }

  /** Looks again at what others have taken over. `ownerAt`: who has an address now. */
  lookAgain(ownerAt: (address: InstanceAddress) => 'nobody' | 'this' | 'another'): void {
    for (const text of this.#taken) {
      const wanted = this.#wanted.get(text)
      const owner = wanted && ownerAt(wanted.address)
      if (owner === 'another') continue
      this.#taken.delete(text)
      if (owner === 'nobody') this.#missing.add(text)
    }
  }

  /** Takes what must be put right. */
  takeCare(): Part {
    const instances = [...this.#missing].flatMap((text) => this.#wanted.get(text) ?? [])
    this.#missing.clear()
    return { instances, leaving: this.leaving, takesOver: false }
  }

  #set(before: ByAddress, after: ByAddress): void {
    this.#wanted = after
    this.#leave(before)
    for (const text of after.keys()) this.#leaving.delete(text)
  }

  #leave(instances: ByAddress): void {
    for (const [text, { address }] of instances) if (!this.#wanted.has(text)) this.#leaving.set(text, address)
  }
}

/** A replacement in parts of at most `most` instances; removals come first. */
export function partsOf(whole: Part, most: number): Part[] {
  const { instances, leaving } = whole
  if (instances.length + leaving.length <= most) return [whole]
  const parts: Part[] = []
  for (let from = 0; from < leaving.length; from += most)
    parts.push({ ...whole, instances: [], leaving: leaving.slice(from, from + most) })
  for (let from = 0; from < instances.length; from += most)
    parts.push({ ...whole, instances: instances.slice(from, from + most), leaving: [] })
  return parts
}
