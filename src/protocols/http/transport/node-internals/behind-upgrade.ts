import type { IncomingMessage } from 'node:http'
import { TLSSocket } from 'node:tls'

/** The parser of a socket, as Node keeps it. */
interface ParsedSocket {
  readonly parser?: { getCurrentBuffer?(): Buffer | undefined } | null
}

const HEAD_END = '\r\n\r\n'

/** Further requests may follow. */
const ENDLESS = Infinity

/**
 * Where a request with `Upgrade` ends, in all bytes of its connection. Node's parser stops there, and drops the bytes that have come
 * with its last ones: a request that was sent ahead, or half of one. If the connection has received more, they may be lost. 0: they are lost, or nobody knows. `ENDLESS` for other requests, and where the request is all that has come. Call it while the request
 * arrives: the parser has the bytes until then.
 */
export function endOfUpgrade(request: IncomingMessage): number {
  const { headers, method = '', url = '', socket } = request
  if (headers.upgrade === undefined || !/\bupgrade\b/i.test(headers.connection ?? '')) return ENDLESS
  const received = (socket as ParsedSocket).parser?.getCurrentBuffer?.()
  if (received === undefined || headers['transfer-encoding'] !== undefined) return 0
  const text = received.toString('latin1')
  const headEnd = text.indexOf(HEAD_END) + HEAD_END.length
  if (headEnd < HEAD_END.length || !text.startsWith(`${method} ${url} `)) return 0
  const missing = headEnd + Number(headers['content-length'] ?? 0) - text.length
  if (missing === 0) return ENDLESS
  // A socket of TLS counts encrypted bytes.
  return missing < 0 || socket instanceof TLSSocket ? 0 : socket.bytesRead + missing
}
