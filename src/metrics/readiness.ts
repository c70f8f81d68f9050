/** A reason why the server should get no requests now, or why it works only in part. */
export interface NotReady {
  readonly code:
    | 'stopping'
    | 'store-unavailable'
    | 'cut-off'
    | 'lagging'
    | 'store-full'
    | 'memory'
    | 'prefix-nested'
    | 'store-empty'
    | 'etcd-apart'
    | 'etcd-corrupt'
    | 'damaged'
  readonly detail: string
  /** How long this has lasted, in ms. */
  readonly forMs: number
}

/** A lasting condition, and for how long (ms). */
export interface Lasting {
  readonly reason: string
  readonly forMs: number
}

/** The server's knowledge of the store is old. `isBehind`: others know more, so they should get the requests. */
export interface Lagging extends Lasting {
  readonly isBehind: boolean
}

/** Something in the store that an operator must mend. This server works. */
export interface StoreFault extends Lasting {
  readonly code: 'prefix-nested' | 'damaged' | 'store-empty' | 'etcd-apart' | 'etcd-corrupt'
}

/** The inputs of readiness. */
export interface ReadinessOptions {
  /** Why the store cannot write; undefined while it can. */
  readonly outage: () => Lasting | undefined
  /**
   * Undefined for a server that is alone on its store: with its store away, it should get no requests. For one of several:
   * why it alone is cut off from the store. While the store is away for all, sending requests elsewhere helps nobody.
   */
  readonly cutOff?: (() => Lasting | undefined) | undefined
  /** Undefined: this server knows the writes of the others, or is the only server. */
  readonly lagging?: (() => Lagging | undefined) | undefined
  /** Why the store has no room for publishes; undefined: it has. */
  readonly full: () => Lasting | undefined
  /** Why there is little memory left for data; undefined: there is enough. */
  readonly scarce: () => Lasting | undefined
  /** The faults in the store of several servers that an operator must mend. */
  readonly storeFaults?: (() => readonly StoreFault[]) | undefined
  readonly monotonicMs: () => number
}

/** Whether the server should get requests. While it loads its data, it does not listen yet. */
export class Readiness {
  readonly #options: ReadinessOptions
  #stoppingSinceMs: number | undefined

  constructor(options: ReadinessOptions) {
    this.#options = options
  }

  /** Call it when the server starts to stop. */
  stopping(): void {
    this.#stoppingSinceMs ??= this.#options.monotonicMs()
  }

  /** Why the server is not ready; empty if it is. */
  problems(): NotReady[] {
    const { monotonicMs } = this.#options
    const problems: NotReady[] = []
    if (this.#stoppingSinceMs !== undefined) {
      const forMs = Math.round(monotonicMs() - this.#stoppingSinceMs)
      problems.push({ code: 'stopping', detail: 'The server is stopping.', forMs })
    }
    return [...problems, ...(this.#isShared() ? [...this.#cutOff(), ...this.#lagging(true)] : this.#outage())]
  }

  /** Faults of a server that is ready. */
  warnings(): NotReady[] {
    const { full, scarce } = this.#options
    const short = [...problemOf('store-full', full()), ...problemOf('memory', scarce())]
    const isOutage = this.#isShared() && this.#cutOff().length === 0
    const faults = (this.#options.storeFaults?.() ?? []).flatMap((fault) => problemOf(fault.code, fault))
    return [...(isOutage ? this.#outage() : []), ...this.#lagging(false), ...short, ...faults]
  }

  #isShared(): boolean {
    return this.#options.cutOff !== undefined
  }

  #outage(): NotReady[] {
    return problemOf('store-unavailable', this.#options.outage())
  }

  #lagging(isBehind: boolean): NotReady[] {
    const lagging = this.#options.lagging?.()
    return problemOf('lagging', lagging?.isBehind === isBehind ? lagging : undefined)
  }

  #cutOff(): NotReady[] {
    return problemOf('cut-off', this.#options.cutOff?.())
  }
}

function problemOf(code: NotReady['code'], lasting: Lasting | undefined): NotReady[] {
  return lasting === undefined ? [] : [{ code, detail: lasting.reason, forMs: lasting.forMs }]
}
