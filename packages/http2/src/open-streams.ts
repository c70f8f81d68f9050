import type { Http2Stream } from './stream.ts'

/** The most streams that are remembered which were closed while the client may still send on them. */
const MOST_LEFT = 256

/** The state of a stream id (RFC 9113, section 5.1). */
export type StreamState = 'idle' | 'open' | 'left' | 'closed'

/** The streams of a connection by their ids. */
export class OpenStreams {
  /** The highest id that the client has opened. */
  lastId = 0
  readonly #open = new Map<number, Http2Stream>()
  /** Streams whose late frames are ignored, because the client had not seen their end. The oldest first; mostly none. */
  #left: Set<number> | undefined

  get size(): number {
    return this.#open.size
  }

  [Symbol.iterator](): Iterator<Http2Stream> {
    return this.#open.values()
  }

  /** The stream, if it is open or half-closed. */
  get(streamId: number): Http2Stream | undefined {
    return this.#open.get(streamId)
  }

  /** The state of a stream. Streams with even ids stay idle, because this server opens none (section 5.1.1). */
  stateOf(streamId: number): StreamState {
    if (this.#open.has(streamId)) return 'open'
    if (streamId % 2 === 0 || streamId > this.lastId) return 'idle'
    return this.#left?.has(streamId) === true ? 'left' : 'closed'
  }

  add(stream: Http2Stream): void {
    this.#open.set(stream.id, stream)
  }

  remove(stream: Http2Stream): void {
    this.#open.delete(stream.id)
  }

  /** From now on frames on it are ignored. */
  leave(streamId: number): void {
    this.#left ??= new Set()
    this.#left.add(streamId)
    if (this.#left.size <= MOST_LEFT) return
    for (const oldest of this.#left) return void this.#left.delete(oldest)
  }
}
