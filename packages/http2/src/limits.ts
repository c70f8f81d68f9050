/** The limits on clients. Each has the error that the RFC defines for it, and a name for its counter. */

/** Why a limit has refused something or ended a connection: the label of the counter. */
const LIMIT_REASONS = [
  'streams',
  'resets',
  'header-bytes',
  'continuations',
  'table-sizes',
  'settings',
  'pings',
  'empty-data',
  'small-data',
  'window-updates',
  'small-windows',
  'unread',
  'preface-late',
  'headers-late',
  'request-late',
] as const

/** A reason of {@link LIMIT_REASONS}. */
export type LimitReason = (typeof LIMIT_REASONS)[number]

/** Streams that a client may have open at once: SETTINGS_MAX_CONCURRENT_STREAMS. More are refused. */
export const MAX_CONCURRENT_STREAMS = 100

/** The fields of a request, as SETTINGS_MAX_HEADER_LIST_SIZE counts them. A larger list is answered with 431. */
export const MAX_HEADER_LIST_BYTES = 16 * 1024

/** The bytes of an encoded header block: twice the limit of its list, which a client may not know yet. */
export const MAX_HEADER_BLOCK_BYTES = 32 * 1024

/** CONTINUATION frames of a header block: a client needs one for each 16 KiB. */
export const MAX_CONTINUATIONS = 8

/** Parameters in a SETTINGS frame. There are about ten. */
export const MAX_SETTINGS_PARAMETERS = 32

/** Frames of the connection, such as acknowledgements, that wait to be sent because the client does not read. */
export const MAX_UNREAD_CONTROL_BYTES = 64 * 1024

/** DATA of fewer bytes is small. */
export const SMALL_DATA_BYTES = 16

/** How often something may happen on a connection in a second. */
const MOST_IN_A_SECOND = {
  /** Streams that are refused: a client that begins before it has the SETTINGS may open some too many. */
  streams: 200,
  /** Streams that the client resets, or makes the server reset by an error. */
  resets: 200,
  /** SETTINGS frames: each applies to all streams, and is acknowledged. */
  settings: 20,
  /** PING frames, except one for each DATA frame, by which clients measure the bandwidth. */
  pings: 200,
  /** DATA frames without a byte that do not end the stream. */
  'empty-data': 100,
  /** DATA frames with a few bytes that do not end the stream. */
  'small-data': 5_000,
  /** WINDOW_UPDATE frames, except a few for each DATA frame. */
  'window-updates': 1_000,
  /** DATA frames that are small because the client gives a window of a few bytes. */
  'small-windows': 1_000,
} as const

/** The frames and errors that are limited by rate. */
export type Rated = keyof typeof MOST_IN_A_SECOND

const SECOND_MS = 1_000

/** Counts frames and errors of a connection within a second. */
export class Rates {
  #beganMs = -Infinity
  /** The counts of this second. */
  #counts: Partial<Record<Rated, number>> = {}
  readonly #freed: Partial<Record<Rated, number>> = {}

  /** Counts it once. True if it was too often. The first `free` times of the connection do not count. */
  exceeds(rated: Rated, { nowMs, free }: { nowMs: number; free: number }): boolean {
    const freed = this.#freed[rated] ?? 0
    if (freed < free) {
      this.#freed[rated] = freed + 1
      return false
    }
    if (nowMs - this.#beganMs >= SECOND_MS) {
      this.#beganMs = nowMs
      this.#counts = {}
    }
    const count = (this.#counts[rated] ?? 0) + 1
    this.#counts[rated] = count
    return count > MOST_IN_A_SECOND[rated]
  }
}

/** How often each limit was met, on all connections that share it. */
export class LimitCounts {
  readonly #counts: Record<string, number> = Object.fromEntries(LIMIT_REASONS.map((reason) => [reason, 0]))

  /** The counts by their reasons. */
  get byReason(): Readonly<Record<string, number>> {
    return this.#counts
  }

  count(reason: LimitReason): void {
    this.#counts[reason]! += 1
  }
}
