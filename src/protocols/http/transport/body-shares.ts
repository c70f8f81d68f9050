import type { Refusal } from '../../../core/refusal.ts'
import { ALWAYS_BYTES, noBodyMemory } from '../../sockets/held-memory.ts'

/** The part of the memory that is for forms of unknown senders. */
const PART_OF_STRANGERS = 1 / 4

/** A body that has been arriving for longer is slow: it gives way where there is no room. */
const SLOW_MS = 5_000

/** The owner of a body. */
export interface BodyOwner {
  /** The user who sends it, or else the address that it comes from. */
  readonly name: string
  /** Whether the sender has yet to show, by the body, who it is. */
  readonly isStranger: boolean
}

/** The memory of one body. */
export interface BodyShare {
  /** Counts `bytes` more; false, and nothing is counted, if there is no room for them. */
  take(bytes: number): boolean
  /** The body does not count any longer: it was used, refused or lost. */
  release(): void
}

/**
 * The memory of all bodies until they are used, within a limit. If senders have to show who they are, a part of it is for
 * forms of unknown senders. Without room, the owner of most bytes loses its oldest body. If nobody has more than the owner
 * of the new body, the oldest slow body gives way. So one owner cannot keep out the others, and slow bodies keep out nobody.
 */
export class BodyShares {
  readonly #limitBytes: number
  readonly #nowMs: () => number
  readonly #known: Pool
  readonly #strangers: Pool

  /** `nowMs` is a clock, in milliseconds. */
  constructor(
    limitBytes: number,
    { hasStrangers, nowMs = () => performance.now() }: { hasStrangers: boolean; nowMs?: () => number },
  ) {
    const ofStrangers = hasStrangers ? limitBytes * PART_OF_STRANGERS : 0
    this.#limitBytes = limitBytes
    this.#nowMs = nowMs
    this.#known = new Pool(limitBytes - ofStrangers)
    this.#strangers = new Pool(ofStrangers)
  }

  /**
   * The share of a body that begins to arrive. `onGivenUp` is called where it has to give way; it does not
   * count any longer then.
   */
  open({ name, isStranger }: BodyOwner, onGivenUp: (refusal: Refusal) => void): BodyShare {
    const pool = isStranger ? this.#strangers : this.#known
    const giveUp = (): void => onGivenUp(this.refusal())
    return new Share({ owner: name, pool, giveUp, nowMs: this.#nowMs })
  }

  /** The refusal of a body for which there is no room. */
  refusal(): Refusal {
    return noBodyMemory(this.#limitBytes)
  }
}

interface ShareParts {
  readonly owner: string
  readonly pool: Pool
  readonly giveUp: () => void
  readonly nowMs: () => number
}

class Share implements BodyShare {
  readonly owner: string
  readonly beganMs: number
  bytes = 0
  readonly #parts: ShareParts

  constructor(parts: ShareParts) {
    this.#parts = parts
    this.owner = parts.owner
    this.beganMs = parts.nowMs()
    parts.pool.enter(this)
  }

  take(bytes: number): boolean {
    const { pool, nowMs } = this.#parts
    const isSmall = this.bytes + bytes <= ALWAYS_BYTES
    if (!isSmall && !pool.makeRoom(this, bytes, nowMs() - SLOW_MS)) return false
    this.bytes += bytes
    pool.count(this.owner, bytes)
    return true
  }

  release(): void {
    this.#parts.pool.leave(this)
    this.bytes = 0
  }

  giveWay(): void {
    this.release()
    this.#parts.giveUp()
  }
}

/** Shares that have a limit together, the oldest first. */
class Pool {
  readonly #limitBytes: number
  readonly #shares = new Set<Share>()
  readonly #bytesOf = new Map<string, number>()
  #heldBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  enter(share: Share): void {
    this.#shares.add(share)
  }

  leave(share: Share): void {
    if (this.#shares.delete(share)) this.count(share.owner, -share.bytes)
  }

  count(owner: string, bytes: number): void {
    this.#heldBytes += bytes
    const ofOwner = (this.#bytesOf.get(owner) ?? 0) + bytes
    if (ofOwner > 0) this.#bytesOf.set(owner, ofOwner)
    else this.#bytesOf.delete(owner)
  }

  /** Whether there is room for more bytes of a share, maybe because others give way. `slowMs`: older bodies are slow. */
  makeRoom(share: Share, bytes: number, slowMs: number): boolean {
    while (this.#heldBytes + bytes > this.#limitBytes) {
      const other = this.#oldestOfLargest(share, bytes) ?? this.#oldestSlow(share, slowMs)
      if (other === undefined) return false
      other.giveWay()
    }
    return true
  }

  /** The oldest share of the client with most bytes, if it has more than this client would have. */
  #oldestOfLargest({ owner }: Share, bytes: number): Share | undefined {
    let most = (this.#bytesOf.get(owner) ?? 0) + bytes
    let largest: string | undefined
    for (const [name, ofName] of this.#bytesOf) {
      if (ofName <= most) continue
      most = ofName
      largest = name
    }
    if (largest === undefined) return undefined
    for (const share of this.#shares) if (share.owner === largest) return share
    return undefined
  }

  #oldestSlow(than: Share, slowMs: number): Share | undefined {
    for (const share of this.#shares) if (share !== than) return share.beganMs < slowMs ? share : undefined
    return undefined
  }
}
