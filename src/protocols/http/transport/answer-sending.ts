import { pipeline } from 'node:stream/promises'
import { type CommonHeaders, headersOf, headOf } from '../routing/answer-headers.ts'
import type { HttpLog } from './exchange-context.ts'
import type { IncomingRequest } from './incoming-request.ts'
import type { OutgoingResponse } from './outgoing-response.ts'
import type { Answer } from '../routing/route.ts'
import type { Turn } from './turn.ts'

/** How long the rest of a refused body is let in, so that its sender sees the answer before the connection ends. */
const LINGER_MS = 1_000

/** Sends an answer whose body is there, together with others of its turn; `ends`: it is the last one of its connection. */
export function sendAnswer(
  response: OutgoingResponse,
  answer: Answer,
  { commonHeaders, turn, ends }: { commonHeaders: CommonHeaders; turn: Turn; ends: boolean },
): void {
  if (!ends && response.takeWhole(headOf(answer) + commonHeaders.at(Date.now()), answer)) turn.end(response)
  else response.writeHead(answer.status, headersOf(answer, ends)).end(answer.body)
}

/**
 * Sends an answer whose request is still coming. Closing at once would reset the connection under the
 * sender's hands and lose the answer; so the rest is let in, unkept, for a moment.
 */
export function sendLingering(request: IncomingRequest, response: OutgoingResponse, answer: Answer): void {
  response.writeHead(answer.status, headersOf(answer, true)).write(answer.body)
  const timer = setTimeout(() => response.end(), LINGER_MS)
  response.on('close', () => clearTimeout(timer))
  request.dropBody(() => response.end())
}

/**
 * Sends the chunks of an answer as fast as the client takes them; resolves when all are sent or the connection is gone.
 * An answer that fails in the middle is cut, so that nobody takes it for whole.
 */
export async function sendChunks(
  response: OutgoingResponse,
  answer: Answer,
  { log, ends }: { log: HttpLog; ends: boolean },
): Promise<void> {
  response.writeHead(answer.status, headersOf(answer, ends))
  try {
    await pipeline(answer.chunks ?? [], response)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A client may leave whenever it likes.
    if (code !== 'ERR_STREAM_PREMATURE_CLOSE') log.error({ err: error }, 'an answer was cut in the middle')
    response.destroy()
  }
}
