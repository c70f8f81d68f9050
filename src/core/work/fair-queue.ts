import { ClientTurns } from './client-turns.ts'

/** How much work a queue takes. */
export interface QueueLimits {
  /** Work that runs at the same time. */
  readonly atOnce: number
  /** Work that waits. */
  readonly waiting: number
  /** How much work beyond `atOnce` may run, of clients of which nothing else runs; 0 by default. */
  readonly firsts?: number
}

/** A caller who asks for work. */
export interface Asker {
  /** The client that takes turns. */
  readonly client: string
  /** Whether nobody waits for the outcome any more. Absent: somebody always does. */
  readonly isGone?: () => boolean
}

/** The work was given up, because its caller has gone. It is no fault, and no refusal. */
export class CallerGone extends Error {}

/** Throws `CallerGone` where nobody waits for the outcome any more. A client by its name alone never goes. */
export function refuseGone(asker: string | Asker): void {
  if (typeof asker !== 'string' && asker.isGone?.() === true) throw new CallerGone('The caller has gone.')
}

/** The outcome of work that waited. */
type QueueOutcome = 'starts' | 'refused'

/**
 * Runs a few pieces of work at a time; the others wait. The clients that wait take turns. When the queue is
 * full, the client with the most work in it gives way, so a single client cannot keep out the others. Work whose
 * caller has gone does not begin.
 */
export class FairQueue {
  readonly #limits: Required<QueueLimits>
  readonly #refusal: () => Error
  readonly #waiting = new ClientTurns<(outcome: QueueOutcome) => void>()
  /** How much work of each client runs. */
  readonly #runningOf = new Map<string, number>()
  #running = 0

  /** `refusal` makes the error for work that finds no place. */
  constructor(limits: QueueLimits, refusal: () => Error) {
    this.#limits = { firsts: 0, ...limits }
    this.#refusal = refusal
  }

  /**
   * Runs the work in its turn. Rejects with the refusal where there is no place, at once or later, and with `CallerGone` where
   * nobody waits for it any more.
   */
  async run<T>(asker: string | Asker, work: () => Promise<T>): Promise<T> {
    const client = typeof asker === 'string' ? asker : asker.client
    if (!this.#hasPlace(client)) await this.#place(client)
    else this.#count(client, 1)
    try {
      refuseGone(asker)
      return await work()
    } finally {
      this.#count(client, -1)
      this.#next()
    }
  }

  #hasPlace(client: string): boolean {
    const { atOnce, firsts } = this.#limits
    const most = this.#runningOf.has(client) ? atOnce : atOnce + firsts
    return this.#running < most
  }

  #count(client: string, change: number): void {
    this.#running += change
    const running = (this.#runningOf.get(client) ?? 0) + change
    if (running === 0) this.#runningOf.delete(client)
    else this.#runningOf.set(client, running)
  }

  /** Resolves when the work has a place, which is counted already: nobody else can take it meanwhile. */
  async #place(client: string): Promise<void> {
    if (this.#waiting.size >= this.#limits.waiting) this.#makePlace(client)
    const outcome = await new Promise<QueueOutcome>((resolve) => this.#waiting.add(client, resolve))
    if (outcome === 'refused') throw this.#refusal()
  }

  /** Starts work as long as there is a place: the oldest one of the client whose turn it is. */
  #next(): void {
    for (;;) {
      const next = this.#waiting.next((client) => this.#hasPlace(client))
      if (next === undefined) return
      this.#count(next.client, 1)
      next.thing('starts')
    }
  }

  /** Refuses the newest work of the client with the most; throws where that is the client itself. */
  #makePlace(client: string): void {
    const place = this.#waiting.givesWayTo(client, 'newest')
    if (place === undefined) throw this.#refusal()
    this.#waiting.leave(place)
    place.thing('refused')
  }
}
