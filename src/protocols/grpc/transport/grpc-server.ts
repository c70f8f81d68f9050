import { createServer, type Server, type Socket } from 'node:net'
import { DueBook } from '../../../core/work/due-book.ts'
import { contained, guarded, nothing } from '../../../core/unexpected.ts'
import { LimitCounts } from '@waypost/http2/limits'
import { Admission, type AdmissionLog, type ConnectionSettings } from '../../sockets/admission.ts'
import { BodyShares } from '../../sockets/body-shares.ts'
import { OldestFirstMemory } from '../../sockets/held-memory.ts'
import { listenOn } from '../../sockets/listening.ts'
import { type KeyPair, SecureLayer } from '../../sockets/secure-layer.ts'
import type { CallHead, CallStream } from './call-stream.ts'
import type { CallParts, ClientServices } from './call-parts.ts'
import { ConnectionSession, type SessionKeeper } from './session.ts'
import { SessionTurns } from './session-turns.ts'
import { CallError, GRPC_STATUS } from './frames.ts'
import { StreamCall } from './stream-call.ts'
import { CALL_BYTES, UnaryCall } from './unary-call.ts'

/** The limits of a server of gRPC: the same as for HTTP. */
export interface GrpcSettings extends ConnectionSettings {
  /** Bytes of all requests that are being received. */
  readonly maxBodyMemoryBytes: number
  /** Bytes of all that clients leave unread; `maxBodyMemoryBytes` by default. */
  readonly maxUnreadAnswerBytes?: number
  /** How long a client may send nothing of a request that it has begun. */
  readonly requestTimeoutMs: number
}

/** Dependencies of a server of gRPC. */
export interface GrpcServerParts {
  readonly services: ClientServices
  readonly settings: GrpcSettings
  /** Clients speak TLS, and nothing else, if there is a certificate. */
  readonly tls: KeyPair | undefined
  /** Whether the client of this session has set its connection up. */
  readonly isSetUp: (sessionId: string) => boolean
  readonly wallMs: () => number
  readonly monotonicMs: () => number
  readonly log: AdmissionLog
}

/** How long a session may be open before its client has set its connection up. */
const SETUP_MS = 20_000
const BUCKET_MS = 1_000

/** The part of the memory that callers who are not known yet may hold. */
const SHARE_OF_UNKNOWN = 1 / 4

/** A server of the services that clients of generation 2 and 3 call. A session of HTTP/2 is the identity of a client. */
export class GrpcServer {
  /** Sessions that were ended because nothing was set up on them, since the start. */
  idle = 0
  readonly admission: Admission
  /** How often clients have met the limits of HTTP/2. */
  readonly limits = new LimitCounts()
  readonly #parts: GrpcServerParts
  readonly #listener: Server
  readonly #secure: SecureLayer | undefined
  readonly #calls: CallParts
  #sweptMs = -Infinity
  readonly #sessions = new Set<ConnectionSession>()
  readonly #turns = new SessionTurns()
  readonly #unset = new DueBook<ConnectionSession>(BUCKET_MS)

  /** Throws an Error for a certificate that cannot be used. */
  constructor(parts: GrpcServerParts) {
    const { settings, log } = parts
    this.#parts = parts
    this.admission = new Admission(settings, log)
    const { maxBodyMemoryBytes, maxUnreadAnswerBytes = maxBodyMemoryBytes, requestTimeoutMs } = settings
    this.#calls = {
      services: parts.services,
      memory: new BodyShares(maxBodyMemoryBytes, { hasStrangers: false }),
      unknown: new OldestFirstMemory(maxBodyMemoryBytes * SHARE_OF_UNKNOWN),
      unread: new OldestFirstMemory(maxUnreadAnswerBytes),
      idleMs: requestTimeoutMs,
    }
    this.#secure = this.#secureLayer(parts)
    this.#listener = createServer({ noDelay: true })
    this.#listener.maxConnections = this.admission.hardLimit
    this.#listener.on('connection', (socket) =>
      contained(
        'connection',
        () => socket.destroy(),
        () => this.#accept(socket),
      ),
    )
    this.#listener.on(
      'drop',
      guarded('listener', nothing, () => void this.admission.refused++),
    )
  }

  /** The memory that callers hold who are not known yet. */
  get unknownBytes(): number {
    return this.#calls.unknown.bytes
  }

  /** Starts listening; `port` 0 takes any. Rejects where the address cannot be had. */
  async listen(address: { host: string; port: number }): Promise<number> {
    return (await listenOn(this.#listener, address)).port
  }

  /**
   * Uses another certificate for the connections from now on. Where the authorities of client certificates have changed, it
   * ends sessions that have shown one, so that their clients show it again. Throws an Error where it cannot be used.
   */
  useKeyPair(pair: KeyPair): void {
    if (this.#secure?.use(pair) !== true) return
    for (const session of this.#sessions) if (session.certificateUser !== undefined) session.close()
  }

  /** Ends the sessions whose clients have set nothing up, and calls that are late. Call it once a second, or more often. */
  tick(nowMs: number): void {
    if (nowMs - this.#sweptMs >= BUCKET_MS) {
      this.#sweptMs = nowMs
      for (const session of this.#sessions) session.sweep(nowMs)
    }
    for (const session of this.#unset.due(nowMs)) {
      if (this.#parts.isSetUp(session.id)) continue
      this.idle++
      session.destroy()
    }
  }

  /** Stops listening, and ends all sessions. Resolves when they are closed. */
  stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#listener.close(() => resolve()))
    for (const session of this.#sessions) session.close()
    // A connection in its handshake is no session.
    if (this.#secure !== undefined)
      setTimeout(
        guarded('connection', nothing, () => this.#destroySockets()),
        1_000,
      ).unref()
    return closed
  }

  #destroySockets(): void {
    for (const socket of this.admission.sockets) socket.destroy()
  }

  #secureLayer({ tls, settings }: GrpcServerParts): SecureLayer | undefined {
    if (tls === undefined) return undefined
    return new SecureLayer(tls, {
      requestTimeoutMs: settings.requestTimeoutMs,
      protocols: ['h2'],
      onSecure: (secure, socket) => this.#open(secure, socket),
      onFailed: () => undefined,
    })
  }

  #accept(socket: Socket): void {
    // An error of a socket ends it.
    socket.on('error', nothing)
    const place = this.admission.admit(socket)
    if (place === undefined) socket.destroy()
    else if (this.#secure === undefined) this.#open(socket, socket)
    else this.#secure.begin(socket)
  }

  /** `admitted` was admitted: `socket` may be the one that decrypts it. */
  #open(socket: Socket, admitted: Socket): void {
    if (socket.destroyed) return
    const { wallMs, monotonicMs } = this.#parts
    const [counts, turns, place] = [this.limits, this.#turns, this.admission.placeOf(admitted)]
    const parts = { socket, place, openedMs: wallMs(), monotonicMs, counts, turns, keeper: this.#keeper }
    const session = new ConnectionSession(parts)
    this.#sessions.add(session)
    this.#unset.add(session, this.#parts.monotonicMs() + SETUP_MS)
  }

  readonly #keeper: SessionKeeper = {
    opened: (session, stream, head) => this.#carry(session, stream, head),
    closed: (session) => {
      this.#sessions.delete(session)
      this.#unset.remove(session)
    },
  }

  #carry(session: ConnectionSession, stream: CallStream, head: CallHead): void {
    const carry = stream.guard(() => carryCall({ stream, head, session }, this.#calls))
    if (stream.isOpen) carry()
  }
}

/** The paths of the two services: see `proto/client.proto`. */
const REQUEST = '/Request/request'
const STREAM = '/BiRequestStream/requestBiStream'

/** A call of a client. */
interface Call {
  readonly stream: CallStream
  readonly head: CallHead
  readonly session: ConnectionSession
}

/** Carries a call between its HTTP/2 stream and its service. */
function carryCall({ stream, head, session }: Call, parts: CallParts): void {
  const status = httpStatusOf(head)
  if (status !== 200) answerOther({ stream, head, session }, status, parts)
  else if (!isPlain(head))
    stream.refuse(new CallError(GRPC_STATUS.unimplemented, 'Compressed messages are not served.'))
  else if (head.path === REQUEST) new UnaryCall(stream, session, parts)
  else new StreamCall(stream, session, parts)
}

/** The bytes of an unwanted body that are read before its answer. */
const UNWANTED_BYTES = 16 * 1024

/**
 * Answers a call that cannot be carried out with a status of HTTP. Programs without gRPC, such as curl 7.88, take no answer before they
 * have sent a small body.
 */
function answerOther({ stream, head, session }: Call, status: number, { unknown, idleMs }: CallParts): void {
  const answer = (): void => stream.answerHttp(status)
  // A call of gRPC, in whatever format, may be a stream: its client waits for an answer before it ends.
  if (head.contentType?.startsWith('application/grpc') === true) return answer()
  const holder = { owner: session.owner, giveUp: () => stream.cancel() }
  let bytes = 0
  unknown.count(holder, CALL_BYTES)
  stream.cancelWhenIdle(idleMs)
  stream.receive({
    data(piece) {
      bytes += piece.length
      if (bytes > UNWANTED_BYTES) answer()
    },
    ended: answer,
    closed: () => unknown.release(holder),
  })
}

/** The status of HTTP: 200 unless the call is not gRPC, or for an unknown service. */
function httpStatusOf(head: CallHead): number {
  if (head.path !== REQUEST && head.path !== STREAM) return 404
  if (head.method !== 'POST') return 405
  return isGrpc(head) ? 200 : 415
}

function isGrpc({ contentType }: CallHead): boolean {
  return /^application\/grpc(?:\+proto)?(?:;|$)/.test(contentType ?? '')
}

function isPlain({ encoding }: CallHead): boolean {
  return encoding === undefined || encoding === 'identity'
}
