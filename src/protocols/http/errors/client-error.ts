import { guarded, nothing } from '../../../core/unexpected.ts'
import type { Socket } from 'node:net'
import type { RefusalCode } from '../../../core/refusal.ts'
import { problemType } from './problem.ts'

/** Why a connection is ended before there is a request that could be answered. */
export interface Reason {
  readonly code: RefusalCode
  readonly status: number
  readonly title: string
  readonly detail: string
}

const MALFORMED: Reason = {
  code: 'malformed-request',
  status: 400,
  title: 'Bad Request',
  detail: 'This is not a request of HTTP/1.1 that can be read.',
}

const REASONS: Readonly<Record<string, Reason>> = {
  // Node's parser takes ASCII only here, so that raw UTF-8 in a request target ends up as this.
  HPE_INVALID_URL: {
    code: 'malformed-request',
    status: 400,
    title: 'Bad Request',
    detail: 'The request target holds a character that has to be percent-encoded (as UTF-8).',
  },
  HPE_HEADER_OVERFLOW: {
    code: 'too-large',
    status: 431,
    title: 'Request Header Fields Too Large',
    detail: 'The request line and headers are too large. Send large parameters as a form body.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    code: 'too-large',
    status: 413,
    title: 'Payload Too Large',
    detail: 'The chunk extensions of the body are too large.',
  },
}

/** The answer to a client that speaks HTTP where TLS is spoken. */
export const PLAIN_HTTP: Reason = {
  code: 'malformed-request',
  status: 400,
  title: 'Bad Request',
  detail: 'This address speaks HTTPS: use a URL that begins with https://.',
}

const TOO_SLOW: Reason = {
  code: 'too-slow',
  status: 408,
  title: 'Request Timeout',
  detail: 'The request did not arrive in time.',
}

/**
 * Answers bytes that are not a request, and ends the connection. No route and so no dialect is known here. It is the
 * client's fault and never logged as ours. `isAnswering`: an answer is being sent, so that nothing may be written.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket, isAnswering: boolean): void {
  if (error.code === 'ECONNRESET') socket.destroy()
  else endBetweenAnswers(socket, isAnswering, REASONS[error.code ?? ''] ?? MALFORMED)
}

/** Answers a client that has been sending a request for too long, and ends the connection. */
export function answerTooSlow(socket: Socket, isAnswering: boolean): void {
  endBetweenAnswers(socket, isAnswering, TOO_SLOW)
}

function endBetweenAnswers(socket: Socket, isAnswering: boolean, reason: Reason): void {
  if (isAnswering || !socket.writable) socket.destroy()
  else endWith(socket, reason)
}

/** How long a client may take to read why its connection ends and to close it. */
const LINGER_MS = 1_000

/** Ends a connection with an answer that says why; a client that does not close it then is cut. */
export function endWith(socket: Socket, { code, ...reason }: Reason): void {
  const body = JSON.stringify({ type: problemType(code), ...reason })
  const head = [
    `HTTP/1.1 ${reason.status} ${reason.title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  // Closing at once would reset the connection while the client is still sending, and lose the answer.
  const timer = setTimeout(
    guarded('connection', nothing, () => void socket.destroy()),
    LINGER_MS,
  )
  socket.on(
    'close',
    guarded('connection', nothing, () => clearTimeout(timer)),
  )
}
