import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../../core/refusal.ts'

/**
 * Why a request may end somewhere else than it seems to (RFC 9112, sections 3.2 and 6.1). It has several Host fields, a transfer
 * coding in HTTP/1.0, a coding that is not understood, or `chunked` twice. Undefined for all others. Node takes them all.
 */
export function brokenFraming(request: IncomingMessage): Refusal | undefined {
  if (hasSeveralHosts(request.rawHeaders)) return malformed('It has several Host fields.')
  const coding = request.headers['transfer-encoding']
  if (coding === undefined || (coding === 'chunked' && request.httpVersionMinor > 0)) return undefined
  if (request.httpVersionMinor === 0) return malformed('HTTP/1.0 has no Transfer-Encoding.')
  const codings = coding.split(',').map((each) => each.trim().toLowerCase())
  // Node's parser itself refuses a body that is not chunked at last.
  if (codings.at(-1) !== 'chunked') return undefined
  if (codings.some((each) => each !== 'chunked')) return unknownCoding()
  return codings.length === 1 ? undefined : malformed('It is chunked more than once.')
}

function hasSeveralHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts > 1
}

function malformed(reason: string): Refusal {
  return new Refusal('malformed-request', `This is not a request of HTTP/1.1 that can be read. ${reason}`)
}

function unknownCoding(): Refusal {
  const allowed = 'chunked'
  return new Refusal('unknown-transfer-coding', `Transfer-Encoding must be ${allowed}.`, { allowed })
}
