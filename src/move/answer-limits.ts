/** The most bytes of an answer of another server: lists may have the contents of all their items. */
export const ANSWER_BYTES = 64 * 1024 * 1024
/** A whole answer takes at most so long, for each try. */
export const ANSWER_MS = 60_000
/** A row of a database with its largest cell, as large as an answer, and what comes with it. */
export const ROW_BYTES = ANSWER_BYTES + 16 * 1024 * 1024
/** A database may wait so long until a row is written to the plan, and may take so long for the next row. */
export const ROW_S = 600
/** The most rows and bytes of an answer of a database that is kept in memory: users, permissions, columns. */
export const KEPT_ROWS = 500_000
export const KEPT_BYTES = 256 * 1024 * 1024
