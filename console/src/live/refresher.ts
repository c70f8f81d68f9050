/** A view is read again at most this often, and longer after a read that has taken long. */
const SHORTEST_GAP_MS = 200
const GAP_PER_READ = 2

/** What a refresher needs of its surroundings. */
export interface RefresherOptions {
  /** Reads what is shown again. It never rejects. */
  readonly refresh: () => Promise<void>
  /** Whether somebody looks at it. */
  readonly isWanted: () => boolean
  readonly after: (ms: number, run: () => void) => void
  readonly now: () => number
}

/** Reads a view again when something in it has changed: at once, then with a gap, and only while somebody looks. */
export class Refresher {
  readonly #options: RefresherOptions
  #isStale = false
  #isBusy = false
  #stopped = false

  constructor(options: RefresherOptions) {
    this.#options = options
  }

  /** Something has changed. */
  mark(): void {
    this.#isStale = true
    void this.#run()
  }

  /** Somebody looks again. */
  returned(): void {
    if (this.#isStale) void this.#run()
  }

  stop(): void {
    this.#stopped = true
  }

  async #run(): Promise<void> {
    const { refresh, isWanted, after, now } = this.#options
    if (this.#isBusy || this.#stopped || !this.#isStale || !isWanted()) return
    this.#isBusy = true
    this.#isStale = false
    const startedMs = now()
    await refresh()
    const gapMs = Math.max(SHORTEST_GAP_MS, GAP_PER_READ * (now() - startedMs))
    after(gapMs, () => {
      this.#isBusy = false
      void this.#run()
    })
  }
}
