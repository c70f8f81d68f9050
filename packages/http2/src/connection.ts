import { FieldBlocks, type FieldsError, type ReceivedFields } from './field-blocks.ts'
import { CONNECTION_WINDOW, ReceiveWindow } from './flow-control.ts'
import { type Frame, FrameReader, dependsOnItself, errorOfFrame, withoutPadding } from './frame-reader.ts'
import { goAwayFrame, pingFrame, rstStreamFrame, SETTINGS_ACK, windowUpdateFrame } from './frame-writer.ts'
import { TABLE_BYTES } from './header-decoder.ts'
import { headerBlockOf } from './header-encoder.ts'
import {
  type LimitCounts,
  type LimitReason,
  MAX_CONCURRENT_STREAMS,
  MAX_UNREAD_CONTROL_BYTES,
  type Rated,
  Rates,
  SMALL_DATA_BYTES,
} from './limits.ts'
import { OpenStreams } from './open-streams.ts'
import { Outgoing } from './outgoing.ts'
import { ERROR, FLAG, FRAME, INITIAL_WINDOW } from './protocol.ts'
import { areTrailers, type RequestHead } from './request-head.ts'
import { readSettings, SERVER_SETTINGS } from './settings.ts'
import { Http2Stream, type StreamOwner } from './stream.ts'

/** The events of a connection. */
export interface ConnectionListener {
  /** The client has opened a stream. Its listener is set before this returns. */
  opened(stream: Http2Stream, head: RequestHead): void
  /** There is something to `take`. Called again after `take` has given nothing. */
  sending(): void
  /** The client has answered the last `ping`. */
  pingAnswered(): void
  /** The client leaves (GOAWAY). */
  leaving(): void
  /** The connection is over: take the rest, send it, and close. Called once. */
  over(errorCode: number): void
}

/** The dependencies of a connection. */
export interface ServerConnectionParts {
  readonly listener: ConnectionListener
  readonly counts: LimitCounts
  /** A clock in ms that only goes forward. */
  readonly nowMs: number
}

/** How long a client may take for its preface and SETTINGS, and for a header block that it has begun. */
const LATE_MS = 10_000

/** After a DATA frame a client may send one update for the stream and one for the connection, or two of each. */
const UPDATES_OF_DATA = 4

const TOO_LARGE_FIELDS = headerBlockOf([{ name: ':status', value: '431' }])

/**
 * The server side of a connection of HTTP/2 (RFC 9113), as a state machine. Received bytes go into `receive`, bytes to send
 * come out of `take`. It has no clock and no socket, and no bytes make it throw.
 */
export class ServerConnection implements StreamOwner {
  nowMs: number
  readonly #listener: ConnectionListener
  readonly #counts: LimitCounts
  readonly #beganMs: number
  readonly #frames = new FrameReader()
  readonly #blocks = new FieldBlocks()
  readonly #outgoing: Outgoing
  readonly #rates = new Rates()
  readonly #streams = new OpenStreams()
  readonly #receiveWindow = new ReceiveWindow(CONNECTION_WINDOW)
  #hasSettings = false
  #initialWindow = INITIAL_WINDOW
  #ping: Buffer | undefined
  #isSending = false
  #isClosing = false
  #isOver = false

  constructor({ listener, counts, nowMs }: ServerConnectionParts) {
    this.#listener = listener
    this.#counts = counts
    this.#beganMs = nowMs
    this.nowMs = nowMs
    this.#outgoing = new Outgoing(nowMs)
    this.#outgoing.send(SERVER_SETTINGS)
    this.#outgoing.send(windowUpdateFrame(0, CONNECTION_WINDOW - INITIAL_WINDOW))
  }

  /** Bytes of the client have come. */
  receive(bytes: Buffer, nowMs: number): void {
    this.nowMs = nowMs
    if (this.#isOver) return
    this.#frames.push(bytes)
    for (let frame = this.#frames.next(); frame !== undefined && !this.#isOver; frame = this.#frames.next()) {
      if (frame === 'no preface') this.#end(ERROR.protocolError)
      else if (frame === 'frame too large') this.#end(ERROR.frameSizeError)
      else this.#frame(frame)
    }
    if (this.#isOver) return
    const small = this.#outgoing.takeSmallFrames()
    for (let count = 0; count < small; count++) this.#limit('small-windows')
    if (this.#outgoing.controlBytes > MAX_UNREAD_CONTROL_BYTES) this.#end(ERROR.enhanceYourCalm, 'unread')
  }

  /** Whether the client has streams that are open. */
  get hasStreams(): boolean {
    return this.#streams.size > 0
  }

  /** At most about `maxBytes` to send; undefined if nothing is left. Call it until then, while the client reads. */
  take(maxBytes: number): Buffer | undefined {
    const taken = this.#outgoing.take(maxBytes)
    for (const stream of taken?.ended ?? []) this.#endSent(stream)
    // The end of a stream may have caused an RST_STREAM.
    if (taken !== undefined) return taken.bytes
    this.#isSending = false
    if (this.#isClosing && this.#streams.size === 0) this.#finish(ERROR.noError)
    return undefined
  }

  /** Asks the client for an answer, which comes after everything sent before has arrived (section 6.7). */
  ping(): void {
    this.#ping = Buffer.alloc(8)
    this.#ping.writeDoubleBE(Math.random())
    this.#send(pingFrame(this.#ping, { isAck: false }))
  }

  /** Ends the connection after its streams are closed. The client opens no new streams (section 6.8). */
  close(): void {
    if (this.#isOver || this.#isClosing) return
    this.#isClosing = true
    this.#send(goAwayFrame(this.#streams.lastId, ERROR.noError))
  }

  /** Ends late streams, and the connection if it is late. Call it about once a second. */
  sweep(nowMs: number): void {
    this.nowMs = nowMs
    if (this.#isOver) return
    for (const stream of this.#streams)
      if (nowMs - stream.activeMs >= stream.mostIdleMs) this.#endLate(stream)
    if (this.#outgoing.sweep(nowMs)) this.#announce()
    if (!this.#hasSettings && nowMs - this.#beganMs >= LATE_MS)
      this.#end(ERROR.settingsTimeout, 'preface-late')
    else if (nowMs - (this.#blocks.openSinceMs ?? nowMs) >= LATE_MS)
      this.#end(ERROR.enhanceYourCalm, 'headers-late')
  }

  #endLate(stream: Http2Stream): void {
    this.#counts.count('request-late')
    this.reset(stream, ERROR.cancel)
  }

  /** The connection is gone: all its streams are closed. */
  lost(): void {
    this.#isOver = true
    for (const stream of this.#streams) this.#remove(stream)
  }

  ready(stream: Http2Stream): void {
    if (this.#isOver) return
    this.#outgoing.ready(stream)
    this.#announce()
  }

  reset(stream: Http2Stream, errorCode: number): void {
    this.#send(rstStreamFrame(stream.id, errorCode))
    if (!stream.isRemoteEnded) this.#streams.leave(stream.id)
    this.#remove(stream)
  }

  giveWindow(stream: Http2Stream, increment: number): void {
    this.#send(windowUpdateFrame(stream.id, increment))
  }

  #frame(frame: Frame): void {
    const { type, flags } = frame
    // The first frame is SETTINGS (section 3.4), and nothing comes between the frames of a header block (section 6.10).
    const isFirst = !this.#hasSettings && (type !== FRAME.settings || (flags & FLAG.ack) !== 0)
    if (isFirst || !this.#blocks.allows(frame)) return this.#end(ERROR.protocolError)
    const errorCode = errorOfFrame(frame)
    if (errorCode !== undefined) return this.#end(errorCode)
    if (type === FRAME.data) this.#data(frame)
    else if (type === FRAME.headers) this.#fieldsCame(this.#blocks.begin(frame, this.nowMs))
    else if (type === FRAME.priority) this.#priority(frame)
    else if (type === FRAME.rstStream) this.#rstStream(frame)
    else if (type === FRAME.settings) this.#settings(frame)
    else if (type === FRAME.ping) this.#pinged(frame)
    else if (type === FRAME.goAway) this.#listener.leaving()
    else if (type === FRAME.windowUpdate) this.#windowUpdate(frame)
    else if (type === FRAME.continuation) this.#fieldsCame(this.#blocks.continue(frame))
    // Frames of other types are ignored (section 4.1).
  }

  /** DATA (section 6.1). */
  #data(frame: Frame): void {
    const { streamId, payload, flags } = frame
    const data = withoutPadding(frame)
    if (data === undefined) return this.#end(ERROR.protocolError)
    this.#creditConnection(payload.length)
    const endStream = (flags & FLAG.endStream) !== 0
    if (!endStream && data.length < SMALL_DATA_BYTES)
      if (this.#limit(data.length === 0 ? 'empty-data' : 'small-data')) return
    const stream = this.#streams.get(streamId)
    if (stream === undefined) return this.#onMissingStream(streamId)
    if (stream.isRemoteEnded) return this.#streamError(stream, ERROR.streamClosed)
    if (!stream.receive(data, payload.length)) return this.#streamError(stream, ERROR.flowControlError)
    if (!stream.hasRightLength({ isEnd: false })) return this.#streamError(stream, ERROR.protocolError)
    if (endStream && !stream.isClosed) this.#remoteEnd(stream)
  }

  /** The connection's window gets its bytes back at once, in any state of the stream: only streams hold clients back. */
  #creditConnection(bytes: number): void {
    this.#receiveWindow.take(bytes)
    const increment = this.#receiveWindow.credit()
    if (increment > 0) this.#send(windowUpdateFrame(0, increment))
  }

  /** DATA on a stream that is not open: it is idle, or closed (section 5.1). */
  #onMissingStream(streamId: number): void {
    const state = this.#streams.stateOf(streamId)
    if (state === 'idle') return this.#end(ERROR.protocolError)
    if (state === 'left' || this.#limit('resets')) return
    this.#streams.leave(streamId)
    this.#send(rstStreamFrame(streamId, ERROR.streamClosed))
  }

  /**
   * A header block, or a fragment, has come (sections 6.2 and 6.10). Blocks of ignored streams are decoded too, because they
   * change the table.
   */
  #fieldsCame(fields: ReceivedFields | FieldsError | undefined): void {
    if (fields === undefined) return
    if ('errorCode' in fields) return this.#end(fields.errorCode, fields.reason)
    const { streamId } = fields
    const stream = this.#streams.get(streamId)
    if (stream !== undefined) return this.#trailersCame(stream, fields)
    if (this.#streams.stateOf(streamId) === 'left') return
    // A new stream has a higher id than all before (section 5.1.1).
    if (streamId === this.#streams.lastId) return this.#end(ERROR.streamClosed)
    if (streamId < this.#streams.lastId) return this.#end(ERROR.protocolError)
    this.#streams.lastId = streamId
    if (this.#isClosing) this.#streams.leave(streamId)
    else if (this.#streams.size >= MAX_CONCURRENT_STREAMS) this.#refuse(fields)
    else this.#open(fields)
  }

  /** Too many streams are open (section 5.1.2). */
  #refuse({ streamId, endStream }: ReceivedFields): void {
    if (this.#limit('streams')) return
    if (!endStream) this.#streams.leave(streamId)
    this.#send(rstStreamFrame(streamId, ERROR.refusedStream))
  }

  #open({ streamId, endStream, list, dependsOnItself: isWrong }: ReceivedFields): void {
    const head = this.#blocks.headOf(list)
    const stream = new Http2Stream(streamId, this, { window: this.#initialWindow, head })
    this.#streams.add(stream)
    if (isWrong) return this.#streamError(stream, ERROR.protocolError)
    if (list.isTooLarge) {
      this.#counts.count('header-bytes')
      stream.respond(TOO_LARGE_FIELDS)
      stream.end()
    } else if (head === undefined) return this.#streamError(stream, ERROR.protocolError)
    else this.#listener.opened(stream, head)
    if (endStream && !stream.isClosed) this.#remoteEnd(stream)
  }

  /** A second header block ends the request (section 8.1). */
  #trailersCame(stream: Http2Stream, { endStream, list }: ReceivedFields): void {
    if (stream.isRemoteEnded) this.#streamError(stream, ERROR.streamClosed)
    else if (!endStream || !areTrailers(list.fields)) this.#streamError(stream, ERROR.protocolError)
    else this.#remoteEnd(stream)
  }

  #remoteEnd(stream: Http2Stream): void {
    if (!stream.hasRightLength({ isEnd: true })) return this.#streamError(stream, ERROR.protocolError)
    stream.isRemoteEnded = true
    stream.activeMs = this.nowMs
    stream.listener.ended()
  }

  /** END_STREAM was sent. Later frames of the client are not needed (section 8.1). */
  #endSent(stream: Http2Stream): void {
    if (stream.isClosed) return
    if (stream.isRemoteEnded) this.#remove(stream)
    else this.reset(stream, ERROR.noError)
  }

  /** PRIORITY (section 6.3). Priorities are not used. */
  #priority({ streamId, payload }: Frame): void {
    const isRight = payload.length === 5 && !dependsOnItself(payload, streamId)
    if (isRight || this.#limit('resets')) return
    const errorCode = payload.length === 5 ? ERROR.protocolError : ERROR.frameSizeError
    const stream = this.#streams.get(streamId)
    if (stream !== undefined) this.reset(stream, errorCode)
    else this.#end(errorCode)
  }

  /** RST_STREAM (section 6.4). */
  #rstStream({ streamId }: Frame): void {
    if (this.#streams.stateOf(streamId) === 'idle') return this.#end(ERROR.protocolError)
    if (this.#limit('resets')) return
    const stream = this.#streams.get(streamId)
    if (stream !== undefined) this.#remove(stream)
  }

  /** SETTINGS (section 6.5). */
  #settings({ flags, payload }: Frame): void {
    if ((flags & FLAG.ack) !== 0 || this.#limit('settings')) return
    const read = readSettings(payload)
    if ('errorCode' in read) return this.#end(read.errorCode, read.isLimit ? 'settings' : undefined)
    this.#hasSettings = true
    if (read.headerTableSize !== undefined && read.headerTableSize < TABLE_BYTES) this.#outgoing.emptyTable()
    this.#send(SETTINGS_ACK)
    this.#changeInitialWindow(read.initialWindowSize ?? this.#initialWindow)
  }

  /** It changes the windows of all open streams (section 6.9.2). */
  #changeInitialWindow(size: number): void {
    const increment = size - this.#initialWindow
    this.#initialWindow = size
    if (increment === 0) return
    for (const stream of this.#streams)
      if (!stream.changeWindow(increment)) return this.#end(ERROR.flowControlError)
  }

  /** PING (section 6.7). Clients that measure the bandwidth send one for each DATA frame. */
  #pinged({ flags, payload }: Frame): void {
    if ((flags & FLAG.ack) !== 0) return this.#pingAnswered(payload)
    if (!this.#limit('pings', this.#outgoing.dataFrames)) this.#send(pingFrame(payload, { isAck: true }))
  }

  #pingAnswered(payload: Buffer): void {
    if (this.#ping?.equals(payload) !== true) return
    this.#ping = undefined
    this.#listener.pingAnswered()
  }

  /** WINDOW_UPDATE (section 6.9). */
  #windowUpdate({ streamId, payload }: Frame): void {
    if (streamId !== 0 && this.#streams.stateOf(streamId) === 'idle') return this.#end(ERROR.protocolError)
    if (this.#limit('window-updates', UPDATES_OF_DATA * this.#outgoing.dataFrames)) return
    const increment = payload.readUInt32BE(0) & 0x7fffffff
    if (streamId === 0) return this.#connectionWindowUpdate(increment)
    const stream = this.#streams.get(streamId)
    if (stream === undefined) return
    if (increment === 0) this.#streamError(stream, ERROR.protocolError)
    else if (!stream.changeWindow(increment)) this.#streamError(stream, ERROR.flowControlError)
  }

  #connectionWindowUpdate(increment: number): void {
    if (increment === 0) this.#end(ERROR.protocolError)
    else if (!this.#outgoing.growWindow(increment, this.nowMs)) this.#end(ERROR.flowControlError)
    else if (!this.#outgoing.isEmpty) this.#announce()
  }

  /** A stream error (section 5.4.2). */
  #streamError(stream: Http2Stream, errorCode: number): void {
    if (!stream.isClosed && !this.#limit('resets')) this.reset(stream, errorCode)
  }

  /** Counts a rare action of a client, beside the `free` ones. True: it was too often, and the connection has ended. */
  #limit(rated: Rated, free = 0): boolean {
    if (!this.#rates.exceeds(rated, { nowMs: this.nowMs, free })) return false
    this.#end(ERROR.enhanceYourCalm, rated)
    return true
  }

  #remove(stream: Http2Stream): void {
    this.#streams.remove(stream)
    this.#outgoing.remove(stream)
    stream.close()
    // A connection that is closing may be done.
    if (this.#isClosing && this.#streams.size === 0) this.#announce()
  }

  #send(frame: Buffer): void {
    if (this.#isOver) return
    this.#outgoing.send(frame)
    this.#announce()
  }

  #announce(): void {
    if (this.#isSending) return
    this.#isSending = true
    this.#listener.sending()
  }

  /** A connection error (section 5.4.1), or a limit. */
  #end(errorCode: number, reason?: LimitReason): void {
    if (this.#isOver) return
    if (reason !== undefined) this.#counts.count(reason)
    this.#outgoing.sendLast(goAwayFrame(this.#streams.lastId, errorCode))
    this.#finish(errorCode)
  }

  #finish(errorCode: number): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const stream of this.#streams) this.#remove(stream)
    this.#listener.over(errorCode)
  }
}
