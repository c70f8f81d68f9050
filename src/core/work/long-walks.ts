import { Refusal } from '../refusal.ts'
import { ClientTurns } from './client-turns.ts'
import { type Asker, FairQueue, refuseGone } from './fair-queue.ts'
import type { Loop } from './sliced-work.ts'

/** How long a walk works before other requests get a turn. */
const SLICE_MS = 5
/** How long a walk may work in all; the slices of others do not count. */
const LIMIT_MS = 2_000
/** How many walks may be under way; others wait for a place. */
const MOST_AT_ONCE = 8
/**
 * A client of which no walk is under way gets a place beyond these. At most 16 clients do: a walk has a list of all items, and together
 * these lists must fit into the heap beside the items.
 */
const MOST_FIRSTS = 16
/** How many may wait for a place. Each holds its request only. */
const MOST_WAITING = 128

/** Gives turns to a walk over very many entries. */
export interface Turns {
  /** Whether it is time for a turn of others. */
  readonly isDue: boolean
  /**
   * Lets others have their turn. False after 2 seconds of work: then a walk without an own bound must end. Rejects with
   * `CallerGone` where nobody waits for the outcome any more.
   */
  turn(): Promise<boolean>
}

/** Makes the pieces of an answer while its client reads it: see `LongWalks.pieces`. */
export type InTurns = <T>(made: Iterator<T, void>) => AsyncGenerator<T, void>

/**
 * The long walks of all requests: searches, lists and counts over everything. In each turn of the event loop one walk
 * works, for 5 ms. So many walks cost other requests no more than one does. The clients take turns: a client with many walks
 * makes those of another client twice as slow, and never more.
 */
export class LongWalks {
  readonly #loop: Loop
  /** Walks that wait for a slice. */
  readonly #ready = new ClientTurns<() => void>()
  readonly #places = new FairQueue(
    { atOnce: MOST_AT_ONCE, firsts: MOST_FIRSTS, waiting: MOST_WAITING },
    tooManySearches,
  )
  /** Whether the slice of this turn of the loop is given. */
  #isGiven = false

  constructor(loop: Loop) {
    this.#loop = loop
  }

  /** Runs a walk of a client. Rejects with Refusal `too-many-searches` where very many wait already. */
  run<T>(asker: string | Asker, walk: (turns: Turns) => Promise<T>): Promise<T> {
    const client = typeof asker === 'string' ? asker : asker.client
    const slice = async (): Promise<number> => {
      const beganMs = await this.#slice(client)
      refuseGone(asker)
      return beganMs
    }
    return this.#places.run(asker, async () => walk(new SlicedTurns(this.#loop, await slice(), slice)))
  }

  /**
   * The pieces of an answer that is made while its client reads it. Each has the slice of a turn, so it should take
   * less than 5 ms. There is no bound on the time: a slow client takes no place from walks.
   */
  async *pieces<T>(client: string, made: Iterator<T, void>): AsyncGenerator<T, void> {
    for (;;) {
      await this.#slice(client)
      const piece = made.next()
      if (piece.done === true) return
      yield piece.value
    }
  }

  /** Resolves with the time at which the slice of this walk begins. */
  async #slice(client: string): Promise<number> {
    if (this.#isGiven) await new Promise<void>((resolve) => this.#ready.add(client, resolve))
    else this.#give()
    return this.#loop.now()
  }

  #give(): void {
    this.#isGiven = true
    this.#loop.soon(this.#next)
  }

  readonly #next = (): void => {
    this.#isGiven = false
    const next = this.#ready.next()
    if (next === undefined) return
    this.#give()
    next.thing()
  }
}

class SlicedTurns implements Turns {
  readonly #loop: Loop
  readonly #slice: () => Promise<number>
  #beganMs: number
  #workedMs = 0

  constructor(loop: Loop, beganMs: number, slice: () => Promise<number>) {
    this.#loop = loop
    this.#beganMs = beganMs
    this.#slice = slice
  }

  get isDue(): boolean {
    return this.#loop.now() >= this.#beganMs + SLICE_MS
  }

  async turn(): Promise<boolean> {
    this.#workedMs += this.#loop.now() - this.#beganMs
    this.#beganMs = await this.#slice()
    return this.#workedMs < LIMIT_MS
  }
}

function tooManySearches(): Refusal {
  return new Refusal('too-many-searches', 'Too many searches and lists over everything are under way.', {
    allowed: `${MOST_AT_ONCE} at once, and ${MOST_WAITING} that wait`,
    retryAfterSeconds: 1,
  })
}
