/** An item of a {@link DueBook}, which owns `dueTick`: the bucket of the item, or {@link NOT_DUE}. */
export interface Due {
  dueTick: number
}

/** The `dueTick` of an item that is in no book, such as a new one. */
export const NOT_DUE = -1

/** Marks an item while its bucket is cleaned, so that only one of its slots is kept. */
const SEEN = -2

interface Bucket<T> {
  items: T[]
  /** Number of slots whose item has left or moved. The bucket is cleaned when they are more than half. */
  stale: number
}

/** A bucket that is due. The items before `at` have been returned. */
interface Ripe<T> {
  readonly tick: number
  readonly items: readonly T[]
  at: number
}

/** With fewer stale slots than this, a bucket is not cleaned. */
const FEW_SLOTS = 32

/**
 * A queue of items by time, in buckets, for very many items without a timer for each (held polls, pending acks, the
 * health of instances). `add` and `remove` are O(1); an item costs one slot of an array. An item is never returned
 * before its time, and at most one bucket (`bucketMs`) after it if `due` is called once per bucket.
 *
 * An item that is renewed often need not be moved each time: when `due` returns it, `add` it again with its new time.
 * The caller passes the time, which must not go back.
 */
export class DueBook<T extends Due> {
  readonly #bucketMs: number
  readonly #buckets = new Map<number, Bucket<T>>()
  /** In the order of their time. */
  readonly #ripe: Ripe<T>[] = []
  /** The last tick whose bucket is due. */
  #doneTick = NOT_DUE
  #size = 0

  constructor(bucketMs: number) {
    this.#bucketMs = bucketMs
  }

  /** Whether the last `due` left items that are due. */
  get hasMore(): boolean {
    return this.#ripe.length > 0
  }

  /** How many items are in the book. */
  get size(): number {
    return this.#size
  }

  /** Adds an item, or moves it. If its time has passed, it is due within one bucket. */
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

  /** Removes an item. Does nothing if the item is not in the book. */
  remove(item: T): void {
    const tick = item.dueTick
    if (tick === NOT_DUE) return
    item.dueTick = NOT_DUE
    this.#size--
    const bucket = this.#buckets.get(tick)
    if (bucket !== undefined) this.#leaveSlot(tick, bucket)
  }

  /** Removes and returns at most `most` of the items that are due at `nowMs`, earlier buckets first. */
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

  /** The ticks to look at, in order: all since the last call, or the ticks in use if they are fewer. */
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

/** The items still in a bucket, which get `nextTick`. An item that came back has two slots: the first counts. */
function takeFrom<T extends Due>(bucket: Bucket<T>, tick: number, nextTick: number): T[] {
  return bucket.items.filter((item) => {
    if (item.dueTick !== tick) return false
    item.dueTick = nextTick
    return true
  })
}
