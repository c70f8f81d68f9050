/** How much work a queue takes. */
export interface QueueLimits {
  /** Work that runs at the same time. */
  readonly atOnce: number
  /** Work that waits. */
  readonly waiting: number
}

/** The outcome of work that waited. */
type QueueOutcome = 'starts' | 'refused'

/**
 * Runs a few pieces of work at a time; the others wait. The clients that wait take turns. When the queue is
 * full, the client with the most work in it gives way, so a single client cannot keep out the others.
 */
export class FairQueue {
  readonly #limits: QueueLimits
  readonly #refusal: () => Error
  /** Waiting work, by client. The client whose turn is next is first. */
  readonly #waiting = new Map<string, ((outcome: QueueOutcome) => void)[]>()
  #waitingCount = 0
  #running = 0

  /** `refusal` makes the error for work that finds no place. */
  constructor(limits: QueueLimits, refusal: () => Error) {
    this.#limits = limits
    this.#refusal = refusal
  }

  /** Runs the work in its turn. Rejects with the refusal where there is no place, at once or later. */
  async run<T>(client: string, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limits.atOnce) return this.#runLater(client, work)
    this.#running++
    return this.#run(work)
  }

  async #run<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } finally {
      this.#running--
      this.#next()
    }
  }

  #runLater<T>(client: string, work: () => Promise<T>): Promise<T> {
    if (this.#waitingCount >= this.#limits.waiting) this.#makePlace(client)
    const started = new Promise<QueueOutcome>((resolve) => this.#wait(client, resolve))
    return started.then((outcome) => {
      if (outcome === 'refused') throw this.#refusal()
      return this.#run(work)
    })
  }

  #wait(client: string, resolve: (outcome: QueueOutcome) => void): void {
    const ofClient = this.#waiting.get(client)
    if (ofClient === undefined) this.#waiting.set(client, [resolve])
    else ofClient.push(resolve)
    this.#waitingCount++
  }

  /** Starts the oldest work of the client whose turn it is. */
  #next(): void {
    const [turn] = this.#waiting
    if (turn === undefined) return
    const [client, ofClient] = turn
    const resolve = ofClient.shift()
    this.#waiting.delete(client)
    if (ofClient.length > 0) this.#waiting.set(client, ofClient)
    this.#waitingCount--
    this.#running++
    resolve?.('starts')
  }

  /** Refuses the newest work of the client with the most; throws where that is the client itself. */
  #makePlace(client: string): void {
    const own = this.#waiting.get(client)?.length ?? 0
    let most: ((outcome: QueueOutcome) => void)[] = []
    for (const ofClient of this.#waiting.values()) if (ofClient.length > most.length) most = ofClient
    if (most.length <= own + 1) throw this.#refusal()
    most.pop()?.('refused')
    this.#waitingCount--
  }
}
