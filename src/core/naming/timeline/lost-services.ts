import { type ServiceKey, serviceKeyText } from '../state/service.ts'
import { newestFirst, type TimelineEntry } from './timeline-entry.ts'

/** A service whose last instance has left. */
export interface LostService extends Pick<TimelineEntry, 'stamp' | 'atMs' | 'address' | 'cause'> {
  readonly key: ServiceKey
}

/** So long somebody should look at it. */
const SHOWN_MS = 6 * 3_600_000
const MOST_LOST = 1_000
const MOST_DISMISSED = 1_000

/** The services whose last instance left lately, in the memory of this server: until they come back or are dismissed. */
export class LostServices {
  /** By the texts of their keys, the oldest loss first. */
  readonly #lost = new Map<string, LostService>()
  /** The texts of the keys of dismissed services, the oldest first. */
  readonly #dismissed = new Set<string>()

  left(lost: LostService): void {
    this.back(lost.key)
    this.#lost.set(serviceKeyText(lost.key), lost)
    const [oldest] = this.#lost.keys()
    if (this.#lost.size > MOST_LOST && oldest !== undefined) this.#lost.delete(oldest)
  }

  /** The service has an instance again. */
  back(key: ServiceKey): void {
    if (this.#lost.size > 0) this.#lost.delete(serviceKeyText(key))
    if (this.#dismissed.size > 0) this.#dismissed.delete(serviceKeyText(key))
  }

  /** Somebody has seen that the service has no instance: that is no news until one comes. */
  dismiss(key: ServiceKey): void {
    this.back(key)
    this.#dismissed.add(serviceKeyText(key))
    const [oldest] = this.#dismissed
    if (this.#dismissed.size > MOST_DISMISSED && oldest !== undefined) this.#dismissed.delete(oldest)
  }

  isDismissed(key: ServiceKey): boolean {
    return this.#dismissed.size > 0 && this.#dismissed.has(serviceKeyText(key))
  }

  /** The losses that somebody should look at. */
  at(nowMs: number): LostService[] {
    for (const [text, { atMs }] of this.#lost) if (atMs <= nowMs - SHOWN_MS) this.#lost.delete(text)
    return [...this.#lost.values()]
  }
}

/** The newest loss of each service, as several servers noted them. The newest is first. */
export function newestLosses(noted: readonly LostService[]): LostService[] {
  const byKey = new Map<string, LostService>()
  for (const lost of noted.toSorted(newestFirst)) {
    const text = serviceKeyText(lost.key)
    if (!byKey.has(text)) byKey.set(text, lost)
  }
  return [...byKey.values()]
}
