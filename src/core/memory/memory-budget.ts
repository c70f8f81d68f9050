import type { MemoryLimits } from '../records/memory-limits.ts'
import { Refusal } from '../refusal.ts'
import type { Bytes } from './bytes-of.ts'
import type { MemoryAccount } from './memory-account.ts'
import { MEMORY_KINDS, type MemoryKind, type MemoryPart } from './memory-kinds.ts'

/** Any memory, for tests of other things. */
export const NO_MEMORY_LIMITS: MemoryLimits = {
  heapBytes: Infinity,
  memoryBytes: Infinity,
  contentBytes: Infinity,
}

/** The growth of each part by a decision. */
export type Growth = ReadonlyMap<MemoryPart, Bytes>

/** Each part may take this share of a limit. Any two leave room for the third one: a flood of one part never stops another. */
const SHARES: Readonly<Record<MemoryPart, number>> = {
  configurations: 0.7,
  naming: 0.7,
  others: 0.2,
  ungoverned: 1,
}
/** Configurations and naming may take this share together. */
const SHARE_OF_BOTH = 0.9
/** Below this share of all limits nothing is refused, so nothing else need be compared. */
const SHARE_OF_ANYBODY = 0.5
/** From this share on operators are warned. */
const SHARE_TO_WARN = 0.8

/** The memory limits, and the growth that is under way: decided or waiting, and not in State yet. */
export class MemoryBudget {
  readonly #account: MemoryAccount
  readonly #underWay = { heap: 0, external: 0 }
  readonly #underWayOf = new Map<MemoryPart, { heap: number; external: number }>()
  readonly #mostWaitingBytes: number
  #givenBytes = 0
  #waitingBytes = 0
  #limits: MemoryLimits

  /** `mostWaitingBytes`: the contents that may wait until they are written. Their texts are on the heap meanwhile. */
  constructor(account: MemoryAccount, limits: MemoryLimits, mostWaitingBytes = Infinity) {
    this.#account = account
    this.#limits = limits
    this.#mostWaitingBytes = mostWaitingBytes
  }

  /** The limits in force. */
  get limits(): MemoryLimits {
    return this.#limits
  }

  /** Others hold from now on: of several servers the smallest count for all. */
  limitTo(limits: MemoryLimits): void {
    this.#limits = limits
  }

  /** Counts the content of a command until `answered`. Throws Refusal `body-memory` while too much is under way. */
  given(bytes: number): void {
    if (this.#givenBytes > 0 && this.#givenBytes + bytes > this.#mostWaitingBytes)
      throw new Refusal(
        'body-memory',
        'The server writes as many contents as it may at once: try again in a moment.',
      )
    this.#givenBytes += bytes
  }

  /** The command with such a content is answered. */
  answered(bytes: number): void {
    this.#givenBytes -= bytes
  }

  /** Counts bytes of a command that waits to be decided; negative: it is decided now. */
  waits(bytes: number): void {
    this.#waitingBytes += bytes
  }

  /** Whether as many bytes might not fit. */
  isTight(bytes: number): boolean {
    return !this.#isFarBelow({ heap: bytes, external: bytes })
  }

  /** Counts growth until `release`. Throws Refusal `content-memory` if there is no room for it. */
  hold(growth: Growth): void {
    if (!this.#isFarBelow(sumOf(growth))) for (const [part, bytes] of growth) this.#require(part, bytes)
    this.#count(growth, 1)
  }

  /** The growth is in State, or never will be. */
  release(growth: Growth): void {
    this.#count(growth, -1)
  }

  /** Why more is refused soon, or is refused; undefined: there is room. */
  shortage(): string | undefined {
    const full = PARTS.flatMap((part) => this.#uses(part, NOTHING)).toSorted(
      (a, b) => shareOf(b) - shareOf(a),
    )[0]
    if (full === undefined || shareOf(full) < SHARE_TO_WARN) return undefined
    const percent = Math.floor(shareOf(full) * 100)
    return `${percent} % of the memory ${full.of} is used. ${this.#advice()}`
  }

  #require(part: MemoryPart, growth: Bytes): void {
    if (part === 'ungoverned') return
    const contents = this.#contents() + growth.external
    if (part === 'configurations' && growth.external > 0 && contents > this.#limits.contentBytes)
      throw this.#contentRefusal()
    const full = this.#uses(part, growth).find(({ used, limit, grows }) => grows && used > limit)
    if (full === undefined) return
    const message = `There is no memory left ${full.of}. ${this.#advice()}`
    throw new Refusal('content-memory', message, { allowed: `at most ${shownBytes(full.limit)} ${full.of}` })
  }

  /** The use of each limit that a part has. */
  #uses(part: MemoryPart, growth: Bytes): Use[] {
    const own = sum(sum(this.#account.ofPart(part), this.#underWayOf.get(part) ?? NOTHING), growth)
    const all = sum(sum(this.#account.total, this.#underWay), growth)
    const { heapBytes, memoryBytes } = this.#limits
    const most = part === 'configurations' || part === 'naming' ? SHARE_OF_BOTH : 1
    const ofPart = { heap: SHARES[part] * heapBytes, memory: SHARES[part] * memoryBytes }
    const grows = { onHeap: growth.heap > 0, inAll: inAll(growth) > 0 }
    const memory = inAll(all) + this.#waitingBytes
    const name = NAMES_OF_PARTS[part]
    return [
      { used: own.heap, limit: ofPart.heap, grows: grows.onHeap, of: `on the heap for ${name}` },
      { used: inAll(own), limit: ofPart.memory, grows: grows.inAll, of: `of this server for ${name}` },
      { used: all.heap, limit: most * heapBytes, grows: grows.onHeap, of: 'on the heap' },
      { used: memory, limit: most * memoryBytes, grows: grows.inAll, of: 'of this server' },
    ]
  }

  #contents(): number {
    const underWay = this.#underWayOf.get('configurations')?.external ?? 0
    return this.#account.ofPart('configurations').external + underWay + this.#waitingBytes
  }

  #contentRefusal(): Refusal {
    const allowed = `at most ${this.#limits.contentBytes} bytes of content in all`
    const message = `The server holds ${allowed}: delete what is not needed, or raise max-content-memory.`
    return new Refusal('content-memory', message, { parameter: 'content', allowed })
  }

  /** Names the kind that takes most. */
  #advice(): string {
    const kinds = Object.keys(MEMORY_KINDS) as MemoryKind[]
    const bytesOf = (kind: MemoryKind): number =>
      this.#account.of(kind).heap + this.#account.of(kind).external
    const most = kinds.reduce((first, kind) => (bytesOf(kind) > bytesOf(first) ? kind : first))
    return (
      `Most of it is taken by ${most} (${shownBytes(bytesOf(most))}): delete some, ` +
      'or give the server more memory (docs/operations.md, Memory).'
    )
  }

  #isFarBelow(growth: Bytes): boolean {
    const { heapBytes, memoryBytes, contentBytes } = this.#limits
    const { heap, external } = this.#account.total
    const onHeap = heap + this.#underWay.heap + growth.heap
    const outside = external + this.#underWay.external + this.#waitingBytes + growth.external
    return (
      onHeap <= SHARE_OF_ANYBODY * heapBytes &&
      onHeap + outside <= SHARE_OF_ANYBODY * memoryBytes &&
      outside <= contentBytes
    )
  }

  #count(growth: Growth, sign: 1 | -1): void {
    for (const [part, { heap, external }] of growth) {
      const own = this.#underWayOf.get(part) ?? { heap: 0, external: 0 }
      this.#underWayOf.set(part, own)
      for (const counted of [own, this.#underWay]) {
        counted.heap += sign * Math.max(0, heap)
        counted.external += sign * Math.max(0, external)
      }
    }
  }
}

/** The use of a limit. */
interface Use {
  readonly used: number
  /** Whether the growth needs more of it. */
  readonly grows: boolean
  readonly limit: number
  readonly of: string
}

const NOTHING: Bytes = { heap: 0, external: 0 }
const PARTS: readonly MemoryPart[] = ['configurations', 'naming', 'others']
const NAMES_OF_PARTS: Readonly<Record<MemoryPart, string>> = {
  configurations: 'configurations',
  naming: 'naming',
  others: 'users and namespaces',
  ungoverned: 'other data',
}
const MIB = 1024 * 1024

function shareOf({ used, limit }: Use): number {
  return used / limit
}

function inAll({ heap, external }: Bytes): number {
  return heap + external
}

function sum(one: Bytes, other: Bytes): Bytes {
  return { heap: one.heap + other.heap, external: one.external + other.external }
}

function sumOf(growth: Growth): Bytes {
  let all = NOTHING
  for (const bytes of growth.values()) all = sum(all, bytes)
  return all
}

function shownBytes(bytes: number): string {
  return bytes < MIB ? `${Math.round(bytes / 1024)} KiB` : `${Math.round(bytes / MIB)} MiB`
}
