import { CallError, GRPC_STATUS } from './frames.ts'
import type { CallHead, CallStream } from './call-stream.ts'
import type { CallParts } from './call-parts.ts'
import type { ConnectionSession } from './session.ts'
import { StreamCall } from './stream-call.ts'
import { UnaryCall } from './unary-call.ts'

/** The paths of the two services: see `proto/client.proto`. */
const REQUEST = '/Request/request'
const STREAM = '/BiRequestStream/requestBiStream'

/** A call of a client. */
export interface Call {
  readonly stream: CallStream
  readonly head: CallHead
  readonly session: ConnectionSession
}

/** Carries a call between its HTTP/2 stream and its service. */
export function carryCall({ stream, head, session }: Call, parts: CallParts): void {
  const status = httpStatusOf(head)
  if (status !== 200) stream.answerHttp(status)
  else if (!isPlain(head))
    stream.refuse(new CallError(GRPC_STATUS.unimplemented, 'Compressed messages are not served.'))
  else if (head.path === REQUEST) new UnaryCall(stream, session, parts)
  else new StreamCall(stream, session, parts)
}

/** The status of HTTP: 200 unless the call is not gRPC, or for an unknown service. */
function httpStatusOf({ path, method, contentType }: CallHead): number {
  if (path !== REQUEST && path !== STREAM) return 404
  if (method !== 'POST') return 405
  return /^application\/grpc(?:\+proto)?(?:;|$)/.test(contentType ?? '') ? 200 : 415
}

function isPlain({ encoding }: CallHead): boolean {
  return encoding === undefined || encoding === 'identity'
}
