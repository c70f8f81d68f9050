/** What is ready to be done; must not throw. */
export interface Work {
  run(): void
}

/** So many answers wait for each other at most: more of them would gain nothing, and the first ones would be late. */
const MOST_TOGETHER = 32
/** After so long the loop has a turn for others, also where much is gathered: some answers take milliseconds each. */
const SLICE_MS = 5
/** After so many the clock is read, which costs a fortieth of a small answer. */
const CLOCK_EVERY = 4

/**
 * Gathers what becomes ready in one turn of the event loop and does it together at its end: first all requests
 * are read, then all are handled, then all are answered. That keeps each part of the code and the client's process at
 * work without a change for as long as there is something to do (decision 0027).
 */
export class Turn {
  readonly #nowMs: () => number
  #gathered: Work[] = []
  #endings: Work[] = []
  #isAtWork = false
  #isScheduled = false

  /** `nowMs` is a clock, in milliseconds. */
  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Takes work for the end of this turn; what is added while that is done belongs to the next one. */
  add(work: Work): void {
    this.#gathered.push(work)
    this.#schedule()
  }

  /** Ends a piece of work: with those of others if it is done with others, else at once. */
  end(ending: Work): void {
    if (this.#isAtWork) this.#endings.push(ending)
    else ending.run()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#doSlice)
  }

  readonly #doSlice = (): void => {
    const gathered = this.#gathered
    this.#gathered = []
    this.#isScheduled = false
    const done = this.#do(gathered)
    if (done === gathered.length) return
    this.#gathered = [...gathered.slice(done), ...this.#gathered]
    this.#schedule()
  }

  /** Does work until the slice is over; answers how many pieces of it are done. */
  #do(gathered: readonly Work[]): number {
    const endMs = this.#nowMs() + SLICE_MS
    let done = 0
    this.#isAtWork = true
    while (done < gathered.length) {
      gathered[done++]!.run()
      if (this.#endings.length >= MOST_TOGETHER) this.#endAll()
      if (done % CLOCK_EVERY === 0 && this.#nowMs() >= endMs) break
    }
    this.#isAtWork = false
    this.#endAll()
    return done
  }

  #endAll(): void {
    const endings = this.#endings
    this.#endings = []
    for (const ending of endings) ending.run()
  }
}
