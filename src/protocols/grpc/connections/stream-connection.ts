import { type Due, NOT_DUE } from '../../../core/work/due-book.ts'
import { type ServerRequestType, toAsk } from '../wire/payload.ts'
import type { SignedIn } from '../../../core/access/identity.ts'
import type { Asks, PendingAsk } from './asks.ts'
import type {
  ClientConnection,
  ClientFacts,
  EndCause,
  EndReason,
  Question,
  ClientSession,
  Outlet,
} from './client-connection.ts'

/** Dependencies of a connection. */
export interface StreamConnectionParts {
  readonly session: ClientSession
  readonly client: ClientFacts
  readonly outlet: Outlet
  readonly asks: Asks
  /** When it was set up. */
  readonly nowMs: number
}

/** Where clients reach another server by HTTP: they know how to get from there to its port for gRPC. */
export interface ServerAddress {
  readonly ip: string
  readonly port: number
}

/** A connection on the stream that its client keeps open. */
export class StreamConnection implements ClientConnection, Due {
  dueTick = NOT_DUE
  readonly client: ClientFacts
  /** When it was set up, on the monotonic clock. */
  readonly beganMs: number
  /** When something last came from the client, on the monotonic clock. */
  heardMs: number
  readonly #parts: StreamConnectionParts
  #pending: Map<string, PendingAsk> | undefined
  #onEnd: readonly ((why: EndReason, connection: StreamConnection) => void)[] = []
  #leaving: 'moved' | 'stopping' | undefined
  #ended: EndReason | undefined
  /** Why it ended; undefined while it is open. */
  endedBy: EndCause | undefined
  #identities: Map<string, SignedIn> | undefined

  constructor(parts: StreamConnectionParts) {
    this.#parts = parts
    this.client = parts.client
    this.beganMs = parts.nowMs
    this.heardMs = parts.nowMs
  }

  get id(): string {
    return this.#parts.session.id
  }

  get ip(): string {
    return this.#parts.session.ip
  }

  get port(): number {
    return this.#parts.session.port
  }

  /** The newest credentials of each user that the client has shown, and that counted. */
  get identities(): Iterable<SignedIn> {
    return this.#identities?.values() ?? []
  }

  /** The user of the last valid credentials of the client, or ''. */
  username = ''
  signedInMs = -Infinity

  /** The client has shown credentials that count. */
  signedIn(identity: SignedIn, nowMs: number): void {
    this.username = identity.username
    // A token is one object as long as it is remembered.
    if (this.#identities?.get(identity.username) === identity) return
    this.signedInMs = nowMs
    this.#identities ??= new Map()
    this.#identities.set(identity.username, identity)
  }

  get hasEnded(): boolean {
    return this.#ended !== undefined
  }

  ask({ type, body }: Question, limitMs: number): Promise<boolean> {
    if (this.hasEnded) return Promise.resolve(false)
    return new Promise((resolve) => {
      const ask = this.#parts.asks.begin(limitMs, (acknowledged) => {
        this.#pending?.delete(ask.requestId)
        resolve(acknowledged)
      })
      this.#pending ??= new Map()
      this.#pending.set(ask.requestId, ask)
      this.send(type, ask.requestId, body)
    })
  }

  /** Sends a request; without an id nobody waits for its reply. A client that leaves too much unread is closed. */
  send(type: ServerRequestType, requestId: string | undefined, body: object): void {
    if (this.hasEnded) return
    if (this.#parts.outlet.send(toAsk(type, requestId, body))) return
    this.end('unread')
  }

  /**
   * Asks the client to connect to another server, or again without a server. A later end of the connection has this
   * cause. Not all clients obey: the caller ends the connection after a while.
   */
  sendAway(why: 'moved' | 'stopping', server: ServerAddress | undefined, limitMs: number): void {
    this.#leaving ??= why
    const body = server === undefined ? {} : { serverIp: server.ip, serverPort: `${server.port}` }
    void this.ask({ type: 'ConnectResetRequest', body }, limitMs)
  }

  /** The client has replied to a question. Replies that nobody waits for are ignored. */
  replied(requestId: string, resultCode: unknown): void {
    const ask = this.#pending?.get(requestId)
    if (ask !== undefined) this.#parts.asks.end(ask, resultCode === 200)
  }

  onEnd(ended: (why: EndReason, connection: StreamConnection) => void): void {
    // Not `push`: an array that grows reserves room for 17.
    if (this.#ended === undefined) this.#onEnd = [...this.#onEnd, ended]
    else ended(this.#ended, this)
  }

  close(): void {
    this.end('closed')
  }

  giveWay(): void {
    this.end('moved')
  }

  /** Ends it: only the first cause counts. Calls all that wait for the end, and then throws the first error of theirs. */
  end(cause: EndCause): void {
    if (this.hasEnded) return
    const why = this.#leaving ?? reasonOf(cause)
    this.#ended = why
    this.endedBy = why === 'left' ? cause : why
    const { asks, outlet, session } = this.#parts
    for (const ask of this.#pending?.values() ?? []) asks.end(ask, false)
    outlet.end()
    session.close()
    const errors: unknown[] = []
    const onEnd = this.#onEnd
    this.#onEnd = []
    for (const ended of onEnd)
      try {
        ended(why, this)
      } catch (error) {
        errors.push(error)
      }
    if (errors.length > 0) throw errors[0]
  }
}

function reasonOf(cause: EndCause): EndReason {
  return cause === 'moved' || cause === 'stopping' || cause === 'signed-out' ? cause : 'left'
}
