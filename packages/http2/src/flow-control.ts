import { INITIAL_WINDOW } from './protocol.ts'

/** The window of a connection. The window of a stream is the initial one (RFC 9113, section 6.9). */
export const CONNECTION_WINDOW = 1024 * 1024
/** The window of a stream that was made wide: half of the connection's, so that one stream leaves room to others. */
export const WIDE_WINDOW = CONNECTION_WINDOW / 2

/** The bytes that a client may send: the window of a stream, or of a connection (section 5.2.1). */
export class ReceiveWindow {
  readonly #size: number
  #left: number
  #uncredited = 0

  constructor(size = INITIAL_WINDOW) {
    this.#size = size
    this.#left = size
  }

  /** Bytes have come. False if they are more than the client may send. */
  take(bytes: number): boolean {
    this.#left -= bytes
    this.#uncredited += bytes
    return this.#left >= 0
  }

  /** The client may send this much more. */
  grow(bytes: number): void {
    this.#left += bytes
  }

  /** The increment for a WINDOW_UPDATE. 0 until half of the window is used, so that not each frame causes one. */
  credit(): number {
    const increment = this.#uncredited
    if (increment < this.#size >> 1) return 0
    this.#uncredited = 0
    this.#left += increment
    return increment
  }
}
