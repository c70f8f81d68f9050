/** A reason why the server should get no requests now. */
export interface NotReady {
  readonly code: 'stopping' | 'store-unavailable'
  readonly detail: string
  /** How long this has lasted, in ms. */
  readonly forMs: number
}

/** The inputs of readiness. */
export interface ReadinessOptions {
  /** Why the store cannot write; undefined while it can. */
  readonly outage: () => { readonly reason: string; readonly forMs: number } | undefined
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
    const { outage, monotonicMs } = this.#options
    const problems: NotReady[] = []
    if (this.#stoppingSinceMs !== undefined) {
      const forMs = Math.round(monotonicMs() - this.#stoppingSinceMs)
      problems.push({ code: 'stopping', detail: 'The server is stopping.', forMs })
    }
    const failing = outage()
    if (failing !== undefined)
      problems.push({ code: 'store-unavailable', detail: failing.reason, forMs: failing.forMs })
    return problems
  }
}
