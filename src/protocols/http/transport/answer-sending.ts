import { whenClosed } from '../../sockets/when-closed.ts'
import type { Answer } from '../routing/route.ts'
import { guarded } from '../../../core/unexpected.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { pipeline } from 'node:stream/promises'
import { headersOf, headOf } from '../routing/answer.ts'
import type { OldestFirstMemory } from '../../sockets/held-memory.ts'
import type { ExchangeContext } from './exchange-context.ts'
import { type AnswerSender, WholeResponse } from './node-internals/whole-response.ts'
import { type BodyReceiver, dropBody } from './request-body.ts'

/** How long the rest of a refused body is let in, so that its sender sees the answer before the connection ends. */
const LINGER_MS = 10_000

/** An answer on its way to the client. */
export interface Sending {
  readonly response: ServerResponse
  /** Called when the answer is sent. It knows for whom the answer is. */
  readonly sender: AnswerSender & Pick<BodyReceiver, 'bodyOwner'>
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
  const sent = inBytes(answer)
  reportSent(response, sender)
  countUnread(unread, { response, sender }, sent)
  response.writeHead(sent.status, headersOf(sent, ends))
  const { body, rest = [] } = sent
  const isLong = rest.length > 0 || body.length > MOST_ENCRYPTED
  if (isLong && response.req.socket instanceof TLSSocket) return writePieces(response, [body, ...rest])
  if (rest.length === 0) return void response.end(body)
  for (const piece of [body, ...rest]) response.write(piece)
  response.end()
}

/** Smaller answers are not counted while they are unread, and stay texts. */
const SMALL_BYTES = 16 * 1024
/** A chunk that waits to be sent: a slice of a content whose bytes are all escaped. */
const CHUNK_BYTES = 6 * 64 * 1024

/** Node keeps what its client has not read. A text would be on the heap, with two bytes for each character if one is beyond Latin-1. */
function inBytes(answer: Answer): Answer {
  const { body } = answer
  if (typeof body !== 'string' || body.length <= SMALL_BYTES) return answer
  return { ...answer, body: Buffer.from(body) }
}

/**
 * Counts a large answer until the client has it, or is gone. Where there are too many, the owner with most loses the answer
 * that is unread for longest. An answer in chunks counts with the bytes that they keep.
 */
function countUnread(
  unread: OldestFirstMemory,
  { response, sender }: Omit<Sending, 'ends'>,
  { body, rest = [], kept = 0 }: Answer,
): void {
  // For a client that has gone, nothing would ever be released.
  if (response.destroyed) return
  const [bytes, contents] = typeof kept === 'number' ? [kept, []] : [0, kept]
  const isKept = bytes > 0 || contents.length > 0
  if (rest.length === 0 && !isKept && body.length <= SMALL_BYTES) return
  const holder = { owner: sender.bodyOwner().name, giveUp: () => void response.destroy() }
  whenClosed(response, 'request', () => unread.release(holder))
  if (isKept)
    unread.count(
      holder,
      CHUNK_BYTES + bytes,
      contents.map((content) => [content]),
    )
  else if (rest.length > 0) unread.count(holder, 0, [rest])
  // A content is sent to many as the same bytes.
  else if (typeof body !== 'string') unread.count(holder, 0, [[body]])
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
export function sendLingering(
  request: IncomingMessage,
  { response, sender }: Omit<Sending, 'ends'>,
  answer: Answer,
): void {
  reportSent(response, sender)
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
function reportSent(response: ServerResponse, sender: AnswerSender): void {
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
  { log, unread }: Pick<ExchangeContext, 'log' | 'unread'>,
  answer: Answer,
  { response, sender, ends }: Sending,
): Promise<void> {
  const { chunks = [] } = answer
  reportSent(response, sender)
  countUnread(unread, { response, sender }, answer)
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
