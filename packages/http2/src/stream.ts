import { writeData, writeHeaders } from './frame-writer.ts'
import { ReceiveWindow, WIDE_WINDOW } from './flow-control.ts'
import { INITIAL_WINDOW, MAX_FRAME_SIZE, MAX_WINDOW } from './protocol.ts'
import type { RequestHead } from './request-head.ts'

/** The events of a stream. */
export interface StreamListener {
  /** A piece of the body. It is a view of received bytes: copy it to keep it. */
  data(piece: Buffer): void
  /** The client has sent all. */
  ended(): void
  /** Everything that was written has left. Called after `write` has returned false. */
  drained(): void
  /** The stream is closed, by either side. Called once. */
  closed(): void
}

/** A stream's connection, as the stream needs it. */
export interface StreamOwner {
  /** When something was last received. */
  readonly nowMs: number
  /** The stream has something to send. */
  ready(stream: Http2Stream): void
  /** Closes the stream with RST_STREAM. */
  reset(stream: Http2Stream, errorCode: number): void
  /** Lets the client send more on the stream. */
  giveWindow(stream: Http2Stream, increment: number): void
}

const NOBODY: StreamListener = {
  data: () => undefined,
  ended: () => undefined,
  drained: () => undefined,
  closed: () => undefined,
}

/** With this many bytes waiting, `write` asks its caller to wait. */
const HIGH_WATER_BYTES = 16 * 1024

/** A stream that a client has opened (section 5.1). It is closed when both sides have ended, or one has reset it. */
export class Http2Stream {
  readonly id: number
  listener: StreamListener = NOBODY
  /** The client has ended its side: half-closed (remote). */
  isRemoteEnded = false
  /** END_STREAM was sent: half-closed (local). */
  isLocalEnded = false
  isClosed = false
  /** When something was last received or sent. */
  activeMs: number
  /** The stream is closed when nothing has happened on it for this long. */
  mostIdleMs = Infinity
  readonly #owner: StreamOwner
  readonly #contentLength: number | undefined
  #sendWindow: number
  readonly #receiveWindow = new ReceiveWindow()
  #receivedBytes = 0
  #isPaused = false
  #isWide = false
  #head: Buffer | undefined
  #pieces: Buffer[] = []
  #queuedBytes = 0
  #trailers: Buffer | undefined
  #isEnding = false
  #isFull = false

  constructor(
    id: number,
    owner: StreamOwner,
    { window, head }: { window: number; head: RequestHead | undefined },
  ) {
    this.id = id
    this.#owner = owner
    this.#sendWindow = window
    this.#contentLength = head?.contentLength
    this.activeMs = owner.nowMs
  }

  /** Bytes of DATA that wait to be sent. */
  get queuedBytes(): number {
    return this.#queuedBytes
  }

  /** Whether more can be written. */
  get isWritable(): boolean {
    return !this.isClosed && !this.#isEnding
  }

  /** Sends the head of the response, a header block. */
  respond(block: Buffer): void {
    if (!this.isWritable) return
    this.#head = block
    this.#owner.ready(this)
  }

  /** Sends bytes of the body after the head. False if too many bytes wait: the caller should wait for `drained`. */
  write(bytes: Buffer): boolean {
    if (!this.isWritable) return true
    this.#pieces.push(bytes)
    this.#queuedBytes += bytes.length
    this.#owner.ready(this)
    this.#isFull ||= this.#queuedBytes >= HIGH_WATER_BYTES
    return !this.#isFull
  }

  /** Ends the response, with a header block of trailers. */
  end(trailers?: Buffer): void {
    if (!this.isWritable) return
    this.#isEnding = true
    this.#trailers = trailers
    this.#owner.ready(this)
  }

  /** Closes the stream at once. Waiting bytes are not sent. */
  reset(errorCode: number): void {
    if (!this.isClosed) this.#owner.reset(this, errorCode)
  }

  /** The client gets no window until `resume`; at most one window of bytes still comes. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#credit()
  }

  /**
   * The client may send {@link WIDE_WINDOW} bytes before it waits for an answer: over a slow line a large message else waits at each
   * 64 KiB. For messages that somebody counts.
   */
  widen(): void {
    if (this.#isWide || this.isRemoteEnded || this.isClosed) return
    this.#isWide = true
    const increment = WIDE_WINDOW - INITIAL_WINDOW
    this.#receiveWindow.grow(increment)
    this.#owner.giveWindow(this, increment)
  }

  /** Takes a DATA frame; `bytes`: with padding, for flow control (section 6.9.1). False if it exceeds the window. */
  receive(data: Buffer, bytes: number): boolean {
    this.activeMs = this.#owner.nowMs
    if (!this.#receiveWindow.take(bytes)) return false
    this.#receivedBytes += data.length
    if (data.length > 0) this.listener.data(data)
    this.#credit()
    return true
  }

  /** Whether the body has the length in its head (section 8.1.1); before its end, whether it is not longer. */
  hasRightLength({ isEnd }: { isEnd: boolean }): boolean {
    if (this.#contentLength === undefined) return true
    return isEnd ? this.#receivedBytes === this.#contentLength : this.#receivedBytes <= this.#contentLength
  }

  #credit(): void {
    if (this.#isPaused || this.isRemoteEnded || this.isClosed) return
    const increment = this.#receiveWindow.credit()
    if (increment > 0) this.#owner.giveWindow(this, increment)
  }

  /** The client has changed the window, by WINDOW_UPDATE or SETTINGS (section 6.9.2). False if it is too large now. */
  changeWindow(increment: number): boolean {
    this.#sendWindow += increment
    if (this.#sendWindow > MAX_WINDOW) return false
    if (this.#queuedBytes > 0 && this.#sendWindow > 0) this.#owner.ready(this)
    return true
  }

  /** Whether its own window and state let it send something, given a window of the connection that is large enough. */
  get canSend(): boolean {
    if (this.isClosed || this.isLocalEnded) return false
    if (this.#head !== undefined) return true
    return this.#queuedBytes > 0 ? this.#sendWindow > 0 : this.#isEnding
  }

  /** Whether the next frame is DATA, so that it needs a window of the connection. */
  get needsWindow(): boolean {
    return this.#head === undefined && this.#queuedBytes > 0
  }

  /** The head of the response, while it is not sent. */
  get unsentHead(): Buffer | undefined {
    return this.#head
  }

  set unsentHead(block: Buffer) {
    this.#head = block
  }

  /**
   * Writes the next frames: the head, at most one DATA frame, and the end if nothing is left before it. Returns the
   * bytes of DATA, at most `window`.
   */
  writeTo(out: Buffer[], window: number): number {
    this.activeMs = this.#owner.nowMs
    if (this.#head !== undefined) this.#writeHead(out, this.#head)
    const length = Math.min(this.#queuedBytes, Math.max(this.#sendWindow, 0), window, MAX_FRAME_SIZE)
    if (length > 0) this.#writeData(out, length)
    if (this.#isEnding && this.#queuedBytes === 0 && !this.isLocalEnded) this.#writeEnd(out)
    return length
  }

  #writeHead(out: Buffer[], block: Buffer): void {
    this.#head = undefined
    this.isLocalEnded = this.#isEnding && this.#queuedBytes === 0 && this.#trailers === undefined
    writeHeaders(out, this.id, { block, endStream: this.isLocalEnded })
  }

  #writeData(out: Buffer[], length: number): void {
    const pieces = this.#takePieces(length)
    this.#queuedBytes -= length
    this.#sendWindow -= length
    this.isLocalEnded = this.#isEnding && this.#queuedBytes === 0 && this.#trailers === undefined
    writeData(out, this.id, { pieces, length, endStream: this.isLocalEnded })
    if (this.#queuedBytes > 0 || !this.#isFull) return
    this.#isFull = false
    this.listener.drained()
  }

  #writeEnd(out: Buffer[]): void {
    this.isLocalEnded = true
    if (this.#trailers === undefined) writeData(out, this.id, { pieces: [], length: 0, endStream: true })
    else writeHeaders(out, this.id, { block: this.#trailers, endStream: true })
  }

  /** The first bytes that wait. */
  #takePieces(length: number): Buffer[] {
    let [count, bytes] = [0, 0]
    while (bytes < length) bytes += this.#pieces[count++]!.length
    const taken = this.#pieces.splice(0, count)
    if (bytes > length) {
      const last = taken.pop()!
      const kept = last.length - (bytes - length)
      taken.push(last.subarray(0, kept))
      this.#pieces.unshift(last.subarray(kept))
    }
    return taken
  }

  /** It is closed: nothing that waits is sent any more. */
  close(): void {
    if (this.isClosed) return
    this.isClosed = true
    const { listener } = this
    this.listener = NOBODY
    // It may ask how much has not left.
    listener.closed()
    this.#pieces = []
    this.#queuedBytes = 0
  }
}
