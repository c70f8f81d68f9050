import type { Loaded, Revision, Snapshot, StoreFollower } from '../../../core/engine/ports.ts'
import type { ServiceKey } from '../../../core/naming/state/service.ts'
import type { DamagedKeys } from '../failures/damaged-keys.ts'
import type { KeyChange, KeyRevision } from '@waypost/etcd-client/whole-revisions'
import type { ReadParts } from '../keys/read-values.ts'
import { changesOfRevision } from './feed-changes.ts'
import type { Keys } from '../keys/keys.ts'

/** The dependencies of the feed. */
export interface StoreFeedParts {
  readonly keys: Keys
  /** The key that every revision of this server changes. */
  readonly own: string
  readonly readParts: ReadParts
  /** See `ReadingChanges.damaged`. */
  readonly damaged?: DamagedKeys | undefined
  /** Gets the keys of every revision before it is applied. An error from it stops the feed. */
  readonly begins?: ((events: readonly KeyChange[]) => void) | undefined
  /** Gets the keys of every revision that was applied. */
  readonly followed?: ((events: readonly KeyChange[]) => void) | undefined
  /** Called with the error that stops the feed until the next snapshot: a revision cannot be read or applied. */
  readonly stopped: (error: unknown) => void
}

/** A revision of the watch. */
interface Added {
  readonly revision: KeyRevision
  readonly atMs: number
}

/** Somebody who waits for a revision. */
interface Waiter {
  readonly revision: Revision
  readonly resolve: () => void
}

/** How many revisions of this server are remembered. The outcome of a lost request is known before the next request. */
const MOST_RECENT = 10

/** Gives the follower each revision as changes, one after the other, also where contents must be read first. */
export class StoreFeed {
  readonly #parts: StoreFeedParts
  #queue: Added[] = []
  /** The revision that is being read and applied. */
  #current: Added | undefined
  #follower: StoreFollower | undefined
  #applied: Revision
  /** The watch has reported everything up to this revision. */
  #watched: Revision = 0
  /** Ends when nothing is left to apply, or the feed is held; undefined: nothing is being applied. */
  #draining: Promise<void> | undefined
  #isHeld = false
  #isStopped = false
  #waiters: Waiter[] = []
  /** Ends with the last part that is loaded again. */
  #mending: Promise<unknown> = Promise.resolve()
  /** The keys of this server's last revisions, for requests with lost answers. */
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

  /** When the oldest revision was added that the follower lacks; undefined: it lacks no revision. */
  get waitingSinceMs(): number | undefined {
    return (this.#current ?? this.#queue[0])?.atMs
  }

  follow(follower: StoreFollower): void {
    this.#follower = follower
    this.#work()
  }

  /** See `StoreFollower.saw`. */
  saw(stamp: number): void {
    this.#follower?.saw?.(stamp)
  }

  /** The watch has a whole revision, at this time. */
  add(revision: KeyRevision, atMs: number): void {
    this.#queue.push({ revision, atMs })
    this.#work()
  }

  /** The watch has reported everything up to this revision, which may belong to other data in etcd. */
  watchedTo(revision: Revision): void {
    this.#watched = Math.max(this.#watched, revision)
    this.#reach()
  }

  /** Whether a part is being loaded again. */
  get isHeld(): boolean {
    return this.#isHeld
  }

  /** Reads and applies nothing more until the next snapshot. Resolves when the work that is under way has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#mending
    await this.#draining
  }

  /** Continues from a snapshot, after a stop; drops the revisions added before. */
  reload(snapshot: Snapshot): void {
    this.#queue = []
    this.#current = undefined
    this.#recent.clear()
    this.#follower?.reloaded(snapshot)
    this.#isStopped = false
    this.#watched = 0
    this.#applied = snapshot.revision
    this.#reach()
  }

  /**
   * Gives the follower a part that is loaded again, at the revision that it has reached. Later revisions are applied after it.
   * One part is loaded after the other. Rejects with the error of `load`.
   */
  mend(load: (revision: Revision) => Promise<Loaded>): Promise<void> {
    const done = this.#mending.then(() => this.#mend(load))
    this.#mending = done.catch(() => undefined)
    return done
  }

  async #mend(load: (revision: Revision) => Promise<Loaded>): Promise<void> {
    this.#isHeld = true
    try {
      await this.#draining
      if (this.#isStopped) return
      const loaded = await load(this.reached)
      // Otherwise everything is loaded again.
      if (!this.#isStopped) this.#follower?.reloaded(loaded)
    } finally {
      this.#isHeld = false
      this.#work()
    }
  }

  /** `reached` resolves when the follower has this revision; after a restore perhaps never: `forget` ends the wait. */
  waitFor(revision: Revision): { readonly reached: Promise<void>; forget(): void } {
    if (revision <= this.reached) return { reached: Promise.resolve(), forget: () => undefined }
    let waiter: Waiter | undefined
    const reached = new Promise<void>((resolve) => {
      waiter = { revision, resolve }
      this.#waiters.push(waiter)
    })
    return { reached, forget: () => void (this.#waiters = this.#waiters.filter((one) => one !== waiter)) }
  }

  /** For how many revisions somebody waits. */
  get waiters(): number {
    return this.#waiters.length
  }

  /** The keys that a recent revision of this server has changed. Undefined: the feed did not bring it. */
  keysOf(revision: Revision): readonly string[] | undefined {
    return this.#recent.get(revision)
  }

  #work(): void {
    if (this.#draining || this.#isHeld || this.#isStopped || !this.#follower || this.#queue.length === 0)
      return
    this.#draining = this.#drain(this.#follower).finally(() => {
      this.#draining = undefined
      // Something may have been added since the last look.
      this.#work()
    })
  }

  async #drain(follower: StoreFollower): Promise<void> {
    const { keys, readParts, damaged, stopped } = this.#parts
    const hasService = (service: ServiceKey): boolean => follower.hasService?.(service) !== false
    try {
      while (!this.#isHeld && !this.#isStopped) {
        const next = this.#queue.shift()
        if (next === undefined) return
        this.#current = next
        const { revision, changes: events } = next.revision
        this.#parts.begins?.(events)
        const { changes, stamp } = await changesOfRevision(keys, events, { readParts, damaged, hasService })
        follower.applied({ revision, changes, stamp })
        this.#parts.followed?.(events)
        this.#current = undefined
        this.#remember(next.revision)
        this.#applied = revision
        this.#reach()
      }
    } catch (error) {
      this.#isStopped = true
      stopped(error)
    }
  }

  #remember({ revision, changes }: KeyRevision): void {
    const keys = changes.map((change) => (change.kind === 'put' ? change.kv.key : change.key))
    if (!keys.includes(this.#parts.own)) return
    this.#recent.set(revision, keys)
    if (this.#recent.size <= MOST_RECENT) return
    const [oldest] = this.#recent.keys()
    if (oldest !== undefined) this.#recent.delete(oldest)
  }

  /** The follower has everything up to this revision. The revision that was applied last may be compacted where others write to etcd. */
  get reached(): Revision {
    const isWaiting = this.#current !== undefined || this.#queue.length > 0
    return isWaiting ? this.#applied : Math.max(this.#applied, this.#watched)
  }

  #reach(): void {
    const revision = this.reached
    const due = this.#waiters.filter((waiter) => waiter.revision <= revision)
    if (due.length === 0) return
    this.#waiters = this.#waiters.filter((waiter) => waiter.revision > revision)
    for (const { resolve } of due) resolve()
  }
}
