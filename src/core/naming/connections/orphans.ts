import type { InstanceRemoved } from '../../decisions/changes.ts'
import type { ConnectionOwners, OwnedInstances } from '../liveness/connection-owners.ts'
import { connectionOf } from '../state/connection-publisher.ts'
import type { Instance } from '../state/service-entry.ts'

/**
 * How long the instances of connections are kept after it was learned that their server is gone, in ms. The slowest client
 * needs up to 30 s to register elsewhere.
 */
export const ORPHAN_MS = 35_000
/** The time between two looks at all orphans: those that were left are looked at again. */
const PASS_MS = 1_000

/** What {@link Orphans} works on. */
export interface OrphanParts {
  readonly owners: ConnectionOwners
  /** Whether a process is this one, or that of a live member. */
  readonly isAlive: (process: string) => boolean
  /** For tests: instead of `ORPHAN_MS`. */
  readonly keptMs?: number
}

/**
 * The instances of connections whose server process is gone. They are kept for a while, so that their clients can register
 * elsewhere: whoever registers an address takes it over, and it is no orphan any more. It has no clock: all times are
 * health time.
 *
 * A process is gone as a whole, so a time for each process is enough, however many instances it leaves.
 */
export class Orphans {
  readonly #parts: OrphanParts
  /** Since when a process is known to be gone. */
  readonly #goneSinceMs = new Map<string, number>()
  /** The rest of the pass that has begun. */
  #pass: Iterator<Instance> | undefined
  #nextPassMs = 0
  /** Since the start: orphans that this server has removed. Whoever removes them counts. */
  readonly counts = { removed: 0 }

  constructor(parts: OrphanParts) {
    this.#parts = parts
  }

  /** Whether a pass has begun and is not finished. */
  get hasMore(): boolean {
    return this.#pass !== undefined
  }

  /** How many instances are left over now. */
  get size(): number {
    let size = 0
    for (const process of this.#goneSinceMs.keys())
      size += this.#parts.owners.of(process)?.published.size ?? 0
    return size
  }

  /**
   * Looks which processes are gone. `isCertain`: this server knows who is alive, and clients could register. Otherwise the
   * time of all begins again.
   */
  look(nowMs: number, isCertain: boolean): void {
    const { owners, isAlive } = this.#parts
    const gone = new Set<string>()
    for (const { process } of owners.all()) if (!isAlive(process)) gone.add(process)
    for (const process of this.#goneSinceMs.keys()) if (!gone.has(process)) this.#goneSinceMs.delete(process)
    for (const process of gone)
      if (!isCertain || !this.#goneSinceMs.has(process)) this.#goneSinceMs.set(process, nowMs)
  }

  /** This server was without news: it may have missed who came back. The time of all begins again. */
  missedNews(nowMs: number): void {
    this.look(nowMs, false)
  }

  /** How long an instance is still kept; undefined: it is no orphan. */
  leftMs({ record }: Instance, nowMs: number): number | undefined {
    const process = connectionOf(record.publisher)?.process
    const owned = process === undefined ? undefined : this.#parts.owners.of(process)
    const dueMs = owned && this.#dueMs(owned)
    return dueMs === undefined ? undefined : Math.max(0, dueMs - nowMs)
  }

  /**
   * Looks at most at `most` orphans whose time is over, and returns those that `judged` accepts. `hasMore` says whether the
   * pass goes on.
   */
  take(nowMs: number, most: number, judged: (instance: Instance) => boolean): readonly Instance[] {
    if (this.#pass === undefined && nowMs < this.#nextPassMs) return []
    this.#pass ??= this.#due(nowMs)
    const found: Instance[] = []
    for (let looked = 0; looked < most; looked++) {
      const { value: instance, done } = this.#pass.next() as IteratorResult<Instance, undefined>
      if (done === true) {
        this.#pass = undefined
        return found
      }
      this.#nextPassMs = nowMs + PASS_MS
      // Since the pass began, its server may have come back.
      if (this.leftMs(instance, nowMs) === 0 && judged(instance)) found.push(instance)
    }
    return found
  }

  *#due(nowMs: number): Generator<Instance, undefined> {
    for (const owned of this.#parts.owners.all())
      if ((this.#dueMs(owned) ?? Infinity) <= nowMs) yield* owned.published
    return undefined
  }

  /** A registration that comes after all shows that the process was not gone: its time begins again. */
  #dueMs({ process, registeredMs }: OwnedInstances): number | undefined {
    const sinceMs = this.#goneSinceMs.get(process)
    const { keptMs = ORPHAN_MS } = this.#parts
    return sinceMs === undefined ? undefined : Math.max(sinceMs, registeredMs) + keptMs
  }
}

/** The change that removes an orphan. */
export function orphanRemoved(
  { entry, record }: Instance,
  { stamp }: { readonly stamp: number },
): InstanceRemoved {
  const { address, serial } = record
  const about = { serviceKey: entry.service.key, address, serial }
  return { kind: 'instance-removed', ...about, reason: 'expired', stamp }
}
