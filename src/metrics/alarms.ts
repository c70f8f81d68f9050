import { MOST_REMEMBERED } from '../core/naming/liveness/liveness.ts'
import type { WatchLog } from './watch-log.ts'

/** The same warning is logged at most this often. */
const EVERY_MS = 60_000
/** Above this delay of the event loop, every request is visibly slow. */
const SLOW_LOOP_SECONDS = 1

/** The values that are checked. Counts are since the start. */
export interface AlarmOptions {
  readonly log: WatchLog
  readonly monotonicMs: () => number
  /** The longest recent delay of the event loop, in seconds. */
  readonly loopDelay: () => number
  readonly refusedPolls: () => number
  readonly maxHeldPolls: number
  /** Registrations that silence has removed, and that are not remembered. */
  readonly forgotten: () => number
}

/** Logs a warning when a limit is reached or the thread is too busy, at most once a minute each. */
export class Alarms {
  readonly #options: AlarmOptions
  readonly #warnedMs = new Map<string, number>()
  readonly #warnedCount = new Map<string, number>()

  constructor(options: AlarmOptions) {
    this.#options = options
  }

  /** Call it each second. */
  tick(): void {
    const { log, loopDelay, refusedPolls, maxHeldPolls, forgotten } = this.#options
    const delaySeconds = loopDelay()
    if (delaySeconds > SLOW_LOOP_SECONDS && this.#mayWarn('loop')) {
      const delayMs = Math.round(delaySeconds * 1_000)
      log.warn(
        { delayMs },
        'the event loop stood still: the machine is too busy, or something here takes too long',
      )
    }
    this.#warnOfRise('polls', refusedPolls(), (refused) =>
      log.warn(
        { refused, maxHeldPolls },
        'long polls were refused: as many are held as may be (max-held-polls)',
      ),
    )
    this.#warnOfRise('forgotten', forgotten(), (instances) =>
      log.warn(
        { instances, most: MOST_REMEMBERED },
        'silent instances were removed and are not remembered: as many are remembered as may be',
      ),
    )
  }

  /** Warns of a count that has risen since its last warning. */
  #warnOfRise(name: string, count: number, warn: (rise: number) => void): void {
    const rise = count - (this.#warnedCount.get(name) ?? 0)
    if (rise === 0 || !this.#mayWarn(name)) return
    this.#warnedCount.set(name, count)
    warn(rise)
  }

  #mayWarn(name: string): boolean {
    const nowMs = this.#options.monotonicMs()
    if (nowMs - (this.#warnedMs.get(name) ?? -Infinity) < EVERY_MS) return false
    this.#warnedMs.set(name, nowMs)
    return true
  }
}
