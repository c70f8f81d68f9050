/** The facts of a revision that an examination keeps. */
export interface RevisionNote {
  readonly id: number
  readonly nameId: number
  readonly itemId: number
  readonly prevId: number
  readonly op: 'I' | 'U' | 'D'
  readonly hidden: boolean
  readonly hasContent: boolean
}

const FIRST_CAPACITY = 1_024
const OPS = ['I', 'U', 'D'] as const
const HIDDEN = 4
const HAS_CONTENT = 8

/** The revisions of a store without their contents: 33 bytes each, because there may be very many. */
export class RevisionIndex {
  #ids = new Float64Array(FIRST_CAPACITY)
  #names = new Float64Array(FIRST_CAPACITY)
  #items = new Float64Array(FIRST_CAPACITY)
  #previous = new Float64Array(FIRST_CAPACITY)
  #flags = new Uint8Array(FIRST_CAPACITY)
  /** Out of the order of ids: looked up by themselves. */
  readonly #late = new Map<number, RevisionNote>()
  #size = 0

  /** How many there are. */
  get size(): number {
    return this.#size + this.#late.size
  }

  /** Adds a revision; false if this id is already there. */
  add(note: RevisionNote): boolean {
    if (this.#size > 0 && note.id <= (this.#ids[this.#size - 1] ?? 0)) {
      if (this.find(note.id) !== undefined) return false
      this.#late.set(note.id, note)
      return true
    }
    if (this.#size === this.#ids.length) this.#grow()
    this.#ids[this.#size] = note.id
    this.#names[this.#size] = note.nameId
    this.#items[this.#size] = note.itemId
    this.#previous[this.#size] = note.prevId
    this.#flags[this.#size] = flagsOf(note)
    this.#size++
    return true
  }

  /** The revision of this id. */
  find(id: number): RevisionNote | undefined {
    let low = 0
    let high = this.#size
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#ids[middle] ?? 0) < id) low = middle + 1
      else high = middle
    }
    return low < this.#size && this.#ids[low] === id ? this.#at(low) : this.#late.get(id)
  }

  /** All revisions; the late ones, which came out of order, come last. */
  *all(): Generator<RevisionNote> {
    for (let at = 0; at < this.#size; at++) yield this.#at(at)
    yield* this.#late.values()
  }

  #at(at: number): RevisionNote {
    const flags = this.#flags[at] ?? 0
    return {
      id: this.#ids[at] ?? 0,
      nameId: this.#names[at] ?? 0,
      itemId: this.#items[at] ?? 0,
      prevId: this.#previous[at] ?? 0,
      op: OPS[flags & 3] ?? 'I',
      hidden: (flags & HIDDEN) > 0,
      hasContent: (flags & HAS_CONTENT) > 0,
    }
  }

  #grow(): void {
    const wider = (from: Float64Array) => {
      const to = new Float64Array(from.length * 2)
      to.set(from)
      return to
    }
    this.#ids = wider(this.#ids)
    this.#names = wider(this.#names)
    this.#items = wider(this.#items)
    this.#previous = wider(this.#previous)
    const flags = new Uint8Array(this.#flags.length * 2)
    flags.set(this.#flags)
    this.#flags = flags
  }
}

function flagsOf({ op, hidden, hasContent }: RevisionNote): number {
  return OPS.indexOf(op) + (hidden ? HIDDEN : 0) + (hasContent ? HAS_CONTENT : 0)
}
