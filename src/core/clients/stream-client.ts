import type { SentText } from '../text/long-text.ts'

/**
 * Why a server ends a connection that watches something. `failed`: a report has failed by a fault of this server. `gave-way`: another
 * client needs its room.
 */
export type EndOfWatch = 'failed' | 'gave-way'

/** A client that takes lists on its connection. */
export interface StreamClient {
  /** The id of its connection; unique among open connections. */
  readonly id: string
  readonly address: string
  readonly port: number
  /** How its library names itself. */
  readonly agent: string
  readonly app: string
  /** The address that selectors go by. */
  readonly consumerIp: string
  /** Sends a list. Resolves with whether the client has acknowledged it in time. Never throws or rejects. */
  push(list: SentText, limitMs: number): Promise<boolean>
  /** Ends the connection; by default because a push to it has failed. */
  readonly end: (why?: EndOfWatch) => void
  /** Calls back once when the connection has ended, or at once if it has ended already. */
  onEnd(ended: () => void): void
}
