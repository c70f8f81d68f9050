import type { InstanceAddress } from '../state/instance.ts'
import { type ServiceKey, serviceKeyText } from '../state/service.ts'
import type { TimelineCause } from './timeline-entry.ts'

/** A service whose last instance has left. */
export interface LostService {
  readonly key: ServiceKey
  /** Epoch ms of the decision, never later than the clock of the server that noted it. */
  readonly atMs: number
  readonly address: InstanceAddress
  readonly cause: TimelineCause
}

/** So long somebody should look at it. */
const SHOWN_MS = 6 * 3_600_000
const MOST_LOST = 1_000

/** The services whose last instance left lately, in the memory of this server: until they come back or are dismissed. */
export class LostServices {
  /** By the texts of their keys, the oldest loss first. */
  readonly #lost = new Map<string, LostService>()

  left(lost: LostService): void {
    this.back(lost.key)
    this.#lost.set(serviceKeyText(lost.key), lost)
    const [oldest] = this.#lost.keys()
    if (this.#lost.size > MOST_LOST && oldest !== undefined) this.#lost.delete(oldest)
  }

  /** The service has an instance again, or somebody has seen that it has none. */
  back(key: ServiceKey): void {
    if (this.#lost.size > 0) this.#lost.delete(serviceKeyText(key))
  }

  /** The losses that somebody should look at. */
  at(nowMs: number): LostService[] {
    for (const [text, { atMs }] of this.#lost) if (atMs <= nowMs - SHOWN_MS) this.#lost.delete(text)
    return [...this.#lost.values()]
  }
}
