import type { ServerHttp2Stream } from 'node:http2'

/**
 * The bytes that a client sends on a stream. Unlike the iterator of the stream itself it leaves the stream open when the
 * reader stops early, so that an answer can still be sent.
 */
export class StreamBody implements AsyncIterable<Uint8Array> {
  readonly #stream: ServerHttp2Stream
  #wake: (() => void) | undefined
  #hasEnded = false

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream
    const wake = (): void => this.#wake?.()
    stream.on('readable', wake)
    stream.on('end', () => {
      this.#hasEnded = true
      wake()
    })
    stream.on('close', wake)
  }

  /** Throws an Error where the client breaks off. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#stream.read() as Buffer | null
      if (chunk !== null) yield chunk
      else if (this.#hasEnded) return
      else if (this.#stream.destroyed) throw new Error('The client has broken the stream off.')
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }
}
