import type { Socket } from 'node:net'
import { problemType } from './problem.ts'

interface Reason {
  readonly status: number
  readonly title: string
  readonly detail: string
}

const MALFORMED: Reason = {
  status: 400,
  title: 'Bad Request',
  detail: 'This is not a request of HTTP/1.1 that can be read.',
}

const REASONS: Readonly<Record<string, Reason>> = {
  // Node's parser takes ASCII only here, so that raw UTF-8 in a request target ends up as this.
  HPE_INVALID_URL: {
    status: 400,
    title: 'Bad Request',
    detail: 'The request target holds a character that has to be percent-encoded (as UTF-8).',
  },
  HPE_HEADER_OVERFLOW: {
    status: 431,
    title: 'Request Header Fields Too Large',
    detail: 'The request line and headers are too large. Send large parameters as a form body.',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: 413,
    title: 'Payload Too Large',
    detail: 'The chunk extensions of the body are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    title: 'Request Timeout',
    detail: 'The request did not arrive in time.',
  },
}

/**
 * Answers what is not a request at all, and ends the connection. No route and so no dialect is known here.
 * It is the client's fault and never logged as ours.
 */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const reason = REASONS[error.code ?? ''] ?? MALFORMED
  const body = JSON.stringify({ type: problemType('malformed-request'), ...reason })
  const head = [
    `HTTP/1.1 ${reason.status} ${reason.title}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
}
