/** What long work needs to share the event loop. */
export interface Loop {
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number
  /** Runs the callback once the loop has served what else is waiting (in the server: setImmediate). */
  readonly soon: (run: () => void) => void
}

/** Work keeps the loop for at most about this long before it lets others have their turn, which they have every 10 ms. */
const SLICE_MS = 5

/**
 * Work of many small steps (answering thousands of held polls, sending thousands of datagrams) that gives
 * the loop back every few milliseconds. `step` does one and says whether there may be more to do; it is never
 * called from within `start`, so that whoever starts the work is not held up by it and a burst of causes
 * becomes one run.
 */
export class SlicedWork {
  readonly #loop: Loop
  readonly #step: () => boolean
  #running = false

  constructor(loop: Loop, step: () => boolean) {
    this.#loop = loop
    this.#step = step
  }

  /** Says that there is work; nothing happens when it is under way already. */
  start(): void {
    if (this.#running) return
    this.#running = true
    this.#loop.soon(this.#slice)
  }

  readonly #slice = (): void => {
    const untilMs = this.#loop.now() + SLICE_MS
    let more = true
    try {
      do more = this.#step()
      while (more && this.#loop.now() < untilMs)
    } finally {
      // A step that throws is a fault of its own; the other steps are still done.
      if (more) this.#loop.soon(this.#slice)
      else this.#running = false
    }
  }
}
