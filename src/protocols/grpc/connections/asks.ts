import { type Due, DueBook, NOT_DUE } from '../../../core/work/due-book.ts'

/** An ask may be given up this much late. */
const BUCKET_MS = 100

/** A question that a client has not acknowledged yet. */
export interface PendingAsk extends Due {
  readonly requestId: string
  /** Called once, with whether the client has acknowledged it in time. */
  readonly settle: (acknowledged: boolean) => void
}

/** The questions of all connections that wait for their acknowledgements, and their ids. */
export class Asks {
  /** Since the start. */
  readonly counts = { asked: 0, acknowledged: 0, unanswered: 0 }
  readonly #due = new DueBook<PendingAsk>(BUCKET_MS)
  readonly #monotonicMs: () => number
  #lastId = 0

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs
  }

  /** A question with an id of its own, which is given up after `limitMs`. */
  begin(limitMs: number, settle: PendingAsk['settle']): PendingAsk {
    this.counts.asked++
    const ask = { requestId: `${++this.#lastId}`, settle, dueTick: NOT_DUE }
    this.#due.add(ask, this.#monotonicMs() + limitMs)
    return ask
  }

  /** The client has acknowledged it or refused to, or its connection has ended. */
  end(ask: PendingAsk, acknowledged: boolean): void {
    this.#due.remove(ask)
    this.#settle(ask, acknowledged)
  }

  /** Gives up questions whose time is over. Call it about ten times a second. */
  tick(nowMs: number): void {
    for (const ask of this.#due.due(nowMs)) this.#settle(ask, false)
  }

  #settle(ask: PendingAsk, acknowledged: boolean): void {
    if (acknowledged) this.counts.acknowledged++
    else this.counts.unanswered++
    ask.settle(acknowledged)
  }
}
