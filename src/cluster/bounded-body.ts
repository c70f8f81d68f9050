import type { IncomingMessage } from 'node:http'

/** Reads a body; undefined if it is larger than `mostBytes`. Rejects if the connection breaks. */
export async function boundedBody(message: IncomingMessage, mostBytes: number): Promise<Buffer | undefined> {
  if (Number(message.headers['content-length'] ?? 0) > mostBytes) return undefined
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of message as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > mostBytes) return undefined
    parts.push(part)
  }
  return Buffer.concat(parts)
}
