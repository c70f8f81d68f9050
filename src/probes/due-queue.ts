/** An entry with its time. The queue sets `place`: the index of the entry, or -1 if it is not in the queue. */
export interface QueueEntry {
  dueMs: number
  place: number
}

/**
 * Entries by due time, the earliest first. A binary heap that knows the place of each entry, so adding, taking and
 * removing cost log n, and a removed entry leaves nothing behind.
 */
export class DueQueue<Entry extends QueueEntry> {
  readonly #heap: Entry[] = []

  get size(): number {
    return this.#heap.length
  }

  /** Adds an entry that is not in the queue. */
  add(entry: Entry): void {
    this.#put(this.#heap.length, entry)
    this.#rise(entry.place)
  }

  /** Takes the entry with the earliest time, if it is due at `nowMs`. */
  takeDue(nowMs: number): Entry | undefined {
    const first = this.#heap[0]
    if (first === undefined || first.dueMs > nowMs) return undefined
    this.remove(first)
    return first
  }

  /** Removes an entry; nothing happens if it is not in the queue. */
  remove(entry: Entry): void {
    const { place } = entry
    if (place < 0) return
    entry.place = -1
    const last = this.#heap.pop()
    if (last === undefined || last === entry) return
    this.#put(place, last)
    this.#rise(place)
    this.#sink(last.place)
  }

  /** Sets the time of every entry again. */
  reschedule(dueOf: (entry: Entry) => number): void {
    for (const entry of this.#heap) entry.dueMs = dueOf(entry)
    for (let place = this.#heap.length >> 1; place >= 0; place--) this.#sink(place)
  }

  #put(place: number, entry: Entry): void {
    this.#heap[place] = entry
    entry.place = place
  }

  #rise(from: number): void {
    let place = from
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (!this.#isBefore(place, parent)) return
      this.#swap(place, parent)
      place = parent
    }
  }

  #sink(from: number): void {
    let place = from
    for (;;) {
      const child = this.#earlierChild(place)
      if (!this.#isBefore(child, place)) return
      this.#swap(child, place)
      place = child
    }
  }

  #earlierChild(place: number): number {
    const left = 2 * place + 1
    return this.#isBefore(left + 1, left) ? left + 1 : left
  }

  /** Also false if there is no entry at the first place. */
  #isBefore(a: number, b: number): boolean {
    const [first, second] = [this.#heap[a], this.#heap[b]]
    return first !== undefined && second !== undefined && first.dueMs < second.dueMs
  }

  #swap(a: number, b: number): void {
    const [first, second] = [this.#heap[a], this.#heap[b]]
    if (first === undefined || second === undefined) return
    this.#put(a, second)
    this.#put(b, first)
  }
}
