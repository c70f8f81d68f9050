import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import type { ClientSessionOptions, OutgoingHttpHeaders } from 'node:http2'
import { connect as connectTls, type SecureContextOptions, type TLSSocket } from 'node:tls'
import { GRPC, GrpcError } from './grpc-error.ts'

/** Streams have odd numbers of 31 bits: a connection that has made this number of calls is replaced. */
const MOST_CALLS = 500_000_000
/** etcd ends a connection that is pinged more often than every 5 s, or while it has no call. */
const PING_MS = 6_000
const PING_ANSWER_MS = 2_000
/** The bytes that etcd may send ahead, on one stream and on all. A stream that is not read must not stop the others. */
const STREAM_WINDOW = 4 * 1024 * 1024
const SESSION_WINDOW = 32 * 1024 * 1024
/** Node refuses new streams above this many megabytes. Its default is less than the windows. */
const SESSION_MEMORY_MB = 256

const OPTIONS: ClientSessionOptions = {
  settings: { enablePush: false, initialWindowSize: STREAM_WINDOW },
  maxSessionMemory: SESSION_MEMORY_MB,
}

/** The events of a session. */
export interface SessionListener {
  /** It takes no new calls: it has ended, or ends when its calls have. */
  left(): void
  /** It and all its calls have ended. */
  ended(): void
  /** A call has had no answer for `silentMs`. Repeated while that is so. */
  silent(): void
}

/** One connection over HTTP/2 to a member of etcd. */
export class Session {
  /** Resolves when it is open, or has failed. */
  readonly settled: Promise<void>
  readonly #http2: ClientHttp2Session
  readonly #listener: SessionListener
  readonly #silentMs: number
  /** When each call began that has no answer, the oldest first. */
  readonly #unanswered = new Map<ClientHttp2Stream, number>()
  readonly #pings: NodeJS.Timeout
  #watchdog: NodeJS.Timeout | undefined
  #state: 'opening' | 'open' | 'left' = 'opening'
  #error: Error | undefined
  #streams = 0
  #calls = 0

  constructor(
    endpoint: string,
    { listener, silentMs, ...tls }: SecureContextOptions & { listener: SessionListener; silentMs: number },
  ) {
    this.#listener = listener
    this.#silentMs = silentMs
    this.#http2 = connect(endpoint, {
      ...OPTIONS,
      ...(endpoint.startsWith('https:') && { createConnection: () => this.#secured(endpoint, tls) }),
    })
    this.#pings = setInterval(() => this.#ping(), PING_MS).unref()
    this.settled = new Promise((resolve) => {
      // A frozen member accepts connections too. Its settings show that it reads them.
      this.#http2.once('remoteSettings', () => {
        if (this.#state === 'opening') this.#state = 'open'
        resolve()
      })
      this.#http2.once('close', resolve)
    })
    this.#http2
      .once('connect', () => this.#widen())
      .on('error', (error) => (this.#error ??= error))
      .on('goaway', () => this.#leave())
      .once('close', () => this.#ended())
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Why it has ended, if it ended by an error. */
  get error(): Error | undefined {
    return this.#error
  }

  /** Begins a call. Throws `GrpcError` if the session has ended. */
  request(headers: OutgoingHttpHeaders): ClientHttp2Stream {
    if (this.#state !== 'open' || this.#http2.destroyed)
      throw new GrpcError(GRPC.UNAVAILABLE, 'the connection has ended', {
        notBegun: true,
        cause: this.#error,
      })
    const stream = this.#http2.request(headers)
    this.#streams++
    stream.once('close', () => this.#streams--)
    if (++this.#calls === MOST_CALLS) {
      this.#leave()
      this.#http2.close()
    }
    return stream
  }

  /** Counts the call as unanswered, until `answered`. */
  expectAnswer(stream: ClientHttp2Stream): void {
    this.#unanswered.set(stream, performance.now())
    this.#watchdog ??= this.#lookAgain(this.#silentMs)
  }

  answered(stream: ClientHttp2Stream): void {
    this.#unanswered.delete(stream)
  }

  /** Ends it with all its calls, which fail with this error. */
  end(error: GrpcError): void {
    this.#leave()
    this.#http2.destroy(error)
  }

  /** Node leaves a session open after its socket reports that the member refuses the certificate of this client. */
  #secured(endpoint: string, files: SecureContextOptions): TLSSocket {
    const { hostname, port } = new URL(endpoint)
    const host = hostname.replaceAll(/[[\]]/g, '')
    const socket = connectTls({ host, port: Number(port || 443), ALPNProtocols: ['h2'], ...files })
    return socket.on('error', (error) => {
      this.#error ??= error
      this.#http2.destroy()
    })
  }

  /** Node emits `connect` of a session that was destroyed meanwhile, too. */
  #widen(): void {
    if (!this.#http2.destroyed) this.#http2.setLocalWindowSize(SESSION_WINDOW)
  }

  #leave(): void {
    if (this.#state === 'left') return
    this.#state = 'left'
    this.#listener.left()
  }

  #ended(): void {
    clearInterval(this.#pings)
    clearTimeout(this.#watchdog)
    this.#unanswered.clear()
    this.#leave()
    this.#listener.ended()
  }

  #lookAgain(inMs: number): NodeJS.Timeout {
    return setTimeout(() => afterReading(() => this.#look()), inMs).unref()
  }

  #look(): void {
    const [oldest] = this.#unanswered.values()
    this.#watchdog = undefined
    if (oldest === undefined || this.#http2.destroyed) return
    const leftMs = oldest + this.#silentMs - performance.now()
    if (leftMs <= 0) this.#listener.silent()
    this.#watchdog = this.#lookAgain(leftMs > 0 ? leftMs : this.#silentMs)
  }

  #ping(): void {
    if (this.#streams === 0 || this.#http2.destroyed) return
    let isAnswered = false
    const end = (): void => {
      if (!isAnswered) this.end(new GrpcError(GRPC.UNAVAILABLE, 'the connection does not answer a ping'))
    }
    const timer = setTimeout(() => afterReading(end), PING_ANSWER_MS).unref()
    this.#http2.ping(() => {
      isAnswered = true
      clearTimeout(timer)
    })
  }
}

/** Ends a stream at once. `RST_STREAM` is sent as soon as that is possible. */
export function cancel(stream: ClientHttp2Stream, reason?: Error): void {
  if (!stream.closed && !stream.destroyed) stream.close(constants.NGHTTP2_CANCEL)
  stream.destroy(reason)
}

/**
 * Calls back after the sockets were read once more: after a pause of this process, its timers are due before it has seen the
 * answers.
 */
export function afterReading(then: () => void): void {
  setImmediate(then)
}
