import { hostPort } from '../../core/text/ip-address.ts'
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { isIP } from 'node:net'
import type { PushCounts, PushPacket, PushSender, PushTarget } from '../../core/clients/push-sender.ts'
import { caught, guarded, nothing } from '../../core/unexpected.ts'
import type { Loop } from '../../core/work/sliced-work.ts'
import { PushDeliveries } from './push-deliveries.ts'
import { gzipSync } from 'node:zlib'

/** Network errors come in thousands; one per minute is logged. */
const LOG_EVERY_MS = 60_000

/** Datagrams that are read in a second, which are acks of pushes. Further ones are dropped unread. */
const MOST_DATAGRAMS = 50_000

/** Dependencies of the push socket. */
export interface PushSocketOptions {
  /** The address that the server listens on, or a name of it. */
  readonly host: string
  readonly loop: Loop
  /** Epoch milliseconds; packets are numbered from it, so that numbers rise over restarts too. */
  readonly wallMs: () => number
  /** The switch pushEnabled: while false nothing is sent again. */
  readonly enabled: () => boolean
  readonly log: (message: string, error: Error) => void
}

/**
 * The sockets that pushes leave from and acks come back to: one on an ephemeral port of each address family
 * that the server listens on. Whatever goes wrong is logged, never thrown: clients poll as well.
 */
export class PushSocket implements PushSender {
  readonly #options: PushSocketOptions
  readonly #deliveries: PushDeliveries
  readonly #sockets = new Map<4 | 6, Socket>()
  #lastRef = 0
  #loggedMs = -Infinity
  #secondOf = -Infinity
  #readThisSecond = 0

  private constructor(options: PushSocketOptions) {
    this.#options = options
    const { loop, enabled } = options
    const transmit = (target: PushTarget, packet: PushPacket) => this.#transmit(target, packet)
    this.#deliveries = new PushDeliveries({ loop, enabled, transmit })
  }

  /** Binds the sockets. A family that cannot be bound is logged, and its clients get no pushes. */
  static async open(options: PushSocketOptions): Promise<PushSocket> {
    const pushes = new PushSocket(options)
    try {
      for (const host of await hostsOf(options.host)) await pushes.#bind(host)
    } catch (error) {
      pushes.#note('No UDP socket for pushes; clients will poll instead', error as Error)
    }
    return pushes
  }

  pack(answer: Buffer): PushPacket | undefined {
    // Microseconds: clients take it for a number, and digits beyond 2^53 would not survive that.
    this.#lastRef = Math.max(this.#lastRef + 1, Math.floor(this.#options.wallMs() * 1_000))
    const datagram = encodePush(answer, this.#lastRef)
    return datagram === undefined ? undefined : { lastRefTime: this.#lastRef, datagram }
  }

  fits(target: PushTarget, bytes: number): boolean {
    return bytes <= datagramLimitOf(target.agent) && this.#socketFor(target.address) !== undefined
  }

  send(target: PushTarget, packet: PushPacket): void {
    this.#deliveries.send(target, packet)
  }

  /** Sends unacknowledged pushes again. Call it about once a second. */
  tick(nowMs: number): void {
    this.#deliveries.tick(nowMs)
  }

  counts(): PushCounts {
    return this.#deliveries.counts()
  }

  /** The ports that pushes come from, by address family. */
  get ports(): ReadonlyMap<4 | 6, number> {
    return new Map([...this.#sockets].map(([family, socket]) => [family, socket.address().port]))
  }

  /** Closes the sockets; nothing is sent from then on. */
  async close(): Promise<void> {
    const sockets = [...this.#sockets.values()]
    this.#sockets.clear()
    await Promise.all(sockets.map((socket) => new Promise<void>((resolve) => socket.close(resolve))))
  }

  async #bind(host: string): Promise<void> {
    const family = isIP(host) === 6 ? 6 : 4
    const socket = createSocket({
      type: `udp${family}`,
      ipv6Only: family === 6,
      lookup: knownAddress(family),
    })
    try {
      // Before the call, which may have done all there is to do when it returns.
      const listening = once(socket, 'listening')
      socket.bind({ address: host, port: 0, exclusive: true })
      await listening
    } catch (error) {
      socket.close()
      this.#note(`No UDP socket for pushes on ${host}; its clients will poll instead`, error as Error)
      return
    }
    const received = (datagram: Buffer, from: RemoteInfo): void => this.#receive(datagram, from)
    socket.on('error', (error) => caught('listener', error))
    socket.on('message', guarded('push', nothing, received))
    this.#sockets.set(family, socket)
  }

  #receive(datagram: Buffer, from: RemoteInfo): void {
    if (!this.#mayRead()) return
    const lastRefTime = decodeAck(datagram)
    if (lastRefTime !== undefined) this.#deliveries.acked(lastRefTime, from)
  }

  /** Anybody can send datagrams, under any address, so they are counted together. */
  #mayRead(): boolean {
    const nowMs = this.#options.loop.now()
    if (nowMs - this.#secondOf >= 1_000) {
      this.#secondOf = nowMs
      this.#readThisSecond = 0
    }
    if (this.#readThisSecond++ < MOST_DATAGRAMS) return true
    this.#note(
      `Datagrams are dropped: more than ${MOST_DATAGRAMS} came in a second`,
      new Error('too many datagrams'),
    )
    return false
  }

  #socketFor(address: string): Socket | undefined {
    const family = isIP(address)
    return family === 0 ? undefined : this.#sockets.get(family === 6 ? 6 : 4)
  }

  #transmit(target: PushTarget, packet: PushPacket): void {
    try {
      this.#socketFor(target.address)?.send(packet.datagram, target.port, target.address, this.#sent)
    } catch (error) {
      this.#note(`A push to ${hostPort(target.address, target.port)} could not be sent`, error as Error)
    }
  }

  readonly #sent = guarded('push', nothing, (error: Error | null): void => {
    if (error !== null) this.#note('A push could not be sent', error)
  })

  #note(message: string, error: Error): void {
    const nowMs = this.#options.loop.now()
    if (nowMs - this.#loggedMs < LOG_EVERY_MS) return
    this.#loggedMs = nowMs
    this.#options.log(message, error)
  }
}

/** The addresses to bind for a server on `host`: both families where it listens on every address by `::`. */
async function hostsOf(host: string): Promise<string[]> {
  if (host === '::') return ['::', '0.0.0.0']
  return [isIP(host) === 0 ? (await lookup(host)).address : host]
}

type KnownAddress = (
  name: string,
  options: unknown,
  done: (error: null, address: string, family: number) => void,
) => void

/** Spares a trip through the resolver for every datagram: all addresses are numeric. */
function knownAddress(family: number): KnownAddress {
  return (name, _options, done) => done(null, name, family)
}

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
