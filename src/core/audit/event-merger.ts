import type { Now } from '../decisions/stamps.ts'
import type { AuditEntry, AuditEvent } from './audit-event.ts'

/** Equal events are merged for this long after the first one. */
const WINDOW_MS = 60_000

/** The most different events of a window, and the event into which all others are merged. */
export interface MergerOptions {
  readonly most: number
  readonly others: AuditEntry
}

/** An event whose count rises while its window is open. */
export interface OpenEvent extends AuditEvent {
  count: number
}

/**
 * Merges events of a minute with equal user, address, operation, result and code. The number of events of a window is
 * bounded; all others are one event.
 */
export class EventMerger {
  readonly #options: MergerOptions
  readonly #open = new Map<string, OpenEvent>()
  #openedMs = 0

  constructor(options: MergerOptions) {
    this.#options = options
  }

  /** The event of an entry: a new one, or an open one that counts one more. */
  eventOf(entry: AuditEntry, now: Pick<Now, 'wallMs' | 'stamp'>): OpenEvent {
    if (this.#open.size === 0) this.#openedMs = now.wallMs
    const key = keyOf(entry)
    const { most, others } = this.#options
    if (this.#open.has(key) || this.#open.size < most) return this.#merged(key, entry, now)
    return this.#merged(keyOf(others), others, now)
  }

  /** Closes the window if it is over: the events that came more than once. */
  closed(wallMs: number): readonly AuditEvent[] {
    const ageMs = wallMs - this.#openedMs
    // A clock that was set back ends the window too.
    if (ageMs >= 0 && ageMs < WINDOW_MS) return []
    return this.closeNow()
  }

  /** Closes the window: the events that came more than once. */
  closeNow(): readonly AuditEvent[] {
    const repeated = [...this.#open.values()].filter(({ count }) => count > 1)
    this.#open.clear()
    return repeated
  }

  #merged(key: string, entry: AuditEntry, { wallMs, stamp }: Pick<Now, 'wallMs' | 'stamp'>): OpenEvent {
    const open = this.#open.get(key)
    if (open !== undefined) {
      open.count++
      return open
    }
    const event = newEvent(entry, { wallMs, stamp })
    this.#open.set(key, event)
    return event
  }
}

/** A new event of this entry. */
export function newEvent(entry: AuditEntry, { wallMs, stamp }: Pick<Now, 'wallMs' | 'stamp'>): OpenEvent {
  return { id: stamp, atMs: wallMs, count: 1, ...entry }
}

function keyOf({ username, by, ip, operation, result, code }: AuditEntry): string {
  return JSON.stringify([username, by, ip, operation, result, code])
}
