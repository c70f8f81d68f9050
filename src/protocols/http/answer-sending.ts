import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { HttpLog } from './exchange-context.ts'
import type { IncomingRequest } from './incoming-request.ts'

/** How long the rest of a refused body is let in, so that its sender sees the answer before the connection ends. */
const LINGER_MS = 1_000

/**
 * Sends the body of an answer whose request is still coming. Closing at once would reset the connection under the
 * sender's hands and lose the answer; so the rest is let in, unkept, for a moment.
 */
export function sendLingering(
  request: IncomingRequest,
  response: ServerResponse,
  body: Buffer | string,
): void {
  response.write(body)
  const timer = setTimeout(() => response.end(), LINGER_MS)
  response.on('close', () => clearTimeout(timer))
  request.dropBody(() => response.end())
}

/**
 * Sends chunks as fast as the client takes them; resolves when all are sent or the connection is gone. An answer that
 * fails in the middle is cut, so that nobody takes it for whole.
 */
export async function sendChunks(
  response: ServerResponse,
  chunks: AsyncIterable<Buffer>,
  log: HttpLog,
): Promise<void> {
  try {
    await pipeline(chunks, response)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A client may leave whenever it likes.
    if (code !== 'ERR_STREAM_PREMATURE_CLOSE') log.error({ err: error }, 'an answer was cut in the middle')
    response.destroy()
  }
}
