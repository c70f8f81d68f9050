import { Refusal } from '../../core/refusal.ts'

/** Bodies up to this size are accepted even when the memory is full, so that beats and registrations still work. */
export const ALWAYS_BYTES = 16 * 1024

/** The part of the memory that is for forms of unknown senders. */
const PART_OF_STRANGERS = 1 / 4

/** Small bodies may take this much more than the limit. */
const PART_FOR_SMALL = 1 / 4

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
 * A small body is always accepted. Small bodies take a quarter more than the limit. Then the oldest body of the owner of most
 * gives way, even if it is the same owner.
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
    const allowed = `at most ${this.#limitBytes} bytes of bodies at once`
    return new Refusal('body-memory', `The server reads ${allowed}: try again in a moment.`, { allowed })
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
    if (!pool.makeRoom(this, bytes, nowMs() - SLOW_MS)) {
      if (this.bytes + bytes > ALWAYS_BYTES) return false
      pool.forceRoom(this, bytes)
    }
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

/** The open shares of an owner, the oldest first. */
interface Owned {
  readonly shares: Set<Share>
  bytes: number
}

/** Shares that have a limit together. */
class Pool {
  readonly #limitBytes: number
  /** The oldest first. */
  readonly #shares = new Set<Share>()
  readonly #owned = new Map<string, Owned>()
  #heldBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  enter(share: Share): void {
    const owned = this.#owned.get(share.owner) ?? { shares: new Set(), bytes: 0 }
    this.#owned.set(share.owner, owned)
    owned.shares.add(share)
    this.#shares.add(share)
  }

  leave(share: Share): void {
    if (!this.#shares.delete(share)) return
    const owned = this.#owned.get(share.owner)!
    owned.shares.delete(share)
    this.count(share.owner, -share.bytes)
    if (owned.shares.size === 0) this.#owned.delete(share.owner)
  }

  count(owner: string, bytes: number): void {
    this.#heldBytes += bytes
    this.#owned.get(owner)!.bytes += bytes
  }

  /** Whether there is room for more bytes of a share, maybe because others give way. `slowMs`: older bodies are slow. */
  makeRoom(share: Share, bytes: number, slowMs: number): boolean {
    while (!this.#hasRoom(bytes)) {
      const bytesOfOwner = this.#owned.get(share.owner)!.bytes + bytes
      const other = this.#oldestOfLargest(share, bytesOfOwner) ?? this.#oldestSlow(share, slowMs)
      if (other === undefined) return false
      other.giveWay()
    }
    return true
  }

  /** Makes room for bytes of a share that is accepted in any case: bodies of the owner of most give way, whoever it is. */
  forceRoom(share: Share, bytes: number): void {
    while (!this.#hasRoom(bytes, PART_FOR_SMALL)) {
      const other = this.#oldestOfLargest(share, 0)
      if (other === undefined) return
      other.giveWay()
    }
  }

  #hasRoom(bytes: number, more = 0): boolean {
    return this.#heldBytes + bytes <= (1 + more) * this.#limitBytes
  }

  /** The oldest other share of the owner with most bytes, if it has more than this many. */
  #oldestOfLargest(than: Share, bytes: number): Share | undefined {
    let most = bytes
    let largest: Owned | undefined
    for (const owned of this.#owned.values()) {
      if (owned.bytes <= most) continue
      most = owned.bytes
      largest = owned
    }
    for (const share of largest?.shares ?? []) if (share !== than) return share
    return undefined
  }

  #oldestSlow(than: Share, slowMs: number): Share | undefined {
    for (const share of this.#shares) if (share !== than) return share.beganMs < slowMs ? share : undefined
    return undefined
  }
}
