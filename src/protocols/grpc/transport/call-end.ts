import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { guarded } from '../../../core/unexpected.ts'
import { CallError, GRPC_STATUS } from './frames.ts'

/** The head of an answer. */
export const ANSWER_HEAD: OutgoingHttpHeaders = { ':status': 200, 'content-type': 'application/grpc' }

/** After the last message of an answer, says that all is well, and leaves the stream. */
export function endWell(stream: ServerHttp2Stream): void {
  stream.sendTrailers({ 'grpc-status': `${GRPC_STATUS.ok}` })
  leaveUnread(stream)
}

/** Answers a call that cannot be carried out, and leaves its stream. */
export function refuseCall(stream: ServerHttp2Stream, error: unknown): void {
  if (stream.destroyed) return
  if (stream.headersSent) return stream.close(constants.NGHTTP2_INTERNAL_ERROR)
  const { status, message } =
    error instanceof CallError ? error : new CallError(GRPC_STATUS.internal, 'internal error')
  stream.respond(
    { ...ANSWER_HEAD, 'grpc-status': `${status}`, 'grpc-message': encodeURIComponent(message) },
    { endStream: true },
  )
  leaveUnread(stream)
}

/** What the client still sends is not read any more. Closed at once, the stream would lose its trailers. */
export function leaveUnread(stream: ServerHttp2Stream): void {
  if (stream.readableEnded) return
  const leave = (): void => {
    if (stream.destroyed) return
    stream.close(constants.NGHTTP2_NO_ERROR)
    stream.destroy()
  }
  setImmediate(guarded('request', () => cutCall(stream), leave))
}

/** Ends a call by a fault of this server. */
export function cutCall(stream: ServerHttp2Stream): void {
  stream.on('error', () => undefined)
  if (!stream.destroyed) stream.close(constants.NGHTTP2_INTERNAL_ERROR)
}
