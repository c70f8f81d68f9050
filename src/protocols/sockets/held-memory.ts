import { bytesOfPieces, type LongText } from '../../core/text/long-text.ts'

/** Something that holds memory. */
export interface Holder {
  /** The user or address that it is for; absent: nobody's, as all others without one. */
  readonly owner?: string
  /** There is too much memory in use, and this holder is the oldest of the owner with most: it is ended. */
  giveUp(): void
}

/** The pieces of a text that are the same for everybody. */
type Pieces = LongText['rest']

/** After giving up there is some room, so that the next ones do not have to look for the owner with most again. */
const LEFT_SHARE = 7 / 8

/**
 * Memory that waits for clients, within a limit: answers that they have not read yet, and requests that they
 * have not sent completely. The owner with most gives way. A client that reads or sends is done in a moment, so its oldest is
 * given up first: slow clients take nothing from others.
 */
export class OldestFirstMemory {
  readonly #limitBytes: number
  /** The oldest first. */
  readonly #owners = new Map<string, Owner>()
  readonly #holdings = new Map<Holder, Holding>()
  /** By the first piece. */
  readonly #texts = new Map<Buffer, Text>()
  #bytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** The bytes that are counted. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Sets the bytes that a holder has alone, and adds texts that others may hold too, until `release`. A text counts once: for all owners
   * that hold it the same part. A holder that begins is not given up for itself, and neither is the last one that is left.
   */
  count(holder: Holder, bytes: number, texts: readonly Pieces[] = []): void {
    const before = this.#bytes
    const known = this.#holdings.get(holder)
    if (known === undefined && bytes === 0 && texts.length === 0) return
    const holding = known ?? this.#begin(holder)
    this.#setBytes(holding, bytes)
    for (const pieces of texts) this.#share(holding, pieces)
    this.#settle(holding)
    if (this.#bytes <= before) return
    const begun = known === undefined ? holding : undefined
    while (this.#bytes > this.#limitBytes && this.#makeRoom(begun));
  }

  /** This holder holds nothing any more. */
  release(holder: Holder): void {
    const holding = this.#holdings.get(holder)
    if (holding === undefined) return
    this.#setBytes(holding, 0)
    for (const part of holding.texts.values()) this.#leave(holding, part)
    holding.texts.clear()
    this.#settle(holding)
  }

  #begin(holder: Holder): Holding {
    const name = holder.owner ?? ''
    const owner = this.#owners.get(name) ?? new Owner(name)
    this.#owners.set(name, owner)
    const holding = new Holding(holder, owner)
    this.#holdings.set(holder, holding)
    return holding
  }

  #settle({ holder, owner, bytes, texts }: Holding): void {
    if (bytes === 0 && texts.size === 0) this.#holdings.delete(holder)
    if (owner.parts.size === 0) this.#owners.delete(owner.name)
  }

  #setBytes(holding: Holding, bytes: number): void {
    this.#bytes += bytes - holding.bytes
    if (bytes === 0) holding.owner.drop(holding)
    else holding.owner.parts.add(holding)
    holding.bytes = bytes
  }

  /** The part of this owner is as young as the last holder that is sent the text. */
  #share(holding: Holding, pieces: Pieces): void {
    const [key] = pieces
    if (key === undefined) return
    const { owner } = holding
    const text = this.#texts.get(key) ?? { key, bytes: 0, parts: new Map() }
    this.#texts.set(key, text)
    const part = text.parts.get(owner) ?? new TextPart(text, owner)
    text.parts.set(owner, part)
    part.holdings.add(holding)
    holding.texts.set(text, part)
    owner.parts.delete(part)
    owner.parts.add(part)
    const bytes = bytesOfPieces(pieces)
    this.#bytes += bytes - text.bytes
    text.bytes = bytes
  }

  #leave(holding: Holding, part: TextPart): void {
    const { text, owner, holdings } = part
    holdings.delete(holding)
    if (holdings.size > 0) return
    owner.drop(part)
    text.parts.delete(owner)
    if (text.parts.size > 0) return
    this.#texts.delete(text.key)
    this.#bytes -= text.bytes
  }

  /** Cuts the owners with most to one level, each its oldest first. False: nobody can be given up. */
  #makeRoom(begun: Holding | undefined): boolean {
    const mostBytes = this.#limitBytes * LEFT_SHARE
    for (const owner of this.#owners.values()) owner.weigh(begun)
    const owners = [...this.#owners.values()].toSorted((one, other) => other.weight - one.weight)
    const level = levelOf(owners, this.#bytes - mostBytes)
    let isCut = false
    for (const owner of owners)
      for (const part of owner.parts) {
        if (this.#bytes <= mostBytes || owner.weight <= level) break
        if (isNeeded(part, begun) || (this.#owners.size === 1 && owner.parts.size === 1)) continue
        this.#giveUp(part)
        isCut = true
      }
    return isCut
  }

  /** Others may end with a holder, so they are not there any more when it is their turn. */
  #giveUp({ holdings }: Part): void {
    for (const { holder } of holdings) {
      this.release(holder)
      holder.giveUp()
    }
  }
}

/** A holding of an owner: bytes of one holder alone, or its part of a text. */
interface Part {
  readonly text?: Text
  readonly holdings: Iterable<Holding>
  /** The bytes that count for the owner. */
  readonly weight: number
}

/** A text that several owners may hold. */
interface Text {
  readonly key: Buffer
  bytes: number
  readonly parts: Map<Owner, TextPart>
}

class Owner {
  readonly name: string
  /** The oldest first. */
  readonly parts = new Set<Part>()
  /** The bytes of its parts since `weigh`. */
  weight = 0

  constructor(name: string) {
    this.name = name
  }

  /** Adds up what may be given up. */
  weigh(begun: Holding | undefined): void {
    this.weight = 0
    for (const part of this.parts) if (!isNeeded(part, begun)) this.weight += part.weight
  }

  drop(part: Part): void {
    if (this.parts.delete(part)) this.weight -= part.weight
  }
}

/** The bytes and texts of a holder. */
class Holding implements Part {
  readonly holder: Holder
  readonly owner: Owner
  readonly texts = new Map<Text, TextPart>()
  /** Without the texts. */
  bytes = 0

  get weight(): number {
    return this.bytes
  }

  get holdings(): Iterable<Holding> {
    return [this]
  }

  constructor(holder: Holder, owner: Owner) {
    this.holder = holder
    this.owner = owner
  }
}

/** The part of an owner of a text. */
class TextPart implements Part {
  readonly text: Text
  readonly owner: Owner
  readonly holdings = new Set<Holding>()

  get weight(): number {
    return this.text.bytes / this.text.parts.size
  }

  constructor(text: Text, owner: Owner) {
    this.text = text
    this.owner = owner
  }
}

/** Whether a part belongs to a holder that begins: giving it up would end that one, or save nothing. */
function isNeeded(part: Part, begun: Holding | undefined): boolean {
  return begun !== undefined && (part === begun || (part.text !== undefined && begun.texts.has(part.text)))
}

/** The weight that each owner may keep, so that all together give up `bytes`. The heaviest owner comes first. */
function levelOf(owners: readonly Owner[], bytes: number): number {
  let sum = -bytes
  for (const [at, { weight }] of owners.entries()) {
    sum += weight
    const level = sum / (at + 1)
    if (level >= (owners[at + 1]?.weight ?? 0)) return level
  }
  return 0
}
