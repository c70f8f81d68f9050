import {
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2'
import { createContextValues } from '@connectrpc/connect'
import type { UniversalServerResponse } from '@connectrpc/connect/protocol'
import type { ClientSession } from '../connections/client-session.ts'
import type { ClientHandlers } from './client-services.ts'
import { SESSION } from './session-key.ts'
import { type BodyLimits, StreamBody } from './stream-body.ts'

/** A call of a client. */
export interface CarriedCall {
  readonly stream: ServerHttp2Stream
  readonly headers: IncomingHttpHeaders
  readonly session: ClientSession
}

/** What a service reads of the headers of a call. */
const READ_HEADERS = ['content-type', 'grpc-timeout', 'grpc-encoding', 'grpc-accept-encoding']

/**
 * Carries a call between its HTTP/2 stream and its service. Unlike the adapter for Node's requests it never throws: not for
 * names that are no URL, and not for clients that leave.
 */
export async function carryCall(
  { stream, headers, session }: CarriedCall,
  handlers: ClientHandlers,
  limits: BodyLimits,
): Promise<void> {
  const handler = handlers.get(`${headers[':path']}`)
  if (handler === undefined) return stream.respond({ ':status': 404 }, { endStream: true })
  const gone = new AbortController()
  stream.on('close', () => gone.abort())
  const response = await handler({
    httpVersion: '2.0',
    method: headers[':method'] ?? '',
    url: `http://waypost${handler.requestPath}`,
    header: headersOf(headers),
    body: new StreamBody(stream, handler.method.methodKind === 'unary' ? limits : undefined),
    signal: gone.signal,
    contextValues: createContextValues().set(SESSION, session),
  })
  await send(response, stream)
}

async function send(response: UniversalServerResponse, stream: ServerHttp2Stream): Promise<void> {
  const { status, header, body, trailer } = response
  if (stream.destroyed) return
  const head = { ':status': status, ...toSend(header) }
  if (body === undefined) return stream.respond(head, { endStream: true })
  stream.respond(head, { waitForTrailers: true })
  stream.on('wantTrailers', () => {
    stream.sendTrailers(toSend(trailer))
    // What the client still sends is not read any more. Closed at once, the stream would lose its trailers.
    if (!stream.readableEnded) setImmediate(() => leave(stream))
  })
  for await (const chunk of body) {
    if (stream.destroyed) return
    if (!stream.write(chunk)) await drained(stream)
  }
  stream.end()
}

function leave(stream: ServerHttp2Stream): void {
  stream.close(constants.NGHTTP2_NO_ERROR)
  stream.destroy()
}

/** Resolves when the stream takes more, or is closed. */
function drained(stream: ServerHttp2Stream): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done)
      stream.off('close', done)
      resolve()
    }
    stream.on('drain', done)
    stream.on('close', done)
  })
}

function headersOf(sent: IncomingHttpHeaders): Headers {
  const headers = new Headers()
  for (const name of READ_HEADERS) {
    const value = sent[name]
    if (typeof value === 'string') headers.set(name, value)
  }
  return headers
}

function toSend(headers: Headers | undefined): OutgoingHttpHeaders {
  return Object.fromEntries(headers ?? [])
}
