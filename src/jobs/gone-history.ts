import { DELETED_CONFIG } from '../core/config/state/deleted-config.ts'
import { forgetDeleted, type GoneItem } from '../core/config/commands/forget-deleted.ts'
import type { Engine, ReadsOf } from '../core/engine/ports.ts'
import { inParts } from '../core/work/in-parts.ts'
import type { RecordView } from '../core/records/record-tables.ts'

/** How many deleted items a round checks: the store is asked about each. */
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
 * Forgets the deleted items whose history records are gone: by their age, or because history takes too many bytes. So the
 * store is asked which are still there.
 */
export class GoneHistory {
  readonly #parts: GoneHistoryParts
  /** The last record that was checked: the next round continues behind it. */
  #last = 0

  constructor(parts: GoneHistoryParts) {
    this.#parts = parts
  }

  /** Forgets deletions from before this time, and deletions whose history records are gone. */
  async forgetBefore(beforeMs: number): Promise<void> {
    const { engine } = this.#parts
    for (const part of inParts(await this.#goneItems(beforeMs), engine.mostAtOnce))
      await engine.execute(forgetDeleted(part))
  }

  async #goneItems(beforeMs: number): Promise<GoneItem[]> {
    const all = Array.from(this.#parts.state.records(DELETED_CONFIG), ([id, { atMs, historyId }]) => ({
      id,
      atMs,
      historyId,
    }))
    const gone = await this.#withoutRecord(all.map(({ historyId }) => historyId))
    return all.filter(({ atMs, historyId }) => atMs < beforeMs || gone.has(historyId))
  }

  /** Which of the next records are gone. */
  async #withoutRecord(ids: readonly number[]): Promise<Set<number>> {
    const next = ids
      .filter((id) => id > this.#last)
      .sort((a, b) => a - b)
      .slice(0, LOOKED_AT)
    this.#last = next.length < LOOKED_AT ? 0 : next.at(-1)!
    const gone = new Set(next)
    if (next.length > 0)
      for (const id of await this.#parts.store.reads(READER).historyThere(next)) gone.delete(id)
    return gone
  }
}
