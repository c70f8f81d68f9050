import type { ClientSession } from '../connections/client-session.ts'
import type { Outlet } from '../connections/outlet.ts'
import type { Message, MessageHead } from '../wire/message-reader.ts'
import type { ServerMessage } from '../wire/payload.ts'
import type { CallHead, CallStream } from './call-stream.ts'
import { CallError, GRPC_STATUS } from './frames.ts'
import type { ConnectionSession } from './session.ts'
import { StreamCall, type ClientStreamListener } from './stream-call.ts'
import { UnaryCall, type UnaryParts } from './unary-call.ts'

/** What answers clients. */
export interface ClientServices {
  /** The answer to a request: at once where nothing has to be awaited. Never throws or rejects. */
  answer(message: Message, session: ClientSession): ServerMessage | Promise<ServerMessage>
  /**
   * The refusal of a request whose head is enough to refuse it; undefined: the body is read. `head` is undefined while only the
   * size of the request is known.
   */
  judge(
    head: MessageHead | undefined,
    session: ClientSession,
  ): ServerMessage | undefined | Promise<ServerMessage | undefined>
  /** Begins with the stream of a client, which is asked on the outlet. */
  open(outlet: Outlet, session: ClientSession): ClientStreamListener
}

/** The paths of the two services: see `proto/client.proto`. */
const REQUEST = '/Request/request'
const STREAM = '/BiRequestStream/requestBiStream'

/** A call of a client. */
export interface Call {
  readonly stream: CallStream
  readonly head: CallHead
  readonly session: ConnectionSession
}

/** The memory that calls share, and their time. */
export type CallLimits = Pick<UnaryParts, 'memory' | 'unknown' | 'unread' | 'idleMs'>

/** Carries a call between its HTTP/2 stream and its service. */
export function carryCall(
  { stream, head, session }: Call,
  services: ClientServices,
  limits: CallLimits,
): void {
  const status = httpStatusOf(head)
  if (status !== 200) stream.answerHttp(status)
  else if (!isPlain(head))
    stream.refuse(new CallError(GRPC_STATUS.unimplemented, 'Compressed messages are not served.'))
  else if (head.path === REQUEST)
    new UnaryCall(stream, {
      session,
      answer: (message) => services.answer(message, session),
      judge: (messageHead) => services.judge(messageHead, session),
      whenRead: (done) => session.whenRead(done),
      leave: () => session.destroy(),
      ...limits,
    })
  else new StreamCall(stream, { listen: (outlet) => services.open(outlet, session), ...limits })
}

/** The status of HTTP: 200 unless the call is none of gRPC, or of an unknown service. */
function httpStatusOf({ path, method, contentType }: CallHead): number {
  if (path !== REQUEST && path !== STREAM) return 404
  if (method !== 'POST') return 405
  return /^application\/grpc(?:\+proto)?(?:;|$)/.test(contentType ?? '') ? 200 : 415
}

function isPlain({ encoding }: CallHead): boolean {
  return encoding === undefined || encoding === 'identity'
}
