import { setTimeout as pause } from 'node:timers/promises'
import type { KeptRecords } from '../core/engine/ports.ts'
import { HISTORY_CLOCK, readOrNone } from '../core/engine/remembered-values.ts'

/** How many events one step removes: it takes a few milliseconds of the store's time. */
const STEP = 200
const PAUSE_MS = 20
/** The part of all kept events that may be refusals: they cannot drive out `done` events. */
const REFUSED_PART = 1 / 4

/** The options of the cleaner. */
export interface AuditCleanerOptions {
  readonly store: Pick<KeptRecords, 'cleanAudit' | 'recall'>
  readonly wallMs: () => number
  readonly retentionMs: number
  readonly maxEvents: number
}

/** Removes events of the audit that are too old or too many, in small steps. Between two steps the store does other work. */
export class AuditCleaner {
  readonly #options: AuditCleanerOptions
  #stopped = false

  constructor(options: AuditCleanerOptions) {
    this.#options = options
  }

  /** Runs a round. */
  async clean(): Promise<void> {
    const { store, wallMs, retentionMs, maxEvents: keep } = this.#options
    // Like history, events do not age when the wall clock jumps. Nor do they by a history clock that is ahead of it.
    const clockMs = readOrNone(HISTORY_CLOCK, await store.recall(HISTORY_CLOCK.name)) ?? 0
    const beforeMs = Math.min(clockMs, wallMs()) - retentionMs
    const keepRefused = Math.floor(keep * REFUSED_PART)
    let more = true
    while (more && !this.#stopped) {
      more = (await store.cleanAudit({ beforeMs, keep, keepRefused, most: STEP })).more
      if (more) await pause(PAUSE_MS)
    }
  }

  stop(): void {
    this.#stopped = true
  }
}
