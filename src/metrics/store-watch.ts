import type {
  ChangeGroup,
  CommitResult,
  KeptRecords,
  SharedStore,
  SoleEngineStore,
  UnitResult,
} from '../core/engine/ports.ts'
import { isOfStore } from '../core/refusal.ts'
import { Histogram, SECONDS, SIZES } from './histogram.ts'
import { counterBy, gauge, type Metric } from './metric.ts'
import type { WatchLog } from './watch-log.ts'

/** How often the watch tries to write while the store cannot. */
const TRY_EVERY_MS = 5_000
const TRY_NAME = 'write-check'
/** As large as an ordinary change, so that a disk with a few free bytes does not pass the check. */
const TRY_VALUE = 'x'.repeat(64 * 1024)

/** The parts that the watch needs. */
export interface StoreWatchOptions {
  readonly store: Pick<KeptRecords, 'remember'>
  readonly log: WatchLog
  readonly monotonicMs: () => number
  /** Called when an outage begins because the store is full: its room is less than was measured last. */
  readonly isFull?: () => void
}

/**
 * The outcome of a commit: it was written; all of it was confirmed and nothing written; a part was not
 * written; or it failed.
 */
type CommitEnd = 'committed' | 'confirmed' | 'refused' | Error

/** The part of its store that the engine of several servers uses. */
type CommittingStore = Pick<SharedStore, 'commit' | 'mostChanges' | 'beforehandMs'>

/** A time in which the store could not write. */
interface Outage {
  readonly sinceMs: number
  readonly reason: string
  commits: number
  changes: number
  triedMs: number
}

/**
 * Sits between the engine and the store: it measures commits and knows whether the store can write. It logs an outage
 * once when it begins and once when it ends. Meanwhile it tries to write every few seconds, because a server that is
 * not ready may get no writes.
 */
export class StoreWatch {
  readonly #options: StoreWatchOptions
  readonly #latency = new Histogram(SECONDS)
  readonly #batch = new Histogram(SIZES)
  readonly #outcomes = { committed: 0, refused: 0, failed: 0 }
  #outage: Outage | undefined
  #trying = false

  constructor(options: StoreWatchOptions) {
    this.#options = options
  }

  /** A store of one server, whose commits are measured. */
  sole(store: SoleEngineStore): SoleEngineStore {
    const outcomeOf = ({ kind }: CommitResult): CommitEnd => (kind === 'committed' ? kind : 'refused')
    return {
      commit: (groups: readonly ChangeGroup[]) =>
        this.#measured(groups.length, () => store.commit(groups), outcomeOf),
      mayHave: (serial) => store.mayHave(serial),
      surelyHas: (serial) => store.surelyHas(serial),
    }
  }

  /** A store of several servers, whose commits are measured. */
  shared(store: CommittingStore): CommittingStore {
    return {
      mostChanges: store.mostChanges,
      beforehandMs: (unit) => store.beforehandMs?.(unit) ?? 0,
      commit: (units, ...at) => {
        const writes = units.some(({ changes }) => changes.length > 0)
        const outcomeOf = (results: readonly UnitResult[]): CommitEnd => sharedOutcome(results, writes)
        return this.#measured(units.length, () => store.commit(units, ...at), outcomeOf)
      },
    }
  }

  async #measured<T>(
    size: number,
    commit: () => Promise<T>,
    outcomeOf: (result: T) => CommitEnd,
  ): Promise<T> {
    const { monotonicMs } = this.#options
    const startedMs = monotonicMs()
    this.#batch.observe(size)
    try {
      const result = await commit()
      this.#note(outcomeOf(result), size)
      return result
    } catch (error) {
      this.#note(error, size)
      throw error
    } finally {
      this.#latency.observe((monotonicMs() - startedMs) / 1_000)
    }
  }

  #note(outcome: unknown, size: number): void {
    if (outcome === 'committed') this.#recovered()
    if (outcome === 'committed' || outcome === 'confirmed') this.#outcomes.committed++
    else if (outcome === 'refused') this.#outcomes.refused++
    else {
      this.#outcomes.failed++
      this.noteFailure(outcome, size)
    }
  }

  /** Why the store cannot write, and for how long (ms); undefined while it can. */
  outage(): { readonly reason: string; readonly forMs: number } | undefined {
    if (this.#outage === undefined) return undefined
    const { reason, sinceMs } = this.#outage
    return { reason, forMs: Math.round(this.#options.monotonicMs() - sinceMs) }
  }

  /** Records a failed write. Returns false if the error does not concern the store as a whole. */
  noteFailure(error: unknown, changes = 0): boolean {
    if (!isOfStore(error)) return false
    const nowMs = this.#options.monotonicMs()
    if (this.#outage === undefined) {
      this.#outage = { sinceMs: nowMs, reason: error.message, commits: 0, changes: 0, triedMs: nowMs }
      this.#options.log.error(
        { err: error },
        'the store cannot write: changes are refused and reads still work; err.message says what to do',
      )
      if (error.code === 'store-full') this.#options.isFull?.()
    }
    this.#outage.commits++
    this.#outage.changes += changes
    return true
  }

  /** Call it about once a second. During an outage it tries to write. */
  async tick(): Promise<void> {
    const { store, monotonicMs } = this.#options
    const outage = this.#outage
    if (outage === undefined || this.#trying || monotonicMs() - outage.triedMs < TRY_EVERY_MS) return
    outage.triedMs = monotonicMs()
    this.#trying = true
    try {
      await store.remember(TRY_NAME, TRY_VALUE)
      await store.remember(TRY_NAME, '')
      this.#recovered()
    } catch {
      // The outage lasts; it is in the log already.
    } finally {
      this.#trying = false
    }
  }

  metrics(): Metric[] {
    return [
      {
        name: 'waypost_store_commit_duration_seconds',
        help: 'Duration of a commit, from sending it until it is on disk or has failed.',
        type: 'histogram',
        read: () => this.#latency,
      },
      {
        name: 'waypost_store_batch_changes',
        help: 'Changes per commit: those of callers, and records that are written behind.',
        type: 'histogram',
        read: () => this.#batch,
      },
      counterBy(
        'waypost_store_commits_total',
        'Commits by outcome; refused: a part was not written and is decided again, failed: the store cannot write.',
        { label: 'outcome', read: () => Object.entries(this.#outcomes) },
      ),
      gauge(
        'waypost_store_available',
        'Whether the store can write: 0 from a failed commit until a write succeeds.',
        () => (this.#outage === undefined ? 1 : 0),
      ),
    ]
  }

  #recovered(): void {
    const outage = this.#outage
    if (outage === undefined) return
    this.#outage = undefined
    const { commits, changes, sinceMs } = outage
    const outageMs = Math.round(this.#options.monotonicMs() - sinceMs)
    this.#options.log.info(
      { outageMs, failedCommits: commits, failedChanges: changes },
      'the store writes again',
    )
  }
}

function sharedOutcome(results: readonly UnitResult[], writes: boolean): CommitEnd {
  for (const result of results)
    if (result.kind === 'refused' || result.kind === 'unwritten') return result.error
  if (!results.every(({ kind }) => kind === 'held')) return 'refused'
  return writes ? 'committed' : 'confirmed'
}
