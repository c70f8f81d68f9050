import { type LiveEvent, liveKeyOf } from '../core/live/live-event.ts'

/** An event, and the position of its change: positions rise. */
export interface PlacedEvent {
  readonly event: LiveEvent
  readonly position: number
}

/** How many things are remembered by default: about 300 bytes each. */
const MOST_KEPT = 4_096

/** The last change of each thing that has changed lately, for streams that were interrupted. */
export class RecentEvents {
  readonly #most: number
  /** In the order of their positions. */
  readonly #byKey = new Map<string, PlacedEvent>()
  /** Every change after this position is remembered. */
  #floor = 0

  constructor(most = MOST_KEPT) {
    this.#most = most
  }

  /** Forgets everything, and remembers events after this position. */
  beginAt(position: number): void {
    this.#byKey.clear()
    this.#floor = position
  }

  /** Notes an event. Positions must not fall. */
  add(placed: PlacedEvent): void {
    const key = liveKeyOf(placed.event)
    // Deleted first, so that it becomes the last one.
    this.#byKey.delete(key)
    this.#byKey.set(key, placed)
    if (this.#byKey.size <= this.#most) return
    for (const [oldest, { position }] of this.#byKey) {
      this.#byKey.delete(oldest)
      this.#floor = position
      return
    }
  }

  /**
   * The events at this position or later, each thing once: a revision may have been cut in the middle. Undefined if
   * events after the position are forgotten.
   */
  since(position: number): readonly PlacedEvent[] | undefined {
    if (position < this.#floor) return undefined
    return Array.from(this.#byKey.values()).filter((placed) => placed.position >= position)
  }
}
