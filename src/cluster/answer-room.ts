import { getHeapStatistics } from 'node:v8'
import { LargeMessage, LIST, type MessageSize, SMALL } from './bounded-message.ts'

/** For how long an answer counts after it was read: the page that it is for has been sent by then. */
const COUNTED_MS = 1_000
/** An answer of few bytes and many marks takes as much memory as a large one. */
const BYTES_OF_MARK = LIST.bytes / LIST.marks
/** The values of answers take some six times as much as their bytes. */
const SHARE_OF_HEAP = 1 / 32
/** Two of the largest answers. */
const MOST_BYTES = Math.min(2 * LIST.bytes, getHeapStatistics().heap_size_limit * SHARE_OF_HEAP)

/**
 * The room for the large answers of all members together: several may lie at the same time. A small answer needs no room, so the
 * members that do not lie are served meanwhile.
 */
export class AnswerRoom {
  readonly #mostBytes: number
  readonly #countedMs: number
  #takenBytes = 0

  constructor(mostBytes = MOST_BYTES, countedMs = COUNTED_MS) {
    this.#mostBytes = mostBytes
    this.#countedMs = countedMs
  }

  /** An answer that is read from now on. */
  begin(): AnswerInRoom {
    return new AnswerInRoom((bytes) => this.#take(bytes), this.#countedMs)
  }

  #take(bytes: number): void {
    if (this.#takenBytes + bytes > this.#mostBytes)
      throw new LargeMessage(`the answers of all servers have more than ${this.#mostBytes} bytes together`)
    this.#takenBytes += bytes
  }
}

/** An answer in an `AnswerRoom`. */
class AnswerInRoom {
  readonly #take: (bytes: number) => void
  readonly #countedMs: number
  #bytes = 0

  constructor(take: (bytes: number) => void, countedMs: number) {
    this.#take = take
    this.#countedMs = countedMs
  }

  /** It has so many bytes, and marks, up to now. Throws {@link LargeMessage} if there is no room for them. */
  has({ bytes, marks }: MessageSize): void {
    const needed = Math.max(bytes - SMALL.bytes, (marks - SMALL.marks) * BYTES_OF_MARK)
    if (needed <= this.#bytes) return
    this.#take(needed - this.#bytes)
    this.#bytes = needed
  }

  /** It was read, or has failed. */
  end(): void {
    if (this.#bytes > 0) setTimeout(() => this.#take(-this.#bytes), this.#countedMs).unref()
  }
}
