/** Chooses the endpoint: one until it fails, then the next of the list. */
export class Endpoints {
  readonly all: readonly string[]
  #index: number

  /** Begins at a place that `random` chooses (0 <= value < 1), so that several servers use different members. */
  constructor(all: readonly string[], random: () => number) {
    if (all.length === 0) throw new Error('There must be at least one endpoint.')
    this.all = all
    this.#index = Math.floor(random() * all.length)
  }

  get current(): string {
    return this.all[this.#index]!
  }

  /** Leaves the endpoint. Does nothing if another caller has already left it. */
  failed(endpoint: string): void {
    if (endpoint === this.current) this.#index = (this.#index + 1) % this.all.length
  }
}
