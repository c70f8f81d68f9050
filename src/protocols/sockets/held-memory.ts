import { bytesOfPieces, type LongText } from '../../core/text/long-text.ts'

/** Something that holds memory. */
export interface Holder {
  /** The user or address that it is for; absent: nobody's, as all others without one. */
  readonly owner?: string
  /** There is too much memory in use, and this holder is the oldest of the owner with most: it is ended. */
  giveUp(): void
}

/** The memory of an owner. */
interface Owned {
  readonly owner: string
  /** The bytes of each holder, the oldest first. */
  readonly held: Map<Holder, number>
  bytes: number
}

/**
 * Memory that waits for clients, within a limit: answers that they have not read yet, and requests that they
 * have not sent completely. The owner with most gives way. A client that reads or sends is done in a moment, so its oldest is
 * given up first: slow clients take nothing from others.
 */
export class OldestFirstMemory {
  readonly #limitBytes: number
  readonly #owners = new Map<string, Owned>()
  readonly #ownerOf = new Map<Holder, Owned>()
  /** By the first of the pieces that are the same for everybody. */
  readonly #texts = new Map<Buffer, SharedText>()
  readonly #textsOf = new Map<Holder, Set<SharedText>>()
  #bytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** The bytes that are counted. */
  get bytes(): number {
    return this.#bytes
  }

  /** Sets the bytes of a holder. The last holder that is left is not given up. */
  count(holder: Holder, bytes: number): void {
    this.#set(holder, bytes)
    while (this.#bytes > this.#limitBytes && this.#ownerOf.size > 1) {
      const oldest = this.#oldestOfHeaviest()
      this.#set(oldest, 0)
      oldest.giveUp()
    }
  }

  #set(holder: Holder, bytes: number): void {
    const owned = this.#ownerOf.get(holder) ?? this.#ownedBy(holder.owner ?? '')
    const more = bytes - (owned.held.get(holder) ?? 0)
    this.#bytes += more
    owned.bytes += more
    if (bytes > 0) {
      owned.held.set(holder, bytes)
      this.#ownerOf.set(holder, owned)
    } else {
      owned.held.delete(holder)
      this.#ownerOf.delete(holder)
    }
    if (owned.held.size === 0) this.#owners.delete(owned.owner)
    else this.#owners.set(owned.owner, owned)
  }

  #ownedBy(owner: string): Owned {
    return this.#owners.get(owner) ?? { owner, held: new Map(), bytes: 0 }
  }

  #oldestOfHeaviest(): Holder {
    const [first, ...others] = this.#owners.values()
    const heaviest = others.reduce((most, one) => (one.bytes > most.bytes ? one : most), first!)
    const [oldest] = heaviest.held.keys()
    return oldest!
  }

  /**
   * This holder holds a text now, until `release`. A text of several holders is counted once, as the newest of all, and
   * given up with all its holders.
   */
  share(holder: Holder, { rest }: Pick<LongText, 'rest'>): void {
    const [key] = rest
    if (key === undefined) return
    const text = this.#texts.get(key) ?? new SharedText(key)
    this.#texts.set(key, text)
    text.holders.add(holder)
    const texts = this.#textsOf.get(holder) ?? new Set()
    this.#textsOf.set(holder, texts.add(text))
    this.count(text, 0)
    this.count(text, bytesOfPieces(rest))
  }

  /** This holder holds nothing any more. */
  release(holder: Holder): void {
    this.count(holder, 0)
    for (const text of this.#textsOf.get(holder) ?? []) {
      text.holders.delete(holder)
      if (text.holders.size > 0) continue
      this.#texts.delete(text.key)
      this.count(text, 0)
    }
    this.#textsOf.delete(holder)
  }
}

/** A text that several may hold. */
class SharedText implements Holder {
  readonly key: Buffer
  readonly holders = new Set<Holder>()

  /** The owner of the first holder that still has the text. */
  get owner(): string {
    const [first] = this.holders
    return first?.owner ?? ''
  }

  constructor(key: Buffer) {
    this.key = key
  }

  giveUp(): void {
    for (const holder of this.holders) holder.giveUp()
  }
}
