import type { WatchLog } from './watch-log.ts'

/** The same thing is told at most this often. */
const EVERY_MS = 60_000
/** A delay of the event loop from which on everybody's requests suffer visibly. */
const SLOW_LOOP_SECONDS = 1

/** What is looked at; counts are since the start. */
export interface AlarmOptions {
  readonly log: WatchLog
  readonly monotonicMs: () => number
  /** The longest delay of the event loop lately, seconds. */
  readonly loopDelay: () => number
  readonly refusedPolls: () => number
  readonly maxHeldPolls: number
}

/** Tells, at most once a minute each, of limits that are reached and of a thread that is too busy. */
export class Alarms {
  readonly #options: AlarmOptions
  readonly #toldMs = new Map<string, number>()
  readonly #toldCount = new Map<string, number>()

  constructor(options: AlarmOptions) {
    this.#options = options
  }

  /** To be called each second. */
  tick(): void {
    const { log, loopDelay, refusedPolls, maxHeldPolls } = this.#options
    const delaySeconds = loopDelay()
    if (delaySeconds > SLOW_LOOP_SECONDS && this.#mayTell('loop')) {
      const delayMs = Math.round(delaySeconds * 1_000)
      log.warn(
        { delayMs },
        'the event loop stood still: the machine is too busy, or something here takes too long',
      )
    }
    this.#tellRise('polls', refusedPolls(), (refused) =>
      log.warn(
        { refused, maxHeldPolls },
        'long polls were refused: as many are held as may be (max-held-polls)',
      ),
    )
  }

  /** Tells how much a count has risen since it was told last. */
  #tellRise(name: string, count: number, tell: (rise: number) => void): void {
    const rise = count - (this.#toldCount.get(name) ?? 0)
    if (rise === 0 || !this.#mayTell(name)) return
    this.#toldCount.set(name, count)
    tell(rise)
  }

  #mayTell(name: string): boolean {
    const nowMs = this.#options.monotonicMs()
    if (nowMs - (this.#toldMs.get(name) ?? -Infinity) < EVERY_MS) return false
    this.#toldMs.set(name, nowMs)
    return true
  }
}
