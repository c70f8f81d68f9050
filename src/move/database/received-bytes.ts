import type { Socket } from 'node:net'
import { ROW_BYTES } from '../answer-limits.ts'

const LOOK_MS = 50

/**
 * Limits how many bytes a database sends without a row. A cell, a list of columns or a sign-in without an end would fill the
 * memory: the driver joins their packets. It counts on the socket, so it counts with TLS too.
 */
export class ReceivedBytes {
  readonly #socket: Socket
  #before = 0

  constructor(socket: Socket) {
    this.#socket = socket
    const looking = setInterval(() => this.#look(), LOOK_MS)
    socket.once('close', () => clearInterval(looking))
  }

  /** A row has come, or a query begins. */
  readonly begin = (): void => {
    this.#before = this.#socket.bytesRead
  }

  #look(): void {
    if (this.#socket.bytesRead - this.#before <= ROW_BYTES) return
    this.#socket.destroy(new Error(`it sends more than ${ROW_BYTES} bytes for one row`))
  }
}
