import { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { IncomingRequest } from './incoming-request.ts'
import type { Answer } from '../routing/route.ts'
import { type Encoding, ScratchBytes } from './scratch-bytes.ts'
import type { Work } from './turn.ts'

/** Above this a copy of a body costs more than what a second piece to send does. */
const MOST_COPIED = 64 * 1024

/** Shorter texts are put together as such in less time (decision 0027). */
const FEWEST_BYTES = 2 * 1024

const small = new ScratchBytes(4 * 1024)
const large = new ScratchBytes(16 * 1024)

/** Answers with these never have a body (RFC 9110, section 6.4.1). */
const BODILESS = new Set([204, 304])

/** What a class of node's may see of its own. Setting `_header` is what makes `headersSent` true. */
interface Inside {
  _header: string | null
  finished: boolean
}

/** A response that can send a whole answer as one piece (docs/decisions/0012). */
export class OutgoingResponse extends ServerResponse<IncomingRequest> implements Work {
  #head = ''
  #body: string | Buffer = ''
  #encoding: Encoding = 'utf8'

  /**
   * Takes head and body to send them with one write to the connection: what `writeHead` and `end` do besides, parts
   * that are put together and sent later, is for answers that come in pieces. False, and nothing is taken, where the
   * answer is for those: one that waits for an earlier one, or whose client has not taken what came before, the last
   * one of its connection, a large one, one that may have no body, no HTTP/1.1.
   */
  takeWhole(head: string, { status, body, isAscii = false }: Answer): boolean {
    const { socket } = this
    if (socket === null || !this.#hasWay(socket) || this.#isSpecial()) return false
    if (body.length > MOST_COPIED || BODILESS.has(status) || status < 200) return false
    this.#head = head
    this.#body = body
    if (isAscii) this.#encoding = 'latin1'
    const inside = this as unknown as Inside
    inside._header = head
    return true
  }

  /** Sends what was taken, and is done. */
  run(): void {
    if (this.socket !== null) this.#write(this.socket)
    this.#head = ''
    this.#body = ''
    const inside = this as unknown as Inside
    inside.finished = true
    // Node hears it and turns to the next request of the connection.
    this.emit('finish')
  }

  #write(socket: Socket): void {
    const head = this.#head
    const body = this.#body
    if (typeof body !== 'string' || body.length >= FEWEST_BYTES) {
      const piece = { body, encoding: this.#encoding }
      if (small.write(socket, head, piece) || large.write(socket, head, piece)) return
    }
    if (typeof body === 'string') socket.write(head + body, this.#encoding)
    else socket.write(joined(head, body))
  }

  /** Where earlier bytes wait, node finishes when these are gone as well, and only then begins with the next request. */
  #hasWay(socket: Socket): boolean {
    return socket.writable && socket.writableLength === 0 && this.shouldKeepAlive && !this.headersSent
  }

  /** Whoever sent Expect may send the body or not after an answer, so that node ends the connection. */
  #isSpecial(): boolean {
    const { method, httpVersionMinor, headers } = this.req
    return method === 'HEAD' || httpVersionMinor !== 1 || headers.expect !== undefined
  }
}

function joined(head: string, body: Buffer): Buffer {
  const bytes = Buffer.allocUnsafe(head.length + body.length)
  bytes.write(head, 'latin1')
  body.copy(bytes, head.length)
  return bytes
}
