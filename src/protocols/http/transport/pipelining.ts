import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal } from '../../../core/refusal.ts'
import type { IncomingRequest } from './incoming-request.ts'

const LINE = Symbol('the requests of a connection that wait for an earlier one')

interface LiningSocket extends Socket {
  [LINE]?: Line
  /** Node's own: is called with every request, at the end of its headers. */
  parser?: { onIncoming: (request: PassedOver) => number } | null
}

interface PassedOver extends IncomingRequest {
  upgrade: boolean
}

/** A request that was sent ahead of the answer to an earlier one. */
export interface Waiting {
  /** All before it are answered. */
  begin(): void
  refuse(refusal: Refusal): void
  /** The connection closes before that. */
  connectionClosed(): void
}

/**
 * Begins with a request once those before it on its connection are answered: what it does may build on what they
 * did, and one connection must not have many under way. Where more than `most` wait, the next one is refused, and
 * what comes after that is not answered, for the connection ends with the refusal.
 */
export function beginInTurn(
  { request, response }: { request: IncomingRequest; response: ServerResponse },
  most: number,
  waiting: Waiting,
): void {
  // Only an answer that has to wait for an earlier one has no socket yet.
  if (response.socket !== null) return waiting.begin()
  const socket: LiningSocket = request.socket
  const line = (socket[LINE] ??= new Line(socket))
  line.join(response, most, waiting)
}

class Line {
  readonly #waiting = new Map<ServerResponse, Waiting>()
  readonly #socket: LiningSocket

  constructor(socket: LiningSocket) {
    this.#socket = socket
    socket.on('close', () => {
      for (const waiting of this.#waiting.values()) waiting.connectionClosed()
      this.#waiting.clear()
    })
  }

  join(response: ServerResponse, most: number, waiting: Waiting): void {
    if (this.#waiting.size >= most) {
      passOverAll(this.#socket)
      return waiting.refuse(tooManyRequests(most))
    }
    this.#waiting.set(response, waiting)
    // Node gives an answer the socket when its turn has come: while the one before it is being finished. Begun there and
    // then, a line of requests that are answered at once would be as many calls, one within the other.
    response.once('socket', () => {
      if (this.#waiting.delete(response)) queueMicrotask(() => waiting.begin())
    })
  }
}

/**
 * Lets in what else comes on a connection without telling node of it, which remembers every request until those before
 * it are answered. Not to read at all would keep from us that the client leaves, and from it the answers it still gets.
 */
function passOverAll({ parser }: LiningSocket): void {
  if (!parser) return
  parser.onIncoming = (request) => {
    request.upgrade = false
    request.dropBody()
    return 0
  }
}

function tooManyRequests(most: number): Refusal {
  const allowed = `at most ${most} requests`
  const message = `Ahead of their answers a connection may send ${allowed}.`
  return new Refusal('too-many-requests', message, { allowed })
}
