import type { Socket } from 'node:net'

/**
 * Bytes that head and body of an answer are put together in, and used again for the next one as soon as the connection
 * has taken them, which is mostly at once: no answer leaves anything for the collection of garbage.
 */
export class ScratchBytes {
  #bytes: Buffer

  /** `size`: how long an answer may be. A client that takes nothing keeps so much for itself, however little waits for it. */
  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafeSlow(size)
  }

  /** Writes an answer to its connection; false, and nothing is written, where it does not fit. Heads are Latin-1. */
  write(
    socket: Socket,
    head: string,
    { body, encoding }: { body: string | Buffer; encoding: Encoding },
  ): boolean {
    const most = typeof body === 'string' && encoding === 'utf8' ? body.length * 3 : body.length
    const bytes = this.#bytes
    if (head.length + most > bytes.length) return false
    const bodyAt = bytes.write(head, 0, 'latin1')
    const length = typeof body === 'string' ? bytes.write(body, bodyAt, encoding) : body.copy(bytes, bodyAt)
    socket.write(bytes.subarray(0, bodyAt + length))
    // What the connection could not take yet is sent from these very bytes.
    if (socket.writableLength > 0) this.#bytes = Buffer.allocUnsafeSlow(bytes.length)
    return true
  }
}

/** How a body that is a text is sent. */
export type Encoding = 'latin1' | 'utf8'
