import type { Socket } from 'node:net'

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
export type TextEncoding = 'latin1' | 'utf8'
