import { Cancellation } from '@waypost/etcd-client/cancellation'
import type { Revision, Snapshot, StoreFollower } from '../../../core/engine/ports.ts'
import { MissingChunk } from '../contents/chunks.ts'
import { type Clock, within } from '@waypost/etcd-client/clock'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import { shownKey } from '@waypost/etcd-client/key-text'
import type { KeyChange } from '@waypost/etcd-client/whole-revisions'
import type { HistorySize } from '../history/history-size.ts'
import type { Watch } from '@waypost/etcd-client/watch'
import type { DamagedKeys } from '../failures/damaged-keys.ts'
import type { ReadParts } from '../keys/read-values.ts'
import type { Keys } from '../keys/keys.ts'
import type { ComparedKind, Difference, KnownKeys } from '../keys/known-keys.ts'
import { StoreEmpty } from '../format/store-empty.ts'
import type { StoreInUse } from '../format/store-in-use.ts'
import { healedKinds } from './healed-keys.ts'
import type { KeptKeys } from './kept-keys.ts'
import { loadKeys, loadKind } from './load-keys.ts'
import { StoreFeed } from './store-feed.ts'

/** The dependencies of `Following`. */
export interface FollowingParts {
  readonly client: Pick<EtcdClient, 'pages' | 'range' | 'watch'>
  readonly keys: Keys
  readonly inUse: Pick<StoreInUse, 'look' | 'follow' | 'loaded'>
  readonly known: KnownKeys
  /** Names this server. */
  readonly member: string
  readonly readParts: ReadParts
  /** See `LoadParts.damaged`. */
  readonly damaged?: DamagedKeys | undefined
  /** See `LoadParts.kept`. */
  readonly kept?: KeptKeys | undefined
  readonly clock: Clock
  /** Another follower of etcd: it begins with a revision that was loaded, and gets the keys of each later one. */
  readonly size?: Pick<HistorySize, 'begin' | 'follow'> | undefined
  /** Called with an error that a reload does not repair: a layout or a kind of records of a later version. */
  readonly failed: (error: unknown) => void
  /** Called when everything must be loaded again, and whenever that has failed. */
  readonly reloading?: ((why: unknown) => void) | undefined
  /** Called when another hand has removed the number of this server's requests. */
  readonly numberLost?: (() => void) | undefined
  /** Called when everything was loaded again, with the numbers of keys that were known before and are known now. */
  readonly reloaded?: ((keys: { before: number; after: number }) => void) | undefined
}

/** How far a server is behind etcd. */
export interface FeedFigures {
  /** The last revision that was applied, and the newest revision that this server knows. */
  readonly applied: Revision
  readonly newest: Revision
  /** The greatest possible age of this server's data. A quiet etcd is asked once a second for its revision. */
  readonly lagMs: number
  /** How often everything was loaded again since the start. */
  readonly reloads: number
  /** How often a comparison with etcd has found a difference, and how often a kind of keys was loaded again for it. */
  readonly drifts: number
  readonly mends: number
  /** How many damaged keys are left out. */
  readonly leftOut: number
}

/** A revision of this server that the watch has not brought after this time: its member may stand still. */
const SUSPICIOUS_MS = 300
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000
/** How often a server that misses its data looks for them: an operator waits for it. */
const EMPTY_PAUSE_MS = 1_000
const MOST_TRIES = 3
/** The order in which kinds are loaded again: the records have the marks of damaged items and services. */
const MENDED = ['config', 'instance', 'small-record'] as const

/** Follows etcd: loads all data, watches it from there, and loads it again if the watch cannot continue. */
export class Following {
  readonly #parts: FollowingParts
  readonly #feed: StoreFeed
  readonly #closed = new Cancellation()
  #watch: Watch | undefined
  #newest: Revision
  /** When etcd last reported a change, or the lack of changes. */
  #heardMs: number
  #reloads = 0
  #drifts = 0
  /** The differences of the last comparison. */
  #lastDifferences: readonly string[] = []
  #mends = 0
  /** The kinds that wait to be loaded again. */
  readonly #toMend = new Set<ComparedKind>()
  #isReloading = false

  /** Loads everything. */
  static async load(parts: FollowingParts): Promise<{ following: Following; snapshot: Snapshot }> {
    for (let tries = 1; ; tries++)
      try {
        const snapshot = await loadKeys(parts)
        return { following: new Following(parts, snapshot.revision), snapshot }
      } catch (error) {
        // The revision that was being read was compacted meanwhile, or an item has changed.
        const isOver =
          error instanceof MissingChunk || (error instanceof EtcdError && error.kind === 'compacted')
        if (!isOver || tries === MOST_TRIES) throw error
      }
  }

  private constructor(parts: FollowingParts, revision: Revision) {
    const { keys, inUse, readParts, clock, damaged } = parts
    this.#parts = parts
    this.#newest = revision
    this.#heardMs = clock.nowMs()
    const stopped = (error: unknown): void => this.#stopped(error)
    const own = keys.of({ of: 'request', id: parts.member })
    const followed = (events: readonly KeyChange[]): void => {
      parts.known.follow(events)
      parts.size?.follow(events)
      if (events.some((event) => event.kind === 'deleted' && event.key === own)) parts.numberLost?.()
      this.#takeIn(events)
    }
    const begins = inUse.follow
    this.#feed = new StoreFeed({ keys, own, readParts, damaged, stopped, begins, followed }, revision)
    this.#count(revision)
  }

  get figures(): FeedFigures {
    const { applied, waitingSinceMs } = this.#feed
    const lagMs = this.#parts.clock.nowMs() - (waitingSinceMs ?? this.#heardMs)
    const newest = Math.max(applied, this.#newest)
    const leftOut = this.#parts.damaged?.size ?? 0
    return {
      applied,
      newest,
      lagMs,
      leftOut,
      reloads: this.#reloads,
      drifts: this.#drifts,
      mends: this.#mends,
    }
  }

  follow(follower: StoreFollower): void {
    this.#feed.follow(follower)
    this.#start()
  }

  /** See `StoreFollower.saw`. */
  saw(stamp: number): void {
    this.#feed.saw(stamp)
  }

  /** Resolves with true when the follower has this revision, and with false if that takes longer. */
  async reached(revision: Revision, limitMs: number): Promise<boolean> {
    this.#newest = Math.max(this.#newest, revision)
    const wait = this.#feed.waitFor(revision)
    try {
      const firstMs = Math.max(0, Math.min(SUSPICIOUS_MS, limitMs))
      if (await within(this.#parts.clock, firstMs, wait.reached)) return true
      this.#watch?.suspect()
      return await within(this.#parts.clock, Math.max(0, limitMs - firstMs), wait.reached)
    } finally {
      wait.forget()
    }
  }

  /** The same for a revision without a change of ours: asks the watch for its progress. */
  reachedAll(revision: Revision, limitMs: number): Promise<boolean> {
    const reached = this.reached(revision, limitMs)
    this.#watch?.requestProgress()
    return reached
  }

  /** The keys that a recent revision of this server has changed. Undefined: the feed did not bring it. */
  keysOf(revision: Revision): readonly string[] | undefined {
    return this.#feed.keysOf(revision)
  }

  /**
   * Compares the received keys with etcd: their numbers, or with `each` the revision of each key. Loads the differing kinds
   * again. `counts`: how many of some kinds the state has. Rejects with `EtcdError` if etcd cannot be reached.
   */
  async compare({ each = false, counts = {} }: CompareOptions = {}): Promise<readonly Difference[]> {
    if (this.#isReloading || this.#feed.isHeld) return []
    const { known, client } = this.#parts
    const revision = this.#feed.reached
    const loads = this.#reloads + this.#mends
    const found = each
      ? await known.compareRevisions(client, revision)
      : await known.compareCounts(client, revision, { counts, leftOut: (kind) => this.#leftOut(kind) })
    // Data that was loaded again meanwhile is not the compared data.
    if (this.#isReloading || this.#reloads + this.#mends !== loads) return []
    if (found.length > 0) this.#drifts++
    const texts = found.map(differenceText)
    // A difference that a reload has not repaired is reported again, but not loaded again and again.
    const mended = found.filter((_, index) => !this.#lastDifferences.includes(texts[index]!))
    this.#lastDifferences = texts
    // Services and instances are loaded together.
    const kinds = new Set<ComparedKind>(mended.map(({ kind }) => (kind === 'service' ? 'instance' : kind)))
    for (const kind of await healedKinds(this.#parts)) kinds.add(kind)
    for (const kind of MENDED) if (kinds.has(kind)) await this.#mend(kind)
    return found
  }

  #leftOut(kind: ComparedKind): number {
    return this.#parts.damaged?.count(this.#parts.keys.every(kind)) ?? 0
  }

  /** The data must be loaded again before they can be used. */
  distrust(why: unknown): void {
    void this.#reload(why)
  }

  close(): void {
    this.#closed.cancel()
    this.#watch?.close()
  }

  #start(): void {
    const { client, keys, kept } = this.#parts
    this.#watch = client.watch(
      { ...keys.watched, from: this.#feed.applied + 1 },
      {
        changed: (revision) => {
          this.#heard(revision.revision)
          const changes = kept?.withoutLosses(revision.changes) ?? revision.changes
          this.#feed.add({ ...revision, changes }, this.#heardMs)
        },
        reached: (revision) => {
          this.#heard(revision)
          this.#feed.watchedTo(revision)
        },
        broken: (why) => void this.#reload(new Error(`etcd cannot tell what has changed since: ${why}`)),
      },
    )
  }

  /** Beside everything else. If it fails, history is counted with the next reload; until then it has no limit in all. */
  #count(revision: Revision): void {
    void this.#parts.size?.begin(revision).catch(() => undefined)
  }

  #heard(revision: Revision): void {
    this.#newest = Math.max(this.#newest, revision)
    this.#heardMs = this.#parts.clock.nowMs()
  }

  #stopped(error: unknown): void {
    this.#watch?.close()
    if (isPassing(error)) void this.#reload(error)
    else this.#parts.failed(error)
  }

  /** Instances that were left out without their service are loaded once it is there. */
  #takeIn(events: readonly KeyChange[]): void {
    const { keys, damaged } = this.#parts
    if (damaged === undefined || damaged.size === 0) return
    const isBack = events.some((event) => {
      if (event.kind !== 'put') return false
      const place = keys.read(event.kv.key)
      return place?.of === 'service' && damaged.firstOf(keys.instancesOf(place.service)) !== undefined
    })
    if (isBack) setImmediate(() => void this.#mend('instance'))
  }

  /** Loads a kind of keys again. If that fails, everything is loaded again. */
  async #mend(kind: ComparedKind): Promise<void> {
    if (this.#isReloading || this.#toMend.has(kind)) return
    this.#toMend.add(kind)
    try {
      await this.#feed.mend((revision) => {
        this.#toMend.delete(kind)
        this.#mends++
        return loadKind(this.#parts, kind, revision)
      })
    } catch (error) {
      this.#stopped(error)
    }
  }

  /** Loads everything again, until it succeeds. */
  async #reload(why: unknown): Promise<void> {
    if (this.#isReloading) return
    this.#isReloading = true
    this.#watch?.close()
    try {
      // A part or a revision that is being read notes the keys that it has read.
      await this.#feed.stop()
      this.#toMend.clear()
      const before = this.#parts.known.total
      const snapshot = await this.#loadAgain(why)
      if (snapshot === undefined) return
      this.#parts.reloaded?.({ before, after: this.#parts.known.total })
      this.#parts.inUse.loaded()
      this.#reloads++
      this.#newest = snapshot.revision
      this.#heardMs = this.#parts.clock.nowMs()
      this.#count(snapshot.revision)
      this.#feed.reload(snapshot)
      this.#start()
    } catch (error) {
      this.#parts.failed(error)
    } finally {
      this.#isReloading = false
    }
  }

  /** Undefined: this server stops. */
  async #loadAgain(why: unknown): Promise<Snapshot | undefined> {
    const { clock, reloading } = this.#parts
    let trouble = why
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      if (this.#closed.isCancelled) return undefined
      reloading?.(trouble)
      try {
        let snapshot = await loadKeys(this.#parts)
        if ((await this.#parts.kept?.putBackAll()) === true) snapshot = await loadKeys(this.#parts)
        return this.#closed.isCancelled ? undefined : snapshot
      } catch (error) {
        if (!isPassing(error)) throw error
        trouble = error
      }
      await clock.sleep(trouble instanceof StoreEmpty ? EMPTY_PAUSE_MS : pauseMs, this.#closed)
    }
  }
}

/** The options of `Following.compare`. */
export interface CompareOptions {
  readonly each?: boolean
  readonly counts?: Partial<Record<ComparedKind, number>>
}

function differenceText({ kind, known, stored, key }: Difference): string {
  const about =
    key === undefined ? `${known} keys are known and ${stored} are there` : `${shownKey(key)} has changed`
  return `What this server knows differs from etcd, ${kind}: ${about}.`
}

/** Whether it may help to load everything again. */
function isPassing(error: unknown): boolean {
  return error instanceof EtcdError || error instanceof MissingChunk
}
