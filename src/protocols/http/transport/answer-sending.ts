import { whenClosed } from '../../sockets/when-closed.ts'
import type { Answer } from '../routing/route.ts'
import { guarded } from '../../../core/unexpected.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { pipeline } from 'node:stream/promises'
import { headersOf, headOf } from '../routing/answer.ts'
import type { OldestFirstMemory } from '../../sockets/held-memory.ts'
import type { ExchangeContext, HttpLog } from './exchange-context.ts'
import { type AnswerSender, WholeResponse } from './node-internals/whole-response.ts'
import { dropBody } from './request-body.ts'

/** How long the rest of a refused body is let in, so that its sender sees the answer before the connection ends. */
const LINGER_MS = 10_000

/** An answer on its way to the client. */
export interface Sending {
  readonly response: ServerResponse
  /** Called when the answer is sent. */
  readonly sender: AnswerSender
  /** It is the last answer of its connection. */
  readonly ends: boolean
}

/**
 * Sends an answer whose body is complete: with one write, together with other answers of its turn, or Node's way where
 * that is not possible (`WholeResponse`).
 */
export function sendAnswer(
  { commonHeaders, turn, unread }: Pick<ExchangeContext, 'commonHeaders' | 'turn' | 'unread'>,
  answer: Answer,
  { response, sender, ends }: Sending,
): void {
  if (!ends && response instanceof WholeResponse) {
    const head = headOf(answer) + commonHeaders.at(Date.now())
    if (response.takeWhole(head, answer, sender)) return turn.end(response)
  }
  reportSent(response, sender)
  countUnread(unread, response, answer)
  response.writeHead(answer.status, headersOf(answer, ends))
  const { body, rest = [] } = answer
  const isLong = rest.length > 0 || body.length > MOST_ENCRYPTED
  if (isLong && response.req.socket instanceof TLSSocket) return writePieces(response, [body, ...rest])
  if (rest.length === 0) return void response.end(body)
  for (const piece of [body, ...rest]) response.write(piece)
  response.end()
}

/** Smaller answers are not counted while they are unread. */
const SMALL_BYTES = 64 * 1024

/**
 * Counts a large answer until the client has it, or is gone. The answer that is unread for longest is cut
 * where there are too many.
 */
function countUnread(unread: OldestFirstMemory, response: ServerResponse, { body, rest = [] }: Answer): void {
  if (rest.length === 0 && body.length <= SMALL_BYTES) return
  const holder = { giveUp: () => void response.destroy() }
  whenClosed(response, 'request', () => unread.release(holder))
  if (rest.length > 0) unread.share(holder, { rest })
  // A content is sent to many as the same bytes.
  else if (typeof body !== 'string') unread.share(holder, { rest: [body] })
  else unread.count(holder, body.length)
}

/**
 * How much of an answer is encrypted at once. Plain bytes are sent from memory that all answers share.
 * Encrypted ones are a copy for each connection, which a client that does not read would keep.
 */
const MOST_ENCRYPTED = 128 * 1024

/** Writes a body as fast as the client takes it. */
function writePieces(response: ServerResponse, body: readonly (Buffer | string)[]): void {
  const pieces = piecesOf(body)
  const next = guarded(
    'request',
    () => response.destroy(),
    () => {
      const piece = pieces.next()
      if (piece.done === true) response.end()
      else if (response.write(piece.value)) setImmediate(next)
      else response.once('drain', next)
    },
  )
  next()
}

function* piecesOf(body: readonly (Buffer | string)[]): Generator<Buffer, void> {
  for (const part of body) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part
    for (let at = 0; at < bytes.length; at += MOST_ENCRYPTED) yield bytes.subarray(at, at + MOST_ENCRYPTED)
  }
}

/**
 * Sends the last answer of a connection whose request is still arriving. Closing at once would reset the connection
 * under the client and lose the answer. So the rest of the request is read and dropped for a moment.
 */
export function sendLingering(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, headersOf(answer, true)).write(answer.body)
  const timer = setTimeout(
    guarded(
      'request',
      () => response.destroy(),
      () => void response.end(),
    ),
    LINGER_MS,
  )
  whenClosed(response, 'request', () => clearTimeout(timer))
  dropBody(request, () => response.end())
}

/** Calls `answerSent` when the client has the answer, or is gone. */
export function reportSent(response: ServerResponse, sender: AnswerSender): void {
  response.on(
    'close',
    guarded(
      'request',
      () => response.destroy(),
      () => sender.answerSent(),
    ),
  )
}

/**
 * Sends the chunks of an answer as fast as the client takes them; resolves when all are sent or the connection is gone.
 * An answer that fails in the middle is cut, so that nobody takes it for whole. The answer to HEAD has no body: its chunks
 * are not made.
 */
export async function sendChunks(
  response: ServerResponse,
  answer: Answer,
  { log, ends }: { log: HttpLog; ends: boolean },
): Promise<void> {
  const { chunks = [] } = answer
  response.writeHead(answer.status, headersOf(answer, ends))
  if (response.req.method === 'HEAD') {
    response.end()
    // A stream of events would keep its place.
    if (chunks instanceof Readable) chunks.destroy()
    return
  }
  try {
    await pipeline(chunks, response)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A client may leave whenever it likes.
    if (code !== 'ERR_STREAM_PREMATURE_CLOSE') log.error({ err: error }, 'an answer was cut in the middle')
    response.destroy()
  }
}
