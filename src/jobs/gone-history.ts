import { CONFIG_COMMENT, DELETED_CONFIG } from '../core/config/state/config-comment.ts'
import { forgetHistory, type GoneItem } from '../core/config/commands/forget-history.ts'
import type { Engine, ReadsOf } from '../core/engine/ports.ts'
import { inParts } from '../core/work/in-parts.ts'
import type { RecordView } from '../core/records/record-tables.ts'

/** How many deleted items, and how many comments, a round checks: the store is asked about each. */
const LOOKED_AT = 1_000

/** The reader whose turns these reads take. */
const READER = 'forgetting'

/** Dependencies of forgetting. */
export interface GoneHistoryParts {
  readonly state: Pick<RecordView, 'records'>
  readonly engine: Pick<Engine, 'execute' | 'mostAtOnce'>
  readonly store: ReadsOf<'historyThere'>
}

/**
 * Forgets the deleted items and the comments whose history records are gone. Records of an item that is gone all go by
 * their age. Others go when history takes too many bytes: so the store is asked which are still there.
 */
export class GoneHistory {
  readonly #parts: GoneHistoryParts
  /** The last records that were checked: the next round continues behind them. */
  #lastDeleted = 0
  #lastComment = 0

  constructor(parts: GoneHistoryParts) {
    this.#parts = parts
  }

  /** Forgets deletions from before this time, and data about history records that are gone. */
  async forgetBefore(beforeMs: number): Promise<void> {
    const deleted = await this.#goneItems(beforeMs)
    const comments = await this.#goneComments()
    const { engine } = this.#parts
    for (const part of inParts(deleted, engine.mostAtOnce))
      await engine.execute(forgetHistory({ deleted: part, comments: [] }))
    for (const part of inParts(comments, engine.mostAtOnce))
      await engine.execute(forgetHistory({ deleted: [], comments: part }))
  }

  /** The deleted items from before this time, and deleted items whose history record is gone. */
  async #goneItems(beforeMs: number): Promise<GoneItem[]> {
    const all = Array.from(this.#parts.state.records(DELETED_CONFIG), ([id, { atMs, historyId }]) => ({
      id,
      atMs,
      historyId,
    }))
    const { asked, gone } = await this.#withoutRecord(
      all.map(({ historyId }) => historyId),
      this.#lastDeleted,
    )
    this.#lastDeleted = asked
    return all.filter(({ atMs, historyId }) => atMs < beforeMs || gone.has(historyId))
  }

  async #goneComments(): Promise<string[]> {
    const all = Array.from(this.#parts.state.records(CONFIG_COMMENT), ([id]) => Number(id))
    const { asked, gone } = await this.#withoutRecord(all, this.#lastComment)
    this.#lastComment = asked
    return Array.from(gone, String)
  }

  /** Which of the next records behind `last` are gone, and the last one that was asked about; 0: all were. */
  async #withoutRecord(ids: readonly number[], last: number): Promise<{ asked: number; gone: Set<number> }> {
    const next = ids
      .filter((id) => id > last)
      .sort((a, b) => a - b)
      .slice(0, LOOKED_AT)
    const gone = new Set(next)
    if (next.length > 0)
      for (const id of await this.#parts.store.reads(READER).historyThere(next)) gone.delete(id)
    return { asked: next.length < LOOKED_AT ? 0 : next.at(-1)!, gone }
  }
}
