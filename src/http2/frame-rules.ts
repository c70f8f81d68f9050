import type { Frame } from './frame-reader.ts'
import { ERROR, FLAG, FRAME } from './protocol.ts'

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
