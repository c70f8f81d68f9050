import { createConnectRouter, type HandlerContext } from '@connectrpc/connect'
import type { UniversalHandler } from '@connectrpc/connect/protocol'
import type { ClientSession } from '../connections/client-session.ts'
import type { ClientStreams } from '../connections/client-streams.ts'
import { BiRequestStream, type Payload, Request } from '../generated/client_pb.js'
import type { Dispatch } from '../requests/dispatch.ts'
import { type Message, messageOf } from '../wire/payload.ts'
import { SESSION } from './session-key.ts'

/** Clients may send contents of 10 MiB; what is around them comes on top. */
const LARGEST_MESSAGE_BYTES = 10 * 1024 * 1024 + 256 * 1024

/** What clients send on their streams: a setup, and acknowledgements. */
const LARGEST_REPLY_BYTES = 64 * 1024

/** The longest time after which a client may want its call to end; a stream has no end. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

/** What answers clients. */
export interface ClientServices {
  readonly dispatch: Pick<Dispatch, 'answer'>
  readonly streams: Pick<ClientStreams, 'open'>
}

/** What carries calls out, by their paths. */
export type ClientHandlers = ReadonlyMap<string, UniversalHandler>

/** The two services of clients. */
export function clientHandlers({ dispatch, streams }: ClientServices): ClientHandlers {
  const router = createConnectRouter({
    grpc: true,
    grpcWeb: false,
    connect: false,
    acceptCompression: [],
    readMaxBytes: LARGEST_MESSAGE_BYTES,
    maxTimeoutMs: LONGEST_TIMEOUT_MS,
  })
  router.service(Request, {
    request: (payload, context) => dispatch.answer(messageOf(payload), sessionOf(context)),
  })
  router.service(
    BiRequestStream,
    { requestBiStream: (payloads, context) => streams.open(messagesOf(payloads), sessionOf(context)) },
    { readMaxBytes: LARGEST_REPLY_BYTES },
  )
  return new Map(router.handlers.map((handler) => [handler.requestPath, handler]))
}

async function* messagesOf(payloads: AsyncIterable<Payload>): AsyncGenerator<Message> {
  for await (const payload of payloads) yield messageOf(payload)
}

function sessionOf({ values }: HandlerContext): ClientSession {
  const session = values.get(SESSION)
  if (session === undefined) throw new Error('A call has no session.')
  return session
}
