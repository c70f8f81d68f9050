import type { Change } from '../core/changes.ts'

/** Hears of each change after the state has it. Must not throw and must not take long. */
export type Subscriber = (change: Change) => void

/** What the feed needs from outside. */
export interface FeedOptions {
  /** Runs a function once what is under way now is done: whoever made a change is answered first. */
  readonly defer: (run: () => void) => void
  /** Told when a subscriber threw; the others hear of the change all the same. */
  readonly report: (error: unknown, change: Change) => void
}

/**
 * Hands committed changes to the subscribers, in their order, each change once. A subscriber only notes
 * what it has to do and does it in slices of its own: a slow one never holds back a write or another one.
 */
export class Feed {
  readonly #options: FeedOptions
  readonly #subscribers: Subscriber[] = []
  #pending: Change[] = []
  #deferred = false

  constructor(options: FeedOptions) {
    this.#options = options
  }

  subscribe(subscriber: Subscriber): void {
    this.#subscribers.push(subscriber)
  }

  /** Takes changes that the state has. They are delivered soon, after the present work. */
  publishChanges(changes: readonly Change[]): void {
    for (const change of changes) this.#pending.push(change)
    if (this.#deferred) return
    this.#deferred = true
    this.#options.defer(() => this.#deliver())
  }

  #deliver(): void {
    const changes = this.#pending
    this.#pending = []
    this.#deferred = false
    for (const change of changes) for (const subscriber of this.#subscribers) this.#tell(subscriber, change)
  }

  #tell(subscriber: Subscriber, change: Change): void {
    try {
      subscriber(change)
    } catch (error) {
      this.#options.report(error, change)
    }
  }
}
