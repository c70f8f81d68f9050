/** The event loop, for long work that shares it. */
export interface Loop {
  /** Milliseconds on a clock that never goes back. */
  readonly now: () => number
  /** Runs the callback after the requests already received (in the server: setImmediate). */
  readonly soon: (run: () => void) => void
}

/** The length of a slice. Other work runs between slices, so at least every 10 ms. */
const SLICE_MS = 5

/**
 * Work of many small steps (answering thousands of held polls, sending thousands of datagrams) that releases the loop
 * every few milliseconds. `step` does one step and returns whether there may be more. `start` never calls it directly, so
 * the caller does not wait, and a burst of calls becomes one run.
 */
export class SlicedWork {
  readonly #loop: Loop
  readonly #step: () => boolean
  #running = false

  constructor(loop: Loop, step: () => boolean) {
    this.#loop = loop
    this.#step = step
  }

  /** Starts the work, unless it runs already. */
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
      // If a step throws, the other steps still run.
      if (more) this.#loop.soon(this.#slice)
      else this.#running = false
    }
  }
}
