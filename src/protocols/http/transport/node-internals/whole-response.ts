import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Answer } from '../../routing/route.ts'
import type { ReadyWork } from '../turn.ts'

/**
 * Memory in which head and body of an answer are joined. It is used again for the next answer as soon as the
 * socket has written it, usually at once. So answers leave no garbage.
 *
 * It relies on an undocumented behaviour of Node, seen in 20, 22, 24 and 26. When `writableLength` is 0 right after
 * `write`, the system has copied the bytes. If Node changes this, a client gets parts of the answer to
 * another one. So another major version of Node uses Node's own response (`node-version.ts`).
 */
export class ScratchBytes {
  #bytes: Buffer

  /** `size`: the longest answer in bytes. A client that does not read keeps this much, however short its answer. */
  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafeSlow(size)
  }

  /** Writes an answer to its connection; false, and nothing is written, when it does not fit. Heads are Latin-1. */
  write(
    socket: Socket,
    head: string,
    { body, encoding }: { body: string | Buffer; encoding: TextEncoding },
  ): boolean {
    const most = typeof body === 'string' && encoding === 'utf8' ? body.length * 3 : body.length
    const bytes = this.#bytes
    if (head.length + most > bytes.length) return false
    const bodyAt = bytes.write(head, 0, 'latin1')
    const length = typeof body === 'string' ? bytes.write(body, bodyAt, encoding) : body.copy(bytes, bodyAt)
    socket.write(bytes.subarray(0, bodyAt + length))
    // The unwritten rest is sent from this memory later.
    if (socket.writableLength > 0) this.#bytes = Buffer.allocUnsafeSlow(bytes.length)
    return true
  }
}

/** How a body that is a text is sent. */
type TextEncoding = 'latin1' | 'utf8'

/** Above this a copy of a body costs more than a second write. */
const MOST_COPIED = 64 * 1024

/** Shorter texts are faster joined as texts (decision 0027). */
const FEWEST_BYTES = 2 * 1024

const small = new ScratchBytes(4 * 1024)
const large = new ScratchBytes(16 * 1024)

/** Answers with these statuses never have a body (RFC 9110, section 6.4.1). */
const BODILESS = new Set([204, 304])

/** The fields of Node's class that are set here. */
interface Inside {
  _header: string | null
  finished: boolean
}

/** Called when an answer was written to its connection. */
export interface AnswerSender {
  answerSent(): void
}

/**
 * A response that writes a whole answer, head and body, with one write to the socket, past `writeHead` and
 * `end`.
 *
 * It relies on this, which Node does not document, seen in 20, 22, 24 and 26.
 * - `socket` is null and `shouldKeepAlive` false when an answer may not be written now.
 * - `headersSent` is true once `_header` is set.
 * - A response with `finished` set that emits `finish` is complete. Node then turns to the next request of
 *   the connection, starts the keep-alive timeout, and emits `close`.
 *
 * If Node changes this, a connection gets no second answer. Another major version of Node therefore uses
 * Node's own response (`node-version.ts`). It buys a fifth to a quarter of the processor time of a list or a
 * read (decision 0024).
 */
export class WholeResponse<T extends IncomingMessage = IncomingMessage>
  extends ServerResponse<T>
  implements ReadyWork
{
  #head = ''
  #body: string | Buffer = ''
  #encoding: TextEncoding = 'utf8'
  #sender: AnswerSender | undefined

  /**
   * Takes an answer; `run` sends it. False, and nothing is taken, when the answer has to go Node's way. That is:
   * - An answer that waits for an earlier one, or whose client has not read the last one.
   * - The last answer of its connection.
   * - A large answer, or one without a body.
   * - The answer to a request that is not of HTTP/1.1.
   */
  takeWhole(head: string, { status, body, rest, isAscii = false }: Answer, sender: AnswerSender): boolean {
    const { socket } = this
    if (socket === null || !this.#isFree(socket) || this.#isSpecial()) return false
    if (rest !== undefined || body.length > MOST_COPIED || BODILESS.has(status) || status < 200) return false
    this.#head = head
    this.#body = body
    this.#sender = sender
    if (isAscii) this.#encoding = 'latin1'
    const inside = this as unknown as Inside
    inside._header = head
    return true
  }

  /** Sends the answer that was taken. */
  run(): void {
    if (this.socket !== null) this.#write(this.socket)
    this.#head = ''
    this.#body = ''
    const inside = this as unknown as Inside
    inside.finished = true
    this.emit('finish')
    this.#sender?.answerSent()
    this.#sender = undefined
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

  /** Where earlier bytes wait, Node's way also waits for them before the next request begins. */
  #isFree(socket: Socket): boolean {
    return socket.writable && socket.writableLength === 0 && this.shouldKeepAlive && !this.headersSent
  }

  /** After an answer to `Expect` the client may send the body or not, so that Node ends the connection. */
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
