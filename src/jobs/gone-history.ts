import { CONFIG_COMMENT } from '../core/config/config-comment.ts'
import { DELETED_CONFIG } from '../core/config/deleted-config.ts'
import { forgetHistory } from '../core/config/forget-history.ts'
import type { Engine } from '../core/engine.ts'
import { inParts } from '../core/in-parts.ts'
import type { KeptRecords } from '../core/ports.ts'
import type { RecordView } from '../core/records/record-tables.ts'
import { msOf, stampOfId } from '../core/stamps.ts'

/** How many old comments a round looks at: the store is asked about each. */
const COMMENTS_A_ROUND = 1_000

/** What forgetting works on. */
export interface GoneHistoryParts {
  readonly state: Pick<RecordView, 'records'>
  readonly engine: Pick<Engine, 'execute' | 'mostAtOnce'>
  readonly store: Pick<KeptRecords, 'historyRecord'>
}

/**
 * Forgets the deleted items and the comments whose history records are cleaned. Records of an item that is gone all go by
 * their age. Of an item that exists the newest stay: so the store is asked whether an old comment still has its record.
 */
export class GoneHistory {
  readonly #parts: GoneHistoryParts
  /** The last comment that was looked at: the next round goes on behind it. */
  #lastLooked = 0

  constructor(parts: GoneHistoryParts) {
    this.#parts = parts
  }

  /** Forgets what belongs to changes before this time and is gone. */
  async forgetBefore(beforeMs: number): Promise<void> {
    const deleted = Array.from(this.#parts.state.records(DELETED_CONFIG))
      .filter(([, { atMs }]) => atMs < beforeMs)
      .map(([id]) => id)
    const comments = await this.#goneComments(beforeMs)
    const { engine } = this.#parts
    for (const part of inParts(deleted, engine.mostAtOnce))
      await engine.execute(forgetHistory({ deleted: part, comments: [] }, beforeMs))
    for (const part of inParts(comments, engine.mostAtOnce))
      await engine.execute(forgetHistory({ deleted: [], comments: part }, beforeMs))
  }

  async #goneComments(beforeMs: number): Promise<string[]> {
    const { state, store } = this.#parts
    const old = Array.from(state.records(CONFIG_COMMENT), ([id]) => Number(id)).filter(
      (id) => msOf(stampOfId(id)) < beforeMs,
    )
    const next = old.filter((id) => id > this.#lastLooked).slice(0, COMMENTS_A_ROUND)
    this.#lastLooked = next.length < COMMENTS_A_ROUND ? 0 : next.at(-1)!
    const gone: string[] = []
    for (const id of next) if ((await store.historyRecord(id)) === undefined) gone.push(String(id))
    return gone
  }
}
