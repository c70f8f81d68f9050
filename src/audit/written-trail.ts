import {
  type AuditEntry,
  type AuditEvent,
  type AuditTally,
  type AuditTrail,
  NO_USER,
  type RecordingOptions,
} from '../core/audit/audit-event.ts'
import { withOneName } from '../core/audit/audited-item.ts'
import type { CommitResult, KeptRecords } from '../core/engine/ports.ts'
import type { Now } from '../core/decisions/stamps.ts'

/** Dependencies of the trail. */
export interface WrittenTrailParts {
  readonly store: Pick<KeptRecords, 'saveAudit'>
  readonly clock: () => Pick<Now, 'wallMs' | 'stamp'>
  /** Epoch ms. */
  readonly wallMs: () => number
  /** Gets each event when it is recorded, and one that was merged once more when its count is known. */
  readonly onEvent: (event: AuditEvent) => void
  /** Called when events are dropped; not again before all that waits could be written. */
  readonly onDrop: () => void
}

/** Counts since the start. */
export interface TrailCounts {
  /** Events that the store has. */
  readonly written: number
  /** Refusals and sign-ins that another event counts. */
  readonly merged: number
  /** Events that were not kept, because the store did not take earlier ones. */
  readonly dropped: number
}

/** The most events that wait for the store. */
const MOST_PENDING = 10_000
/** More events keep only their first item: the names of many items would take much memory. */
const MOST_WITH_NAMES = 1_000
/** One call of the store takes some milliseconds at most. */
const MOST_AT_ONCE = 200
/** Fewer events do not go with a commit: they would cost it a page of the log. */
const LEAST_WITH_COMMIT = 32

/** Stands for all events beyond the limit of a minute. */
const OTHER_REFUSALS: AuditEntry = {
  username: NO_USER,
  by: 'none',
  ip: '-',
  operation: 'several',
  item: '',
  result: 'refused',
  code: '',
  detail: 'more refusals than are told apart in a minute',
}
const OTHER_SIGN_INS: AuditEntry = {
  ...OTHER_REFUSALS,
  result: 'done',
  detail: 'more sign-ins than are told apart in a minute',
}

/** The most different refusals of a minute; more share one event. */
const MOST_REFUSALS = 200
/** Sign-ins and the like: all clients of a large system sign in when it starts. */
const MOST_SIGN_INS = 2_000

/** Records events, and writes them behind: nobody waits for the store. */
export class WrittenTrail implements AuditTrail {
  readonly #parts: WrittenTrailParts
  readonly #refusals = new EventMerger({ most: MOST_REFUSALS, others: OTHER_REFUSALS })
  readonly #signIns = new EventMerger({ most: MOST_SIGN_INS, others: OTHER_SIGN_INS })
  readonly #tallies = new Map<string, AuditTally>()
  /** Events that the store does not have yet, by id. */
  readonly #pending = new Map<number, AuditEvent>()
  readonly #counts = { written: 0, merged: 0, dropped: 0 }
  #isDropping = false
  /** The last write failed: events do not go with commits, which they could make fail. */
  #isFailing = false

  constructor(parts: WrittenTrailParts) {
    this.#parts = parts
  }

  record(entry: AuditEntry, options?: RecordingOptions): void {
    const now = this.#parts.clock()
    const merger = this.#mergerOf(entry, options)
    if (merger === undefined) {
      this.#add(newEvent(entry, now))
      return
    }
    this.#tellAgain(merger.closed(now.wallMs))
    const event = merger.eventOf(entry, now)
    if (event.count === 1) this.#add(event)
    else this.#addAgain(event)
  }

  tallyOf(operation: string): AuditTally {
    const tally = this.#tallies.get(operation) ?? { count: 0 }
    this.#tallies.set(operation, tally)
    return tally
  }

  /** How often each operation ran that is counted and not recorded. */
  tallies(): ReadonlyMap<string, Readonly<AuditTally>> {
    return this.#tallies
  }

  counts(): TrailCounts {
    return this.#counts
  }

  /** Writes the waiting events. Call it a few times a second. Rejects as the store does; the next call tries again. */
  async flush(): Promise<void> {
    const nowMs = this.#parts.wallMs()
    for (const merger of [this.#refusals, this.#signIns]) this.#tellAgain(merger.closed(nowMs))
    while (this.#pending.size > 0) await this.#writeSome((events) => this.#parts.store.saveAudit(events))
    this.#isDropping = false
  }

  /** Makes a commit, which takes waiting events along if there are enough. They are written if it is `committed`. */
  async along(commit: (events: readonly AuditEvent[]) => Promise<CommitResult>): Promise<CommitResult> {
    if (this.#isFailing || this.#pending.size < LEAST_WITH_COMMIT) return commit([])
    return this.#writeSome(commit)
  }

  /** Writes everything: nothing is recorded any more. */
  async close(): Promise<void> {
    for (const merger of [this.#refusals, this.#signIns]) this.#tellAgain(merger.closeNow())
    await this.flush()
  }

  /** Undefined for an entry that is an event of its own. */
  #mergerOf({ result }: AuditEntry, options: RecordingOptions | undefined): EventMerger | undefined {
    // They are few, and each names its item.
    if (result === 'would-be-refused' || options?.hasChanged === true) return undefined
    if (result !== 'done') return this.#refusals
    return options?.mayRepeat === true ? this.#signIns : undefined
  }

  /** Events whose count is known now. */
  #tellAgain(repeated: readonly AuditEvent[]): void {
    for (const event of repeated) this.#parts.onEvent(event)
  }

  #add(event: AuditEvent): void {
    this.#parts.onEvent(event)
    if (this.#pending.size < MOST_PENDING) {
      const isMany = this.#pending.size >= MOST_WITH_NAMES
      this.#pending.set(event.id, isMany ? { ...event, item: withOneName(event.item) } : event)
      return
    }
    this.#counts.dropped++
    if (!this.#isDropping) this.#parts.onDrop()
    this.#isDropping = true
  }

  /** An event that the store has, or that waits, counts one more. */
  #addAgain(event: AuditEvent): void {
    this.#counts.merged++
    if (this.#pending.size < MOST_PENDING) this.#pending.set(event.id, event)
  }

  async #writeSome<T extends CommitResult | void>(
    write: (events: readonly AuditEvent[]) => Promise<T>,
  ): Promise<T> {
    const waiting = this.#oldestPending()
    for (const { id } of waiting) this.#pending.delete(id)
    let isWritten = false
    try {
      // The count of an event of this minute may rise meanwhile: then it waits again.
      const result = await write(waiting.map((event) => ({ ...event })))
      isWritten = result?.kind !== 'failed'
      return result
    } finally {
      this.#isFailing = !isWritten
      if (isWritten) this.#counts.written += waiting.length
      else for (const event of waiting) this.#pending.set(event.id, event)
    }
  }

  #oldestPending(): AuditEvent[] {
    const oldest: AuditEvent[] = []
    for (const event of this.#pending.values()) {
      oldest.push(event)
      if (oldest.length === MOST_AT_ONCE) break
    }
    return oldest
  }
}

/** Equal events are merged for this long after the first one. */
const WINDOW_MS = 60_000

/** The most different events of a window, and the event into which all others are merged. */
interface MergerOptions {
  readonly most: number
  readonly others: AuditEntry
}

/** An event whose count rises while its window is open. */
interface OpenEvent extends AuditEvent {
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
function newEvent(entry: AuditEntry, { wallMs, stamp }: Pick<Now, 'wallMs' | 'stamp'>): OpenEvent {
  const { username, by, ip, operation, item, result, code, detail } = entry
  return { id: stamp, atMs: wallMs, username, by, ip, operation, item, result, code, detail, count: 1 }
}

function keyOf({ username, by, ip, operation, result, code }: AuditEntry): string {
  return JSON.stringify([username, by, ip, operation, result, code])
}
