import type { ConfigKey } from '../core/config/state/config-item.ts'
import { LOOK_LIMITS } from '../core/config/state/look-limits.ts'
import type { Viewer } from '../core/config/state/viewer.ts'
import { guarded } from '../core/unexpected.ts'
import type { Loop } from '../core/work/sliced-work.ts'

/** The md5 of the version that a client sees, or the empty string if it sees nothing. */
export type Md5Of = (key: ConfigKey, who: Viewer) => string

/** Whether there is time for another look. */
export type Room = () => boolean

/**
 * The looks of watchers: which version of an item does a client see? Their time is measured, because a look costs from less than a
 * microsecond to half a millisecond.
 */
export class Looks {
  readonly #md5Of: Md5Of
  readonly #loop: Loop
  /** The time of all looks so far, and of those before this turn of the loop. */
  #spentMs = 0
  #beforeTurnMs: number | undefined

  constructor(md5Of: Md5Of, loop: Loop) {
    this.#md5Of = md5Of
    this.#loop = loop
  }

  /** Looks at an item for a client. */
  readonly md5Of: Md5Of = (key, who) => {
    if (this.#beforeTurnMs === undefined) this.#beginTurn()
    const beganMs = this.#loop.now()
    const md5 = this.#md5Of(key, who)
    this.#spentMs += this.#loop.now() - beganMs
    return md5
  }

  /** There is room as long as this turn has looked for less than this. */
  inTurn(mostMs: number): Room {
    return () => this.#beforeTurnMs === undefined || this.#spentMs - this.#beforeTurnMs < mostMs
  }

  /** There is room for one step of a longer work. */
  inStep(): Room {
    const untilMs = this.#spentMs + LOOK_LIMITS.stepMs
    return () => this.#spentMs < untilMs
  }

  #beginTurn(): void {
    this.#beforeTurnMs = this.#spentMs
    this.#loop.soon(guarded('push', this.#endTurn, this.#endTurn))
  }

  readonly #endTurn = (): void => {
    this.#beforeTurnMs = undefined
  }
}
