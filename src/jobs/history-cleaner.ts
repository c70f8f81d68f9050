import { setTimeout as pause } from 'node:timers/promises'
import { nextHistoryClock } from '../core/config/state/history-clock.ts'
import type { KeptRecords } from '../core/engine/ports.ts'
import { HISTORY_CLOCK, readOrNone } from '../core/engine/remembered-values.ts'

/** How many records one step removes. A step takes a few milliseconds of the store's time. */
const STEP = 200
const PAUSE_MS = 20

/** The first round comes soon after the start, so that a server that restarts often cleans too. */
const FIRST_AFTER_MS = 60_000

/** The options of the cleaner. All times are milliseconds. */
export interface HistoryCleanerOptions {
  readonly store: Pick<KeptRecords, 'cleanHistory' | 'remember' | 'recall'>
  readonly wallMs: () => number
  readonly monotonicMs: () => number
  readonly retentionMs: number
  readonly intervalMs: number
  /** How many of the newest records of each existing item are always kept. */
  readonly keep: number
  /** Forgets deletions from before this time, and data about history records that are gone. */
  readonly forgetBefore: (beforeMs: number) => Promise<void>
}

/** Removes expired history, in small steps. Between two steps the store does other work. */
export class HistoryCleaner {
  readonly #options: HistoryCleanerOptions
  /** The start of history time, unless the store has one. The wall clock may jump before the first round. */
  readonly #startedMs: number
  #movedAtMs: number
  #dueMs: number
  #stopped = false

  constructor(options: HistoryCleanerOptions) {
    this.#options = options
    this.#startedMs = options.wallMs()
    this.#movedAtMs = options.monotonicMs()
    this.#dueMs = this.#movedAtMs + Math.min(options.intervalMs, FIRST_AFTER_MS)
  }

  /** Stores the start of history time, if it is new. Call it at the start: the first round may be after a clock jump. */
  async begin(): Promise<void> {
    const { store } = this.#options
    if (readOrNone(HISTORY_CLOCK, await store.recall(HISTORY_CLOCK.name)) === undefined)
      await store.remember(HISTORY_CLOCK.name, String(this.#startedMs))
  }

  /** Runs a round if one is due. Call it about once a second. */
  async tick(): Promise<void> {
    const { monotonicMs, intervalMs } = this.#options
    if (monotonicMs() < this.#dueMs) return
    this.#dueMs = monotonicMs() + intervalMs
    await this.clean()
  }

  /** Runs a round. */
  async clean(): Promise<void> {
    const { store, retentionMs, keep } = this.#options
    const beforeMs = (await this.#moveClock()) - retentionMs
    let more = true
    while (more && !this.#stopped) {
      more = (await store.cleanHistory({ beforeMs, keep, most: STEP })).more
      if (more) await pause(PAUSE_MS)
    }
    if (!this.#stopped) await this.#options.forgetBefore(beforeMs)
  }

  stop(): void {
    this.#stopped = true
  }

  async #moveClock(): Promise<number> {
    const { store, wallMs, monotonicMs, intervalMs } = this.#options
    const kept = readOrNone(HISTORY_CLOCK, await store.recall(HISTORY_CLOCK.name))
    const nowMs = monotonicMs()
    const ranMs = Math.min(nowMs - this.#movedAtMs, 2 * intervalMs)
    this.#movedAtMs = nowMs
    const clockMs = nextHistoryClock(kept ?? this.#startedMs, wallMs(), ranMs)
    await store.remember(HISTORY_CLOCK.name, String(clockMs))
    return clockMs
  }
}
