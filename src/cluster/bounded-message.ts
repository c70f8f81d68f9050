import type { IncomingMessage } from 'node:http'

/** The limits of a message: marks are the colons, commas and opening brackets of its JSON, which take time, not bytes alone. */
export interface MessageSize {
  readonly bytes: number
  readonly marks: number
}

/** A message of few facts. */
export const SMALL: MessageSize = { bytes: 64 * 1024, marks: 8_192 }
/** A list that the sender bounds: a thousand instances with the longest names. */
export const PAGE: MessageSize = { bytes: 2 * 1024 * 1024, marks: 100_000 }
/** A list of all clients of a server: it has as many as there are. */
export const LIST: MessageSize = { bytes: 16 * 1024 * 1024, marks: 1_000_000 }

/** No message has brackets in brackets as deep as this. */
const MOST_DEPTH = 32

/** A message has more bytes or marks than its kind may have. */
export class LargeMessage extends Error {
  override readonly name = 'LargeMessage'
}

/** Reads a body; `grows` is called with its bytes so far. Throws {@link LargeMessage}. Rejects if the connection breaks. */
export async function boundedBody(
  message: IncomingMessage,
  { bytes: most }: MessageSize,
  grows?: (bytes: number) => void,
): Promise<Buffer> {
  const refuse = (): never => {
    throw new LargeMessage(`it has more than ${most} bytes`)
  }
  if (Number(message.headers['content-length'] ?? 0) > most) refuse()
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of message as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > most) refuse()
    grows?.(bytes)
    parts.push(part)
  }
  return Buffer.concat(parts)
}

/** The value of a body of JSON. Throws {@link LargeMessage}, before it parses, and SyntaxError. */
export function boundedJson(body: Buffer, size: MessageSize): unknown {
  marksOf(body, size)
  return JSON.parse(body.toString())
}

/** How many marks a body of JSON has. Throws {@link LargeMessage}. */
export function marksOf(body: Buffer, { marks: most }: MessageSize): number {
  let [marks, depth] = [0, 0]
  let isText = false
  for (let at = 0; at < body.length; at++) {
    const byte = body[at]!
    if (isText) {
      if (byte === BACKSLASH) at++
      else if (byte === QUOTE) isText = false
    } else if (byte === QUOTE) isText = true
    else if (byte === COLON || byte === COMMA) marks++
    else if (byte === BRACKET || byte === BRACE) {
      marks++
      depth++
    } else if (byte === BRACKET + 2 || byte === BRACE + 2) depth--
    if (marks > most) throw new LargeMessage(`its JSON has more than ${most} marks`)
    if (depth > MOST_DEPTH)
      throw new LargeMessage(`its JSON has more than ${MOST_DEPTH} brackets in each other`)
  }
  return marks
}

const [QUOTE, BACKSLASH, COLON, COMMA] = [0x22, 0x5c, 0x3a, 0x2c]
/** Each closing one is two after it. */
const [BRACKET, BRACE] = [0x5b, 0x7b]
