/** Why a server should be sent no requests now. */
export interface NotReady {
  readonly code: 'stopping' | 'store-unavailable'
  readonly detail: string
  /** For how long, ms. */
  readonly forMs: number
}

/** What readiness depends on. */
export interface ReadinessOptions {
  /** Why the store takes no writes; undefined while it does. */
  readonly outage: () => { readonly reason: string; readonly forMs: number } | undefined
  readonly monotonicMs: () => number
}

/** Whether the server should be sent requests. There is none before it has loaded: it does not listen then. */
export class Readiness {
  readonly #options: ReadinessOptions
  #stoppingSinceMs: number | undefined

  constructor(options: ReadinessOptions) {
    this.#options = options
  }

  /** To be called when the server begins to stop. */
  stopping(): void {
    this.#stoppingSinceMs ??= this.#options.monotonicMs()
  }

  /** What keeps it from being ready; empty when it is. */
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
