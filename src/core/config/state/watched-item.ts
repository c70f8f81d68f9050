import type { ConfigKey } from './config-item.ts'

/** An item that a client watches. */
export interface WatchedItem {
  readonly key: ConfigKey
  /** The md5 of the client; the empty string if it has no version. */
  readonly md5: string
  /** How the client named the item, encoded for its protocol. */
  readonly echo: string
}
