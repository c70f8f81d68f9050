/** Requests of a stream, sent in the order in which they are added until the queue is ended. */
export class RequestQueue<T> implements AsyncIterable<T> {
  readonly #waiting: T[] = []
  #ended = false
  #wake: (() => void) | undefined

  add(request: T): void {
    this.#waiting.push(request)
    this.#wake?.()
  }

  end(): void {
    this.#ended = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    while (!this.#ended) {
      const request = this.#waiting.shift()
      if (request !== undefined) yield request
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
