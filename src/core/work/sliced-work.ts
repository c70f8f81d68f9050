import { type Boundary, caught, guarded } from '../unexpected.ts'

/** The event loop, for long work that shares it. */
export interface Loop {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  /** Runs the callback after the requests already received (in the server: setImmediate). */
  readonly soon: (run: () => void) => void
}

/** The length of a slice. Other work runs between slices, so at least every 10 ms. */
const SLICE_MS = 5
/** After this many failed steps in a row, the work is given up until it is started again. */
const MOST_FAILURES = 1_000

/** Options of a caller. */
export interface SliceOptions {
  /**
   * A slice takes as long as the work since the slice before it, up to this. Then half of the time is for the steps,
   * however busy the loop is. Absent: slices are always short, and a busy loop leaves little for the steps.
   */
  readonly mostMs?: number
  /** Asked after each step: false ends the slice. Absent: the time alone counts. */
  readonly hasRoom?: () => boolean
  /** The boundary of a step that throws; `push` by default. */
  readonly boundary?: Boundary
}

/**
 * For notifying thousands of clients that an item has changed. Notified clients come back with requests at
 * once. In short slices, the answers to the first ones would keep the last ones waiting.
 */
export const FAN_OUT: SliceOptions = { mostMs: 250 }

/**
 * Work of many small steps (answering thousands of held polls, sending thousands of datagrams) that releases the loop
 * every few milliseconds. `step` does one step and returns whether there may be more. `start` never calls it directly,
 * so the caller does not wait, and a burst of calls becomes one run. A step that throws must not be the next one again:
 * it is reported, and the other steps still run.
 */
export class SlicedWork {
  readonly #loop: Loop
  readonly #step: () => boolean
  readonly #mostMs: number
  readonly #hasRoom: () => boolean
  readonly #boundary: Boundary
  #running = false
  #failures = 0
  /** When the last slice ended; undefined for the first one of a run. */
  #endedMs: number | undefined

  constructor(loop: Loop, step: () => boolean, options: SliceOptions = {}) {
    const { mostMs = SLICE_MS, hasRoom = () => true, boundary = 'push' } = options
    this.#loop = loop
    this.#step = step
    this.#mostMs = mostMs
    this.#hasRoom = hasRoom
    this.#boundary = boundary
  }

  /** Starts the work, unless it runs already. */
  start(): void {
    if (this.#running) return
    this.#running = true
    this.#continue()
  }

  #continue(): void {
    const slice = guarded(
      this.#boundary,
      () => this.#continue(),
      () => this.#slice(),
    )
    this.#loop.soon(slice)
  }

  #slice(): void {
    const startedMs = this.#loop.now()
    const untilMs = startedMs + this.#lengthOf(startedMs - (this.#endedMs ?? startedMs))
    let more = true
    try {
      do more = this.#step()
      while (more && this.#loop.now() < untilMs && this.#hasRoom())
      this.#failures = 0
    } catch (error) {
      // The work of that step is over. The other steps run in the next slices.
      more = ++this.#failures < MOST_FAILURES
      caught(this.#boundary, error)
    } finally {
      if (!more) this.#failures = 0
      this.#endedMs = more ? this.#loop.now() : undefined
      if (more) this.#continue()
      else this.#running = false
    }
  }

  #lengthOf(otherWorkMs: number): number {
    return Math.min(Math.max(otherWorkMs, SLICE_MS), this.#mostMs)
  }
}
