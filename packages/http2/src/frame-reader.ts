import { FRAME_HEADER_BYTES, MAX_FRAME_SIZE, PREFACE, ERROR, FLAG, FRAME } from './protocol.ts'

/** A frame (RFC 9113, section 4.1). The payload is a view of received bytes: copy it to keep it. */
export interface Frame {
  readonly type: number
  readonly flags: number
  readonly streamId: number
  readonly payload: Buffer
}

/** After these nothing can be read: a client that does not speak HTTP/2, and a frame above SETTINGS_MAX_FRAME_SIZE. */
export type Unreadable = 'no preface' | 'frame too large'

/** A frame that came in pieces begins with room for this many bytes. */
const FIRST_ROOM_BYTES = 128

const NO_BYTES = Buffer.alloc(0)

/** Finds the frames of a client, after its preface, in bytes that come in pieces of any size. */
export class FrameReader {
  #prefaceBytes = 0
  #hasWrongPreface = false
  #piece: Buffer = NO_BYTES
  #at = 0
  /** The beginning of a frame that is not complete, with some room behind it. */
  #begun: Buffer = NO_BYTES
  #begunBytes = 0

  /** Gives it the next piece, after `next` has found no more frames in the piece before. */
  push(piece: Buffer): void {
    this.#piece = piece
    this.#at = 0
    if (this.#prefaceBytes < PREFACE.length) this.#takePreface()
  }

  /** The next frame that is complete. */
  next(): Frame | Unreadable | undefined {
    if (this.#hasWrongPreface) return 'no preface'
    const frame = this.#begunBytes > 0 ? this.#nextOfBegun() : this.#nextOfPiece()
    // An idle connection keeps no piece.
    if (frame === undefined) this.push(NO_BYTES)
    return frame
  }

  /** The connection preface (section 3.4), or a part of it. */
  #takePreface(): void {
    const part = this.#piece.subarray(0, PREFACE.length - this.#prefaceBytes)
    const expected = PREFACE.subarray(this.#prefaceBytes, this.#prefaceBytes + part.length)
    this.#hasWrongPreface = !part.equals(expected)
    this.#prefaceBytes += part.length
    this.#at = part.length
  }

  /** The frame lies in the piece as a whole, or the rest of the piece begins it. */
  #nextOfPiece(): Frame | Unreadable | undefined {
    const left = this.#piece.length - this.#at
    const size = left < FRAME_HEADER_BYTES ? FRAME_HEADER_BYTES : sizeOf(this.#piece, this.#at)
    if (size > FRAME_HEADER_BYTES + MAX_FRAME_SIZE) return 'frame too large'
    if (left < size) {
      this.#keep(left, size)
      return undefined
    }
    const frame = frameAt(this.#piece, this.#at, size)
    this.#at += size
    return frame
  }

  #nextOfBegun(): Frame | Unreadable | undefined {
    if (!this.#fillTo(FRAME_HEADER_BYTES)) return undefined
    const size = sizeOf(this.#begun, 0)
    if (size > FRAME_HEADER_BYTES + MAX_FRAME_SIZE) return 'frame too large'
    if (!this.#fillTo(size)) return undefined
    const frame = frameAt(this.#begun, 0, size)
    this.#begun = NO_BYTES
    this.#begunBytes = 0
    return frame
  }

  /** Takes bytes of the piece until the frame has this many. False if the piece has too few. */
  #fillTo(size: number): boolean {
    this.#keep(Math.min(size - this.#begunBytes, this.#piece.length - this.#at), size)
    return this.#begunBytes >= size
  }

  /** Moves bytes from the piece to the begun frame. Its room doubles, so that bytes that come one by one stay cheap. */
  #keep(bytes: number, size: number): void {
    if (bytes <= 0) return
    const needed = this.#begunBytes + bytes
    if (needed > this.#begun.length) {
      const room = Math.max(needed, Math.min(size, Math.max(FIRST_ROOM_BYTES, 2 * needed)))
      const larger = Buffer.allocUnsafeSlow(room)
      this.#begun.copy(larger, 0, 0, this.#begunBytes)
      this.#begun = larger
    }
    this.#piece.copy(this.#begun, this.#begunBytes, this.#at, this.#at + bytes)
    this.#begunBytes = needed
    this.#at += bytes
  }
}

/** The size of a frame with its header. */
function sizeOf(bytes: Buffer, at: number): number {
  return FRAME_HEADER_BYTES + bytes.readUIntBE(at, 3)
}

function frameAt(bytes: Buffer, at: number, size: number): Frame {
  return {
    type: bytes[at + 3]!,
    flags: bytes[at + 4]!,
    // The highest bit is reserved and ignored.
    streamId: bytes.readUInt32BE(at + 5) & 0x7fffffff,
    payload: bytes.subarray(at + FRAME_HEADER_BYTES, at + size),
  }
}

/** The error of a frame by itself, in any state: the code of a connection error. */
export function errorOfFrame({ type, flags, streamId, payload }: Frame): number | undefined {
  const isOfConnection = type === FRAME.settings || type === FRAME.ping || type === FRAME.goAway
  if (isOfConnection && streamId !== 0) return ERROR.protocolError
  if (isOfStream(type) && streamId === 0) return ERROR.protocolError
  // Streams of clients have odd ids (RFC 9113, section 5.1.1).
  if (type === FRAME.headers && streamId % 2 === 0) return ERROR.protocolError
  // A client cannot push (section 8.4).
  if (type === FRAME.pushPromise) return ERROR.protocolError
  return isRightSize(type, flags, payload.length) ? undefined : ERROR.frameSizeError
}

function isOfStream(type: number): boolean {
  return (
    type === FRAME.data ||
    type === FRAME.headers ||
    type === FRAME.priority ||
    type === FRAME.rstStream ||
    type === FRAME.continuation
  )
}

/** The sizes of sections 6.4 to 6.9. A wrong size of PRIORITY is a stream error. */
function isRightSize(type: number, flags: number, size: number): boolean {
  if (type === FRAME.rstStream || type === FRAME.windowUpdate) return size === 4
  if (type === FRAME.ping) return size === 8
  if (type === FRAME.goAway) return size >= 8
  return type !== FRAME.settings || (flags & FLAG.ack) === 0 || size === 0
}

/** The payload of a DATA or HEADERS frame without its padding (sections 6.1 and 6.2). Undefined: the padding is too long. */
export function withoutPadding({ flags, payload }: Frame): Buffer | undefined {
  if ((flags & FLAG.padded) === 0) return payload
  const padding = payload[0]
  if (padding === undefined || padding >= payload.length) return undefined
  return payload.subarray(1, payload.length - padding)
}

/** Whether a priority names the stream itself: an error, before priorities were given up (RFC 7540, section 5.3.1). */
export function dependsOnItself(priority: Buffer, streamId: number): boolean {
  return (priority.readUInt32BE(0) & 0x7fffffff) === streamId
}
