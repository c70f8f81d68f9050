import { failed, guarded } from '../../../core/unexpected.ts'

/** A piece of work that is ready. */
export interface ReadyWork {
  run(): void
  /** The bytes of its body. */
  readonly bytes?: number
  /** Ends its request: `run` has thrown. */
  cut?(): void
}

/** At most this many answers are sent together: more would gain nothing and delay the first ones. */
const MOST_TOGETHER = 32
/** After this time the event loop gets a turn, even when more work is ready: some answers take milliseconds each. */
const SLICE_MS = 5
/** The clock is read after each long body, and after this many others: a read costs a fortieth of a small answer. */
const CLOCK_EVERY = 4
/** Reading a longer body may take milliseconds: its values count, not its bytes. */
const LONG_BYTES = 16 * 1024

/**
 * Collects the work of one turn of the event loop and does it together at the end of the turn. First all
 * requests are read, then all are handled, then all are answered. So each part of the code, and the client's
 * process, runs without interruption as long as there is something to do (decision 0027).
 */
export class Turn {
  readonly #nowMs: () => number
  #gathered: ReadyWork[] = []
  #endings: ReadyWork[] = []
  #isAtWork = false
  #isScheduled = false

  /** `nowMs` is a clock, in milliseconds. */
  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** Adds work for the end of this turn; work that is added during it belongs to the next turn. */
  add(work: ReadyWork): void {
    this.#gathered.push(work)
    this.#schedule()
  }

  /** Ends a piece of work: together with others while they are done together, otherwise at once. */
  end(ending: ReadyWork): void {
    if (this.#isAtWork) this.#endings.push(ending)
    else doOne(ending)
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#doSlice)
  }

  /** A fault between two pieces of work only delays the others. */
  readonly #doSlice = guarded(
    'request',
    () => this.#continue(),
    () => {
      this.#isScheduled = false
      const gathered = this.#gathered
      this.#gathered = []
      const done = this.#do(gathered)
      if (done === gathered.length) return
      this.#gathered = [...gathered.slice(done), ...this.#gathered]
      this.#schedule()
    },
  )

  #continue(): void {
    this.#isScheduled = false
    this.#isAtWork = false
    this.#schedule()
  }

  /** Does work until the slice is over; returns how many pieces are done. */
  #do(gathered: readonly ReadyWork[]): number {
    const endMs = this.#nowMs() + SLICE_MS
    let done = 0
    this.#isAtWork = true
    while (done < gathered.length) {
      const work = gathered[done++]!
      const isClockRead = (work.bytes ?? 0) > LONG_BYTES || done % CLOCK_EVERY === 0
      doOne(work)
      if (this.#endings.length >= MOST_TOGETHER) this.#endAll()
      if (isClockRead && this.#nowMs() >= endMs) break
    }
    this.#isAtWork = false
    this.#endAll()
    return done
  }

  #endAll(): void {
    const endings = this.#endings
    this.#endings = []
    for (const ending of endings) doOne(ending)
  }
}

function doOne(work: ReadyWork): void {
  try {
    work.run()
  } catch (error) {
    failed('request', () => work.cut?.(), error)
  }
}
