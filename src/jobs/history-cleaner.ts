import { setTimeout as pause } from 'node:timers/promises'
import { nextHistoryClock } from '../core/config/history-clock.ts'
import type { Store } from '../core/ports.ts'

const CLOCK_NAME = 'history-clock-ms'
/** Records that one step removes: a few milliseconds of the store's time. */
const STEP = 200
const PAUSE_MS = 20

/** Soon after a start, so that a server which is restarted often cleans as well. */
const FIRST_AFTER_MS = 60_000

/** What the cleaner needs to know, all in milliseconds but `keep`. */
export interface HistoryCleanerOptions {
  readonly store: Pick<Store, 'cleanHistory' | 'remember' | 'recall'>
  readonly wallMs: () => number
  readonly monotonicMs: () => number
  readonly retentionMs: number
  readonly intervalMs: number
  /** The newest records of each living item that stay however old they are. */
  readonly keep: number
}

/** Removes history that is old enough, in small steps between which everybody else has the store. */
export class HistoryCleaner {
  readonly #options: HistoryCleanerOptions
  /** Where history time begins if it was never kept: not at the first round, before which the clock may have jumped. */
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

  /**
   * Keeps where history time begins, if that was never kept: a next start, before the first round of this one, may find
   * a clock that has jumped. To be called at the start.
   */
  async begin(): Promise<void> {
    const { store } = this.#options
    if ((await store.recall(CLOCK_NAME)) === undefined)
      await store.remember(CLOCK_NAME, String(this.#startedMs))
  }

  /** One round if it is time for one; to be called about once a second. */
  async tick(): Promise<void> {
    const { monotonicMs, intervalMs } = this.#options
    if (monotonicMs() < this.#dueMs) return
    this.#dueMs = monotonicMs() + intervalMs
    await this.clean()
  }

  /** One round. */
  async clean(): Promise<void> {
    const { store, retentionMs, keep } = this.#options
    const beforeMs = (await this.#moveClock()) - retentionMs
    let more = true
    while (more && !this.#stopped) {
      more = (await store.cleanHistory({ beforeMs, keep, most: STEP })).more
      if (more) await pause(PAUSE_MS)
    }
  }

  stop(): void {
    this.#stopped = true
  }

  async #moveClock(): Promise<number> {
    const { store, wallMs, monotonicMs, intervalMs } = this.#options
    const kept = await store.recall(CLOCK_NAME)
    const nowMs = monotonicMs()
    const ranMs = Math.min(nowMs - this.#movedAtMs, 2 * intervalMs)
    this.#movedAtMs = nowMs
    const clockMs = nextHistoryClock(kept === undefined ? this.#startedMs : Number(kept), wallMs(), ranMs)
    await store.remember(CLOCK_NAME, String(clockMs))
    return clockMs
  }
}
