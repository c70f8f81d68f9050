import type { FedChange } from './changes.ts'

/** Stamps per millisecond. With more decisions in one millisecond, stamps are ahead of the clock. */
const PER_MS = 1_024
/** The year 2100 in epoch ms. A wall clock that is later is wrong, or stamps count on from there: ids must stay exact numbers. */
export const LATEST_MS = 4_102_444_800_000
/** Clocks that have reached their end give stamps up to here: a thousand each millisecond, for a year. */
const LARGEST_SEEN = (LATEST_MS + 31_536_000_000) * PER_MS
/** Stamps above have no place in a value or key. Between the two are more stamps than servers give after any number. */
const LARGEST_READ = 2 ** 52 - 2 ** 47

/** The times that core works with. They are arguments: core has no clock. */
export interface Now {
  /** Epoch milliseconds, as shown in answers. */
  readonly wallMs: number
  /** Milliseconds of the health clock, for beats and expiry. */
  readonly healthMs: number
  /** The stamp of the changes that are decided now (`Stamps`). Every decision gets one of its own. */
  readonly stamp: number
}

/**
 * The clock of changes. A stamp is `wall ms * 1024`, or one more than the largest stamp that was seen if that is later.
 * So stamps rise whatever the wall clock does, also over restarts: `Snapshot.largestStamp` is seen first. They stay
 * below 2^52, so that ids made from stamps are exact numbers.
 */
export class Stamps {
  #largest = 0

  /** The time of the largest stamp that was given or seen, epoch ms. */
  get latestMs(): number {
    return msOf(this.#largest)
  }

  /** A stamp that is larger than all before. `wallMs` is epoch milliseconds. */
  next(wallMs: number): number {
    const stampMs = Math.min(Math.floor(wallMs), LATEST_MS)
    this.#largest = Math.max(stampMs * PER_MS, this.#largest + 1)
    return this.#largest
  }

  /** No later stamp is as small as this one, if a clock can have given it. Whatever was seen, `next` gives an {@link isStamp}. */
  see(stamp: number): void {
    if (isSeen(stamp) && stamp > this.#largest) this.#largest = stamp
  }
}

/** Whether a number is a stamp that a server can have written. */
export function isStamp(stamp: unknown): stamp is number {
  return Number.isInteger(stamp) && (stamp as number) >= 0 && (stamp as number) <= LARGEST_READ
}

/** Whether clocks follow this stamp: beyond it they could not count on. */
export function isSeen(stamp: number): boolean {
  return isStamp(stamp) && stamp <= LARGEST_SEEN
}

/** The epoch milliseconds of a stamp. */
export function msOf(stamp: number): number {
  return Math.floor(stamp / PER_MS)
}

/**
 * The time of a stamp for people. It is `wallMs` where the stamp is ahead of the clock: after a crash it is, by a minute.
 * It is `wallMs` too for the stamp 0, of changes that no server made.
 */
export function shownMsOf(stamp: number, wallMs: number): number {
  return stamp === 0 ? wallMs : Math.min(msOf(stamp), wallMs)
}

/** The smallest stamp of a millisecond. */
export function firstStampOf(ms: number): number {
  return ms * PER_MS
}

/** The largest stamp of a millisecond. */
export function lastStampOf(ms: number): number {
  return ms * PER_MS + PER_MS - 1
}

/**
 * The id of the item that a change with this stamp makes. Ids of items are even and ids of history records odd. So the
 * two kinds never collide, and an id shows its kind.
 */
export function itemIdOf(stamp: number): number {
  return stamp * 2
}

/** The id of the history record that a change with this stamp makes. */
export function historyIdOf(stamp: number): number {
  return stamp * 2 + 1
}

/** Whether an id belongs to an item (else to a history record). */
export function isItemId(id: number): boolean {
  return id % 2 === 0
}

/** The stamp that an id was made of. */
export function stampOfId(id: number): number {
  return Math.floor(id / 2)
}

/** The stamp of the decision that made a change; 0 where the change does not tell. */
export function stampOfChange(change: FedChange): number {
  if (change.kind === 'config-published') return stampOfId(change.item.historyId)
  if (change.kind === 'config-deleted') return stampOfId(change.historyId)
  if (change.kind === 'history-imported') return stampOfId(change.record.id)
  return 'stamp' in change ? change.stamp : 0
}
