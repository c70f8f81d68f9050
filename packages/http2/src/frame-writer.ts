import { FLAG, FRAME, FRAME_HEADER_BYTES, MAX_FRAME_SIZE } from './protocol.ts'

/** The header of a frame, before a payload of `length` bytes (RFC 9113, section 4.1). */
function frameHeader(length: number, { type, flags, streamId }: FrameHeader): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES)
  header.writeUIntBE(length, 0, 3)
  header[3] = type
  header[4] = flags
  header.writeUInt32BE(streamId, 5)
  return header
}

interface FrameHeader {
  readonly type: number
  readonly flags: number
  readonly streamId: number
}

/** A frame of the connection, or of a stream, with a payload of some numbers of four bytes. */
function numbersFrame(head: FrameHeader, ...numbers: number[]): Buffer {
  const payload = Buffer.allocUnsafe(4 * numbers.length)
  for (const [index, number] of numbers.entries()) payload.writeUInt32BE(number >>> 0, 4 * index)
  return Buffer.concat([frameHeader(payload.length, head), payload])
}

/** Writes DATA to `out` (section 6.1). */
export function writeData(out: Buffer[], streamId: number, { pieces, length, endStream }: DataPayload): void {
  out.push(frameHeader(length, { type: FRAME.data, flags: endStream ? FLAG.endStream : 0, streamId }))
  for (const piece of pieces) out.push(piece)
}

/** The content of a DATA frame. */
export interface DataPayload {
  readonly pieces: readonly Buffer[]
  /** The bytes of all pieces. */
  readonly length: number
  readonly endStream: boolean
}

/** Writes HEADERS to `out`, with CONTINUATION where the block is larger than a frame (sections 6.2 and 6.10). */
export function writeHeaders(
  out: Buffer[],
  streamId: number,
  { block, endStream }: { block: Buffer; endStream: boolean },
): void {
  const end = endStream ? FLAG.endStream : 0
  if (block.length <= MAX_FRAME_SIZE) {
    out.push(
      frameHeader(block.length, { type: FRAME.headers, flags: end | FLAG.endHeaders, streamId }),
      block,
    )
    return
  }
  for (let at = 0; at < block.length; at += MAX_FRAME_SIZE) {
    const fragment = block.subarray(at, at + MAX_FRAME_SIZE)
    const last = at + MAX_FRAME_SIZE >= block.length ? FLAG.endHeaders : 0
    const [type, flags] = at === 0 ? [FRAME.headers, end | last] : [FRAME.continuation, last]
    out.push(frameHeader(fragment.length, { type, flags, streamId }), fragment)
  }
}

/** RST_STREAM (section 6.4). */
export function rstStreamFrame(streamId: number, errorCode: number): Buffer {
  return numbersFrame({ type: FRAME.rstStream, flags: 0, streamId }, errorCode)
}

/** SETTINGS with these parameters (section 6.5). */
export function settingsFrame(parameters: readonly (readonly [parameter: number, value: number])[]): Buffer {
  const payload = Buffer.allocUnsafe(6 * parameters.length)
  for (const [index, [parameter, value]] of parameters.entries()) {
    payload.writeUInt16BE(parameter, 6 * index)
    payload.writeUInt32BE(value, 6 * index + 2)
  }
  return Buffer.concat([
    frameHeader(payload.length, { type: FRAME.settings, flags: 0, streamId: 0 }),
    payload,
  ])
}

/** The acknowledgement of SETTINGS (section 6.5.3). */
export const SETTINGS_ACK = frameHeader(0, { type: FRAME.settings, flags: FLAG.ack, streamId: 0 })

/** PING, or its acknowledgement, with eight bytes (section 6.7). */
export function pingFrame(opaque: Buffer, { isAck }: { isAck: boolean }): Buffer {
  const head = { type: FRAME.ping, flags: isAck ? FLAG.ack : 0, streamId: 0 }
  return Buffer.concat([frameHeader(opaque.length, head), opaque])
}

/** GOAWAY (section 6.8). */
export function goAwayFrame(lastStreamId: number, errorCode: number): Buffer {
  return numbersFrame({ type: FRAME.goAway, flags: 0, streamId: 0 }, lastStreamId, errorCode)
}

/** WINDOW_UPDATE of a stream, or with 0 of the connection (section 6.9). */
export function windowUpdateFrame(streamId: number, increment: number): Buffer {
  return numbersFrame({ type: FRAME.windowUpdate, flags: 0, streamId }, increment)
}
