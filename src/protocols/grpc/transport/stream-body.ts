import { constants, type ServerHttp2Stream } from 'node:http2'
import { Code, ConnectError } from '@connectrpc/connect'
import type { BodyMemory } from '../../sockets/body-memory.ts'

/** The limits of what a client sends in a request. */
export interface BodyLimits {
  readonly memory: BodyMemory
  /** How long it may send nothing before all has come. */
  readonly idleMs: number
}

/**
 * The bytes that a client sends on a stream. Unlike the iterator of the stream itself it leaves the stream open when the
 * reader stops early, so that an answer can still be sent.
 */
export class StreamBody implements AsyncIterable<Uint8Array> {
  readonly #stream: ServerHttp2Stream
  readonly #memory: BodyMemory | undefined
  #bytes = 0
  #wake: (() => void) | undefined
  #hasEnded = false

  /** Without limits it is a stream that lasts, whose messages are small. */
  constructor(stream: ServerHttp2Stream, limits: BodyLimits | undefined) {
    this.#stream = stream
    this.#memory = limits?.memory
    const wake = (): void => this.#wake?.()
    stream.on('readable', wake)
    stream.on('end', () => {
      this.#hasEnded = true
      wake()
    })
    stream.on('close', () => {
      limits?.memory.release(this.#bytes)
      wake()
    })
    if (limits !== undefined) stream.setTimeout(limits.idleMs, () => stream.close(constants.NGHTTP2_CANCEL))
  }

  /** Throws an Error where the client breaks off, or sends more than the server can read now. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#stream.read() as Buffer | null
      if (chunk !== null) {
        this.#count(chunk.length)
        yield chunk
      } else if (this.#hasEnded) return
      else if (this.#stream.destroyed) throw new Error('The client has broken the stream off.')
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  #count(bytes: number): void {
    const memory = this.#memory
    if (memory === undefined || this.#stream.destroyed) return
    if (!memory.take(bytes, this.#bytes + bytes))
      throw new ConnectError(memory.refusal().message, Code.ResourceExhausted)
    this.#bytes += bytes
  }
}
