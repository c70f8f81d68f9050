import { EMPTY_TABLE } from './header-encoder.ts'
import { FRAME_HEADER_BYTES, INITIAL_WINDOW, MAX_WINDOW } from './protocol.ts'
import type { Http2Stream } from './stream.ts'

/** A DATA frame of fewer bytes, because of a small window, is small. */
const SMALL_BYTES = 64

/**
 * The last bytes of the connection's window. Streams with more to send leave them to others, so that a health check is
 * answered while a client does not read another answer.
 */
export const RESERVED_WINDOW = 4 * 1024

/** A client that gives no window for this long may wait until all of it is used: then nothing is reserved. */
const RESERVED_MS = 5_000

/** The result of `take`. */
export interface Taken {
  readonly bytes: Buffer
  /** The streams whose end was taken. */
  readonly ended: readonly Http2Stream[]
}

/**
 * The output of a connection: first its own frames, then the frames of its streams in turns, one DATA frame each. So a small
 * response passes a large one.
 */
export class Outgoing {
  /** DATA frames that were sent. */
  dataFrames = 0
  /** Small frames caused by a client's windows of a few bytes, since the last `takeSmallFrames`. */
  #smallFrames = 0
  #control: Buffer[] = []
  #controlBytes = 0
  /** The flow-control window of the connection (RFC 9113, section 6.9). */
  #window = INITIAL_WINDOW
  #reserved = RESERVED_WINDOW
  /** When the client has last let the connection send more. */
  #grownMs: number
  readonly #ready = new Set<Http2Stream>()
  /** Streams that wait for the window of the connection. Few connections have any. */
  #blocked: Set<Http2Stream> | undefined
  #mustEmptyTable = false

  constructor(nowMs: number) {
    this.#grownMs = nowMs
  }

  /** Bytes of frames of the connection that wait to be taken. */
  get controlBytes(): number {
    return this.#controlBytes
  }

  get isEmpty(): boolean {
    return this.#controlBytes === 0 && this.#ready.size === 0
  }

  /** Sends a frame that no window limits. */
  send(frame: Buffer): void {
    this.#control.push(frame)
    this.#controlBytes += frame.length
  }

  /** A stream has something to send. */
  ready(stream: Http2Stream): void {
    if (stream.canSend && this.#blocked?.has(stream) !== true) this.#ready.add(stream)
  }

  /** A stream is closed. */
  remove(stream: Http2Stream): void {
    this.#ready.delete(stream)
    this.#blocked?.delete(stream)
  }

  /** Nothing is sent any more but this frame. */
  sendLast(frame: Buffer): void {
    this.#ready.clear()
    this.#blocked = undefined
    this.send(frame)
  }

  /** The client lets the connection send more. False if its window is too large now. */
  growWindow(increment: number, nowMs: number): boolean {
    this.#window += increment
    if (this.#window > MAX_WINDOW) return false
    this.#grownMs = nowMs
    this.#reserved = RESERVED_WINDOW
    this.#unblock()
    return true
  }

  /** Lets all streams use the reserve if the client gives no window. True if they have something to send. */
  sweep(nowMs: number): boolean {
    if (this.#blocked === undefined || this.#blocked.size === 0 || nowMs - this.#grownMs < RESERVED_MS)
      return false
    this.#reserved = 0
    this.#unblock()
    return true
  }

  #block(stream: Http2Stream): void {
    this.#blocked ??= new Set()
    this.#blocked.add(stream)
  }

  #unblock(): void {
    for (const stream of this.#blocked ?? []) this.#ready.add(stream)
    this.#blocked = undefined
  }

  /** The next header block begins with a table of no bytes, because the client has made the table smaller (section 4.3.1). */
  emptyTable(): void {
    this.#mustEmptyTable = true
  }

  /** How many small frames were sent since the last call. */
  takeSmallFrames(): number {
    const count = this.#smallFrames
    this.#smallFrames = 0
    return count
  }

  /** About as many bytes as this, or the rest. */
  take(maxBytes: number): Taken | undefined {
    const out = this.#control
    const ended: Http2Stream[] = []
    let left = maxBytes - this.#controlBytes
    this.#control = []
    this.#controlBytes = 0
    // A stream that is added again, at the end, has another turn.
    for (const stream of this.#ready) {
      if (left <= 0) break
      this.#ready.delete(stream)
      const window = this.#windowFor(stream)
      if (stream.needsWindow && window === 0) this.#block(stream)
      else left -= FRAME_HEADER_BYTES + this.#write(stream, { out, window })
      if (stream.isLocalEnded) ended.push(stream)
      else this.ready(stream)
    }
    if (out.length === 0) return undefined
    return { bytes: out.length === 1 ? out[0]! : Buffer.concat(out), ended }
  }

  #windowFor({ queuedBytes }: Http2Stream): number {
    return queuedBytes <= RESERVED_WINDOW ? this.#window : Math.max(0, this.#window - this.#reserved)
  }

  #write(stream: Http2Stream, { out, window }: { out: Buffer[]; window: number }): number {
    const { unsentHead, queuedBytes } = stream
    if (unsentHead !== undefined && this.#mustEmptyTable) {
      stream.unsentHead = Buffer.concat([EMPTY_TABLE, unsentHead])
      this.#mustEmptyTable = false
    }
    const sent = stream.writeTo(out, window)
    this.#window -= sent
    if (sent > 0) this.dataFrames++
    if (sent > 0 && sent < SMALL_BYTES && sent < queuedBytes) this.#smallFrames++
    return sent
  }
}
