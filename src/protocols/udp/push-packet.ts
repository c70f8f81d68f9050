import { gzipSync } from 'node:zlib'

/** A packet of this size or more is sent compressed; clients tell by its first bytes (http-compat.md section 5). */
const GZIP_FROM_BYTES = 1_024

/**
 * A longer list answer is not even tried. Packing it would hold up the server for more than 10 ms, and it
 * hardly fits with the usual compression (about 2,400 instances).
 */
const MAX_ANSWER_BYTES = 1024 * 1024

/** The most bytes of a UDP datagram over IPv4: 65,535 less the IP and UDP headers. */
export const MAX_DATAGRAM_BYTES = 65_507

/** The receive buffer of the Go client: longer datagrams arrive cut off. */
const SMALL_DATAGRAM_BYTES = 4_024

/** Acks are some 70 bytes; nothing larger is read. */
const MAX_ACK_BYTES = 1_024

/**
 * The datagram that brings a list to subscribers: `answer` is the list answer as JSON, which the packet holds
 * as a text. Undefined when no client could take it.
 */
export function encodePush(answer: Buffer, lastRefTime: number): Buffer | undefined {
  if (answer.length > MAX_ANSWER_BYTES) return undefined
  const data = JSON.stringify(answer.toString('utf8'))
  const plain = Buffer.from(`{"type":"dom","data":${data},"lastRefTime":${lastRefTime}}`)
  const datagram = plain.length < GZIP_FROM_BYTES ? plain : gzipSync(plain)
  return datagram.length <= MAX_DATAGRAM_BYTES ? datagram : undefined
}

/** The `lastRefTime` that an ack names, as a number or in digits; undefined for any other datagram. */
export function decodeAck(datagram: Buffer): number | undefined {
  if (datagram.length > MAX_ACK_BYTES) return undefined
  const ack = parsed(datagram)
  if (ack?.type !== 'push-ack') return undefined
  const { lastRefTime } = ack
  const ref =
    typeof lastRefTime === 'string' && /^\d{1,16}$/.test(lastRefTime) ? Number(lastRefTime) : lastRefTime
  return typeof ref === 'number' && Number.isSafeInteger(ref) && ref > 0 ? ref : undefined
}

function parsed(datagram: Buffer): { type?: unknown; lastRefTime?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(datagram.toString('utf8'))
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/**
 * The largest datagram that a client reads whole. The Java client, and the npm client that poses as it, have room
 * for any size. The Go client, the DNS plugin built on it and unknown clients get small datagrams only.
 */
export function datagramLimitOf(agent: string): number {
  return agent.startsWith('Nacos-Java-Client') ? MAX_DATAGRAM_BYTES : SMALL_DATAGRAM_BYTES
}
