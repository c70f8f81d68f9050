import type { Revision, StoreFollower } from '../../core/ports.ts'
import type { Revision as KeyRevision } from './client/whole-revisions.ts'
import { changesOfRevision, type ReadParts } from './feed-changes.ts'
import type { Keys } from './keys.ts'

/** What the feed works with. */
export interface StoreFeedParts {
  readonly keys: Keys
  readonly readParts: ReadParts
  /** Called with what stops the feed: a value that cannot be read. */
  readonly failed: (error: unknown) => void
}

/** Somebody who waits for a revision. */
interface Waiter {
  readonly revision: Revision
  readonly resolve: () => void
}

/** Gives the follower each revision as changes, one after the other, also where contents must be read first. */
export class StoreFeed {
  readonly #parts: StoreFeedParts
  readonly #queue: KeyRevision[] = []
  #follower: StoreFollower | undefined
  #applied: Revision
  #isBusy = false
  #waiters: Waiter[] = []
  /** The keys of the last revisions, for requests whose answers were lost. */
  readonly #recent = new Map<Revision, readonly string[]>()

  /** `applied`: the revision that the follower begins with. */
  constructor(parts: StoreFeedParts, applied: Revision) {
    this.#parts = parts
    this.#applied = applied
  }

  /** The last revision that the follower has. */
  get applied(): Revision {
    return this.#applied
  }

  follow(follower: StoreFollower): void {
    this.#follower = follower
    this.#work()
  }

  /** The watch has a whole revision. */
  add(revision: KeyRevision): void {
    this.#queue.push(revision)
    this.#work()
  }

  /** Resolves when the follower has this revision. */
  async reached(revision: Revision): Promise<void> {
    if (revision <= this.#applied) return
    await new Promise<void>((resolve) => this.#waiters.push({ revision, resolve }))
  }

  /** The keys that a recent revision has changed. */
  keysOf(revision: Revision): readonly string[] {
    return this.#recent.get(revision) ?? []
  }

  #work(): void {
    if (this.#isBusy || this.#follower === undefined) return
    this.#isBusy = true
    this.#drain(this.#follower)
      .catch((error: unknown) => this.#parts.failed(error))
      .finally(() => (this.#isBusy = false))
  }

  async #drain(follower: StoreFollower): Promise<void> {
    for (;;) {
      const next = this.#queue.shift()
      if (next === undefined) return
      const { keys, readParts } = this.#parts
      const changes = await changesOfRevision(keys, next.changes, readParts)
      follower.applied({ revision: next.revision, changes })
      this.#remember(next)
      this.#reach(next.revision)
    }
  }

  #remember({ revision, changes }: KeyRevision): void {
    const keys = changes.map((change) => (change.kind === 'put' ? change.kv.key : change.key))
    this.#recent.set(revision, keys)
    if (this.#recent.size <= MOST_RECENT) return
    const [oldest] = this.#recent.keys()
    if (oldest !== undefined) this.#recent.delete(oldest)
  }

  #reach(revision: Revision): void {
    this.#applied = revision
    const due = this.#waiters.filter((waiter) => waiter.revision <= revision)
    if (due.length === 0) return
    this.#waiters = this.#waiters.filter((waiter) => waiter.revision > revision)
    for (const { resolve } of due) resolve()
  }
}

/** How many revisions are remembered: more than come in the time in which a lost request is found out. */
const MOST_RECENT = 1_000
