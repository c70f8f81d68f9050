/** The usual reason. It is made once: an error takes its stack. */
const NOT_NEEDED = new Error('It was cancelled: nobody needs it any longer.')

/**
 * Tells running work that nobody needs it any longer. A server uses it instead of AbortController. Aborting makes an
 * `Event`. Node.js 20 notes it in a weak set of its startup snapshot, where V8 11.3 can end the process (decision 0070).
 */
export class Cancellation {
  #reason: Error | undefined
  readonly #listeners = new Set<() => void>()

  get isCancelled(): boolean {
    return this.#reason !== undefined
  }

  /** Why it was cancelled; undefined until then. */
  get reason(): Error | undefined {
    return this.#reason
  }

  /** Calls the listeners. Only the first call counts. */
  cancel(reason: Error = NOT_NEEDED): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    const listeners = [...this.#listeners]
    this.#listeners.clear()
    for (const listener of listeners) listener()
  }

  /** Calls back once when this is cancelled, or at once if it is already. Call the result to wait no longer. */
  onCancel(listener: () => void): () => void {
    if (this.isCancelled) listener()
    else this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }
}
