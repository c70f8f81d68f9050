/** The notifications of a listener or a subscriber, in order. */
export class Watch<T> {
  readonly heard: T[] = []
  readonly #waiting = new Set<() => void>()

  /** Adds what it is told now. */
  hear(value: T): void {
    this.heard.push(value)
    for (const look of this.#waiting) look()
  }

  /** Waits until what it was told last is as wanted. Rejects after the limit, with all that it was told. */
  until(what: string, wanted: (value: T) => boolean, limitMs = 60_000): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (this.heard.length === 0 || !wanted(this.heard.at(-1)!)) return
        settle()
        resolve()
      }
      const timer = setTimeout(() => {
        settle()
        reject(
          new Error(`${what}: not heard within ${limitMs} ms, but ${JSON.stringify(this.heard.slice(-8))}`),
        )
      }, limitMs)
      const settle = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(look)
      }
      this.#waiting.add(look)
      look()
    })
  }
}
