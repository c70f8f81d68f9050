import type { Resource } from '../core/access/resource.ts'
import type { PlacedEvent } from './recent-events.ts'

/**
 * A message of a stream. `begun`: it continues where the client has stopped, or begins. `reset`: something
 * was missed, so everything may have changed. `changed`: these things have. `alive`: nothing, for a while.
 * `ended`: it is the last message. A stream that is resumed after `id` gets everything that came later.
 */
export type StreamMessage =
  | { readonly kind: 'begun' | 'reset' | 'alive'; readonly id: string }
  | { readonly kind: 'changed'; readonly id: string; readonly events: readonly PlacedEvent[] }
  | { readonly kind: 'ended'; readonly reason: StreamEnd }

/** Why a stream ends: its client is not signed in any longer, does not read it, another client gets its place, or the server stops. */
export type StreamEnd = 'signed-out' | 'too-slow' | 'gave-way' | 'stopping'

/** A client that follows events. */
export interface EventStreamRequest {
  readonly ip: string
  /** The user, or the network of a client without one: owners have turns. */
  readonly owner: string
  /** The id of the last message that the client has got from a stream before. */
  readonly lastId: string | undefined
  /** Judges now, each time, whether the client may read about a thing. */
  readonly mayRead: (resource: Resource) => boolean
  /** Called when there is something to take. */
  readonly onMessage: () => void
}

/** How many events wait for a client by default, before it gets a `reset` instead. */
const MOST_WAITING = 1_000

/** The functions that a stream calls. */
export interface StreamHost {
  readonly nowMs: () => number
  readonly leave: (stream: EventStream) => void
}

/** One client that follows events. Its untaken messages wait here, up to a limit. */
export class EventStream {
  readonly #request: EventStreamRequest
  readonly #host: StreamHost
  #waiting: StreamMessage[] = []
  #events = 0
  #hasEnded = false
  /** Since when something waits. */
  #waitsSinceMs = 0
  /** When something was sent last. */
  #saidMs: number

  constructor(request: EventStreamRequest, host: StreamHost) {
    this.#request = request
    this.#host = host
    this.#saidMs = host.nowMs()
  }

  get ip(): string {
    return this.#request.ip
  }

  /** Whether the client may still receive anything. */
  get isSignedIn(): boolean {
    return this.#request.mayRead({ kind: 'own-account' })
  }

  /** How long the client has left something waiting. */
  waitsForMs(nowMs: number): number {
    return this.#waiting.length === 0 ? 0 : nowMs - this.#waitsSinceMs
  }

  /** How long nothing was sent. */
  quietForMs(nowMs: number): number {
    return nowMs - this.#saidMs
  }

  /** The next message, if any. `ended` is the last. */
  take(): StreamMessage | undefined {
    const message = this.#waiting.shift()
    if (message?.kind === 'changed') this.#events -= message.events.length
    this.#waitsSinceMs = this.#host.nowMs()
    return message
  }

  /** The client has left. */
  leave(): void {
    this.#hasEnded = true
    this.#waiting = []
    this.#host.leave(this)
  }

  /** Sends the events that the client may read. */
  tell(events: readonly PlacedEvent[], id: string): void {
    const readable = events.filter(({ event }) => this.#request.mayRead(event.resource))
    if (readable.length === 0) return
    this.#events += readable.length
    if (this.#events > MOST_WAITING) this.say({ kind: 'reset', id })
    else this.say({ kind: 'changed', id, events: readable })
  }

  /** Sends a message. Messages that wait before a `reset` or the end are dropped. */
  say(message: StreamMessage): void {
    if (this.#hasEnded) return
    if (message.kind === 'reset' || message.kind === 'ended') {
      this.#waiting = []
      this.#events = 0
    }
    this.#saidMs = this.#host.nowMs()
    if (this.#waiting.length === 0) this.#waitsSinceMs = this.#saidMs
    this.#waiting.push(message)
    this.#request.onMessage()
  }

  /** Sends the last message. */
  end(reason: StreamEnd): void {
    this.say({ kind: 'ended', reason })
    this.#hasEnded = true
    this.#host.leave(this)
  }
}
