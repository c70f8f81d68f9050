/** What is ready to be done; must not throw. */
export interface Work {
  run(): void
}

/**
 * Gathers what becomes ready in one turn of the event loop and does it together at its end: first all requests
 * are read, then all are handled and answered. That keeps each part of the code and the client's process at
 * work without a change for as long as there is something to do (docs/performance.md, What was tried).
 */
export class Turn {
  #gathered: Work[] = []

  /** Takes work for the end of this turn; what is added while that is done belongs to the next one. */
  add(work: Work): void {
    if (this.#gathered.push(work) === 1) setImmediate(this.#doAll)
  }

  readonly #doAll = (): void => {
    const gathered = this.#gathered
    this.#gathered = []
    for (const work of gathered) work.run()
  }
}
