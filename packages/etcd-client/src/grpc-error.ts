import type { IncomingHttpHeaders } from 'node:http2'

/** The codes of gRPC that this client distinguishes. */
export const GRPC = {
  OK: 0,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  OUT_OF_RANGE: 11,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  UNAUTHENTICATED: 16,
} as const

/** A call failed: with a status that the member sent, or with an error of the connection. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError'
  readonly code: number
  /** True if the member certainly has not begun the call. */
  readonly notBegun: boolean

  constructor(code: number, message: string, more: { notBegun?: boolean; cause?: unknown } = {}) {
    super(message, { cause: more.cause })
    this.code = code
    this.notBegun = more.notBegun ?? false
  }
}

/** The gRPC status of an answer without gRPC, such as an answer of a proxy. Other HTTP statuses are unknown. */
const BY_HTTP_STATUS: Readonly<Record<number, number>> = {
  400: GRPC.INTERNAL,
  401: GRPC.UNAUTHENTICATED,
  403: GRPC.PERMISSION_DENIED,
  404: GRPC.UNIMPLEMENTED,
  429: GRPC.UNAVAILABLE,
  502: GRPC.UNAVAILABLE,
  503: GRPC.UNAVAILABLE,
  504: GRPC.UNAVAILABLE,
}

/** Why the head of an answer is not gRPC; undefined: it is. */
export function faultOfHead(headers: IncomingHttpHeaders): GrpcError | undefined {
  const status = Number(headers[':status'])
  if (status !== 200)
    return new GrpcError(BY_HTTP_STATUS[status] ?? GRPC.UNKNOWN, `the answer has the HTTP status ${status}`)
  const type = headers['content-type'] ?? ''
  if (/^application\/grpc(?:\+proto)?(?:;|$)/.test(type)) return undefined
  return new GrpcError(GRPC.UNKNOWN, `the answer has the content type ${JSON.stringify(type)}`)
}

/** The failure that trailers report; undefined: the call has succeeded. */
export function faultOfTrailers(trailers: IncomingHttpHeaders): GrpcError | undefined {
  const status = trailers['grpc-status']
  if (status === '0') return undefined
  if (typeof status !== 'string' || !/^\d{1,3}$/.test(status))
    return new GrpcError(GRPC.INTERNAL, 'the answer has ended without a status')
  return new GrpcError(Number(status), unescaped(String(trailers['grpc-message'] ?? '')))
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
