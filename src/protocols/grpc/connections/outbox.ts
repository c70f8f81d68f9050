import type { Sent } from '../wire/payload.ts'

/** What a client may leave unread, besides what Node and the system hold: then it is too slow to be served. */
const MOST_BYTES = 16 * 1024 * 1024
const MOST_MESSAGES = 10_000

/** The messages that a stream has to send, in order. Whoever reads it takes one as soon as the last one is written. */
export class Outbox implements AsyncIterable<Sent> {
  readonly #waiting: Sent[] = []
  #bytes = 0
  #isEnded = false
  #wake: (() => void) | undefined

  /** Adds a message. False if so much waits already that the client must be left. */
  add(message: Sent): boolean {
    if (this.#isEnded) return true
    this.#bytes += bytesOf(message)
    this.#waiting.push(message)
    this.#wake?.()
    return this.#bytes <= MOST_BYTES && this.#waiting.length <= MOST_MESSAGES
  }

  /** Ends the stream once what waits is sent. */
  end(): void {
    this.#isEnded = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Sent> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next !== undefined) {
        this.#bytes -= bytesOf(next)
        yield next
      } else if (this.#isEnded) return
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}

function bytesOf({ body }: Sent): number {
  return body?.value?.length ?? 0
}
