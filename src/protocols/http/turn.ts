/** What is ready to be done; must not throw. */
export interface Work {
  run(): void
}

/** So many answers wait for each other at most: more of them would gain nothing, and the first ones would be late. */
const MOST_TOGETHER = 32

/**
 * Gathers what becomes ready in one turn of the event loop and does it together at its end: first all requests
 * are read, then all are handled, then all are answered. That keeps each part of the code and the client's process at
 * work without a change for as long as there is something to do (docs/performance.md, What was tried).
 */
export class Turn {
  #gathered: Work[] = []
  #endings: Work[] = []
  #isAtWork = false

  /** Takes work for the end of this turn; what is added while that is done belongs to the next one. */
  add(work: Work): void {
    if (this.#gathered.push(work) === 1) setImmediate(this.#doAll)
  }

  /** Ends a piece of work: with those of others if it is done with others, else at once. */
  end(ending: Work): void {
    if (this.#isAtWork) this.#endings.push(ending)
    else ending.run()
  }

  readonly #doAll = (): void => {
    const gathered = this.#gathered
    this.#gathered = []
    this.#isAtWork = true
    for (const work of gathered) {
      work.run()
      if (this.#endings.length >= MOST_TOGETHER) this.#endAll()
    }
    this.#isAtWork = false
    this.#endAll()
  }

  #endAll(): void {
    const endings = this.#endings
    this.#endings = []
    for (const ending of endings) ending.run()
  }
}
