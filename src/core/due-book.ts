/** What a {@link DueBook} holds. `dueTick` is the book's: the bucket of the item, {@link NOT_DUE} while it is in none. */
export interface Due {
  dueTick: number
}

/** The `dueTick` of an item that no book holds: what a new item starts with. */
export const NOT_DUE = -1

/** Stands in `dueTick` for a moment while a bucket is tidied, so that an item is kept in one slot only. */
const SEEN = -2

interface Bucket<T> {
  items: T[]
  /** Slots whose item has left or moved on; tidied away when they are more than half. */
  stale: number
}

/** A bucket whose time has come; those before `at` are given out. */
interface Ripe<T> {
  readonly tick: number
  readonly items: readonly T[]
  at: number
}

/** Fewer stale slots than this are never worth a pass over the bucket. */
const FEW_SLOTS = 32

/**
 * Items and when they are due, in time-ordered buckets, for very many items and no timer each (held polls,
 * acks that are waited for, the health of instances). `add` and `remove` are O(1); an item costs one slot of
 * an array. An item is never found before its time and, when `due` is called at least once a bucket, at most
 * one bucket (`bucketMs`) after it.
 *
 * An item that is renewed all the time need not be moved each time: leave it where it is and, when `due`
 * finds it, `add` it again with its new time. The clock is the caller's; it must not go backwards.
 */
export class DueBook<T extends Due> {
  readonly #bucketMs: number
  readonly #buckets = new Map<number, Bucket<T>>()
  /** In the order of their time. */
  readonly #ripe: Ripe<T>[] = []
  /** The last tick whose bucket is ripe. */
  #doneTick = NOT_DUE
  #size = 0

  constructor(bucketMs: number) {
    this.#bucketMs = bucketMs
  }

  /** Whether the last `due` has left something that it might have given. */
  get hasMore(): boolean {
    return this.#ripe.length > 0
  }

  /** How many items are in the book. */
  get size(): number {
    return this.#size
  }

  /**
   * Puts an item in, or moves it there when it is in already. A time that has passed is due within a bucket.
   * `dueMs` is on the clock that `due` is called with.
   */
  add(item: T, dueMs: number): void {
    const tick = Math.max(Math.ceil(dueMs / this.#bucketMs), this.#doneTick + 1)
    if (item.dueTick === tick) return
    this.remove(item)
    item.dueTick = tick
    this.#size++
    const bucket = this.#buckets.get(tick)
    if (bucket === undefined) this.#buckets.set(tick, { items: [item], stale: 0 })
    else bucket.items.push(item)
  }

  /** Takes an item out; nothing happens when it is not in. */
  remove(item: T): void {
    const tick = item.dueTick
    if (tick === NOT_DUE) return
    item.dueTick = NOT_DUE
    this.#size--
    const bucket = this.#buckets.get(tick)
    if (bucket !== undefined) this.#leaveSlot(tick, bucket)
  }

  /** Takes out and gives at most `most` of the items that are due at `nowMs`, those of earlier buckets first. */
  due(nowMs: number, most = Infinity): T[] {
    const nowTick = Math.floor(nowMs / this.#bucketMs)
    for (const tick of this.#ticksUntil(nowTick)) {
      const bucket = this.#buckets.get(tick)
      if (bucket === undefined) continue
      this.#buckets.delete(tick)
      this.#ripe.push({ tick, items: bucket.items, at: 0 })
    }
    this.#doneTick = Math.max(this.#doneTick, nowTick)
    return this.#takeRipe(most)
  }

  #takeRipe(most: number): T[] {
    const found: T[] = []
    while (this.#ripe.length > 0 && found.length < most) {
      const first = this.#ripe[0]!
      const item = first.items[first.at++]
      if (item === undefined) this.#ripe.shift()
      else if (item.dueTick === first.tick) {
        item.dueTick = NOT_DUE
        found.push(item)
      }
    }
    this.#size -= found.length
    return found
  }

  /** Ticks to look at, in order: each one since the last call, or those in use where the gap is wider than they are. */
  #ticksUntil(nowTick: number): number[] {
    const gap = nowTick - this.#doneTick
    if (gap > this.#buckets.size) {
      return [...this.#buckets.keys()].filter((tick) => tick <= nowTick).toSorted((a, b) => a - b)
    }
    return Array.from({ length: Math.max(gap, 0) }, (_, index) => this.#doneTick + 1 + index)
  }

  #leaveSlot(tick: number, bucket: Bucket<T>): void {
    bucket.stale++
    if (bucket.stale < FEW_SLOTS || bucket.stale * 2 < bucket.items.length) return
    const kept = takeFrom(bucket, tick, SEEN)
    for (const item of kept) item.dueTick = tick
    if (kept.length === 0) this.#buckets.delete(tick)
    else this.#buckets.set(tick, { items: kept, stale: 0 })
  }
}

/**
 * The items that are really in a bucket, which get `nextTick`: one that left and came back has two slots, the
 * first of which takes it and the second finds it taken.
 */
function takeFrom<T extends Due>(bucket: Bucket<T>, tick: number, nextTick: number): T[] {
  return bucket.items.filter((item) => {
    if (item.dueTick !== tick) return false
    item.dueTick = nextTick
    return true
  })
}
