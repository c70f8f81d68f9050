/** A view is read again at most this often. */
const SHORTEST_GAP_MS = 200
/** How many times as long as a read the gap after it is: after one change, and where changes do not end. */
const SHORTEST_GAP_IN_READS = 2
const LONGEST_GAP_IN_READS = 20

/** The dependencies of a refresher. */
export interface RefresherOptions {
  /** Reads what is shown again. It never rejects. */
  readonly refresh: () => Promise<void>
  /** Whether somebody looks at it. */
  readonly isWanted: () => boolean
  readonly after: (ms: number, run: () => void) => void
  readonly now: () => number
}

/**
 * Reads a view again when something in it has changed: at once, then with a gap, and only while somebody looks. Where changes do
 * not end, the gap grows with the time that a read takes: many pages together must not keep a server busy.
 */
export class Refresher {
  readonly #options: RefresherOptions
  #isStale = false
  #isBusy = false
  #stopped = false
  #gapInReads = SHORTEST_GAP_IN_READS

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
    const gapMs = Math.max(SHORTEST_GAP_MS, this.#gapInReads * (now() - startedMs))
    after(gapMs, () => {
      this.#isBusy = false
      this.#gapInReads = this.#isStale
        ? Math.min(LONGEST_GAP_IN_READS, 2 * this.#gapInReads)
        : SHORTEST_GAP_IN_READS
      void this.#run()
    })
  }
}
