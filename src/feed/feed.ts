import type { Change } from '../core/decisions/changes.ts'
import type { Revision } from '../core/engine/ports.ts'
import { contained, failed, guarded, nothing } from '../core/unexpected.ts'

/**
 * Called with each change after it is applied, and with the last revision of the store that was applied with it. It
 * must not throw and must not take long.
 */
export type ChangeSubscriber = (change: Change, revision: Revision) => void

/** Changes that were applied in one step. */
interface AppliedStep {
  readonly changes: readonly Change[]
  readonly revision: Revision
}

/** The options of a feed. */
export interface FeedOptions {
  /** Runs a function after the current work: the client that made a change is answered first. */
  readonly defer: (run: () => void) => void
}

/**
 * Delivers applied changes to the subscribers, in order, each change once. A subscriber only records its work and does
 * it later in slices, so a slow one never delays a write or another subscriber. One that throws is called once more,
 * because each looks at the state as it is. If it throws again, it misses that change, and the others do not.
 */
export class Feed {
  readonly #options: FeedOptions
  readonly #subscribers: ChangeSubscriber[] = []
  #pending: AppliedStep[] = []
  #deferred = false

  constructor(options: FeedOptions) {
    this.#options = options
  }

  subscribe(subscriber: ChangeSubscriber): void {
    this.#subscribers.push(subscriber)
  }

  /** Accepts changes that are applied. They are delivered after the current work. */
  publishChanges(changes: readonly Change[], revision: Revision = 0): void {
    this.#pending.push({ changes, revision })
    if (this.#deferred) return
    this.#deferred = true
    const deliver = (): void => this.#deliver()
    this.#options.defer(guarded('push', deliver, deliver))
  }

  #deliver(): void {
    const steps = this.#pending
    this.#pending = []
    this.#deferred = false
    for (const { changes, revision } of steps)
      for (const change of changes)
        for (const subscriber of this.#subscribers) this.#call(subscriber, change, revision)
  }

  #call(subscriber: ChangeSubscriber, change: Change, revision: Revision): void {
    // Nearly always there is nothing to catch: a callback for each change and subscriber would cost more than their work.
    try {
      subscriber(change, revision)
    } catch (error) {
      failed('push', () => contained('push', nothing, () => subscriber(change, revision)), error)
    }
  }
}
