import type { Cancellation } from './cancellation.ts'
import { constants, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2'
import { EtcdError } from './etcd-error.ts'
import { faultOfHead, faultOfTrailers, GRPC, GrpcError } from './grpc-error.ts'
import { framed, MessageReader } from './grpc-frames.ts'
import type { Method } from './methods.ts'
import { afterReading, cancel, type Session } from './session.ts'

/** A stream of messages in both directions. */
export interface MessageStream<Request, Response> {
  /** Sends a message. Does nothing after the stream has ended. */
  send(request: Request): void
  /** The received messages, in order. Throws when the stream fails. */
  readonly responses: AsyncIterable<Response>
}

/** Sends one message and resolves with the one answer. Rejects with `GrpcError`, after the timeout at the latest. */
export function callOn<Request, Response>(
  session: Session,
  method: Method<Request, Response>,
  { request, timeoutMs, token }: { request: Request; timeoutMs: number; token?: string },
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const frame = framed(method.encode(request))
    const stream = session.request(headersOf(method, { timeoutMs, token }))
    const ending = new Ending(stream)
    const reader = new MessageReader()
    const messages: Uint8Array[] = []
    let isSettled = false
    const settle = (): void => {
      isSettled = true
      clearTimeout(timer)
      session.answered(stream)
    }
    const fail = (reason: unknown): void => {
      if (isSettled) return
      settle()
      reject(faultOf(stream, reason))
      cancel(stream)
    }
    const finish = (): void => {
      ending.check(reader)
      const response = method.decode(onlyOne(messages))
      settle()
      resolve(response)
    }
    const late = (): void => fail(new GrpcError(GRPC.DEADLINE_EXCEEDED, 'there is no answer in time'))
    const timer = setTimeout(() => afterReading(late), timeoutMs)
    session.expectAnswer(stream)
    stream.on('data', (chunk: Buffer) => attempt(() => messages.push(...reader.add(chunk)), fail))
    stream.on('end', () => attempt(finish, fail))
    stream.on('error', fail)
    stream.on('close', fail)
    stream.end(frame)
  })
}

function onlyOne(messages: readonly Uint8Array[]): Uint8Array {
  if (messages.length === 1) return messages[0]!
  throw new GrpcError(GRPC.INTERNAL, `the answer has ${messages.length} messages`)
}

/** Opens a stream of messages. It ends when it is cancelled: `responses` throws the reason. */
export function streamOn<Request, Response>(
  session: Session,
  method: Method<Request, Response>,
  { cancellation, token }: { cancellation: Cancellation; token?: string },
): MessageStream<Request, Response> {
  if (cancellation.reason !== undefined) throw cancellation.reason
  const stream = session.request(headersOf(method, { token }))
  stream.on('error', () => {})
  stream.once(
    'close',
    cancellation.onCancel(() => cancel(stream)),
  )
  return {
    send: (request) => void (stream.writable && stream.write(framed(method.encode(request)))),
    responses: responsesOf(stream, method, cancellation),
  }
}

async function* responsesOf<Response>(
  stream: ClientHttp2Stream,
  { decode }: Method<never, Response>,
  cancellation: Cancellation,
): AsyncGenerator<Response> {
  const ending = new Ending(stream)
  const reader = new MessageReader()
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>)
      for (const message of reader.add(chunk)) yield decode(message)
    ending.check(reader)
  } catch (reason) {
    throw cancellation.reason ?? faultOf(stream, reason)
  } finally {
    cancel(stream)
  }
}

/** The status in the head and the trailers of an answer. An answer that is not gRPC ends its stream. */
class Ending {
  #trailers: IncomingHttpHeaders = {}

  constructor(stream: ClientHttp2Stream) {
    stream.on('response', (head) => {
      // An answer without a message has its trailers in its head.
      if (head['grpc-status'] !== undefined) return void (this.#trailers = head)
      const fault = faultOfHead(head)
      if (fault !== undefined) cancel(stream, fault)
    })
    stream.on('trailers', (trailers) => (this.#trailers = trailers))
  }

  /** Throws if the answer that has ended reports a failure, or ended within a message. */
  check(reader: MessageReader): void {
    const fault = faultOfTrailers(this.#trailers)
    if (fault !== undefined) throw fault
    if (reader.isWithin) throw new GrpcError(GRPC.INTERNAL, 'the answer has ended within a message')
  }
}

function attempt(work: () => void, fail: (reason: unknown) => void): void {
  try {
    work()
  } catch (reason) {
    fail(reason)
  }
}

function headersOf(
  { path, needsLeader }: Method<never, unknown>,
  { timeoutMs, token }: { timeoutMs?: number; token?: string | undefined },
) {
  return {
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc+proto',
    te: 'trailers',
    'user-agent': 'waypost',
    ...(needsLeader && { hasleader: 'true' }),
    ...(timeoutMs !== undefined && { 'grpc-timeout': `${timeoutMs}m` }),
    ...(token !== undefined && token !== '' && { token }),
  }
}

/** The error of a failed call. If HTTP/2's code refuses a call, the member has not begun it. */
function faultOf(stream: ClientHttp2Stream, reason: unknown): Error {
  if (reason instanceof GrpcError || reason instanceof EtcdError) return reason
  const notBegun = stream.rstCode === constants.NGHTTP2_REFUSED_STREAM
  const why = reason instanceof Error ? reason.message : `code ${stream.rstCode ?? 'unknown'}`
  return new GrpcError(GRPC.UNAVAILABLE, `the connection has ended the call: ${why}`, {
    notBegun,
    cause: reason,
  })
}
