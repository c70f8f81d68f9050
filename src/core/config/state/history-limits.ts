/** How many bytes history may take. They win over the number and the age of records. */
export interface HistoryLimits {
  /** The bytes of all items together. */
  readonly maxBytes: number
  readonly maxBytesOfItem: number
}

/** History without a limit on its bytes. */
export const UNLIMITED_HISTORY: HistoryLimits = { maxBytes: Infinity, maxBytesOfItem: Infinity }
