import {
  type Batch,
  batchSize,
  type DecidedCommand,
  gatherBatch,
  hasChanges,
  settle,
  type WaitingCommand,
} from './units.ts'
import type { Change } from '../decisions/changes.ts'
import type { Command, Decision } from '../decisions/decision.ts'
import type { Engine, CommitResult, SoleEngineStore } from './ports.ts'
import type { Follower } from './follower.ts'
import type { Now } from '../decisions/stamps.ts'
import { Refusal } from '../refusal.ts'
import { ReturningCallers } from './returning-callers.ts'
import type { Loop } from '../work/sliced-work.ts'
import { WriteBehind } from './write-behind.ts'

const MOST_COMMANDS = 512
const MOST_BEHIND = 1_000
/** More records than one commit takes gather for this many ticks: a record that changes again is written once. */
const GATHER_TICKS = 4
/** Ticks before a failed write of records is retried. */
const RETRY_TICKS = 10

/** Dependencies of the engine: core has no clock, no timers and no log of its own. */
export interface SoleEngineOptions {
  /** Applies the changes; decisions read its state. */
  readonly follower: Follower
  readonly store: SoleEngineStore
  readonly clock: () => Now
  /** `soon` runs after the requests already received are parsed, so that they join the batch. */
  readonly loop: Loop
  /** Called if a write fails that no caller waits for. */
  readonly report: (error: unknown, what: string) => void
  /** Maximum number of records written behind in one commit. Default: 1,000. */
  readonly mostBehind?: number
}

/**
 * The engine of a server that is alone on its store. Durable commands are gathered into one batch at a time, so
 * that one fsync serves many callers. The next batch is decided after the last one is applied. Changes of ephemeral
 * instances are applied at once and written behind.
 */
export class SoleEngine implements Engine {
  readonly mostAtOnce = 500
  readonly #options: SoleEngineOptions
  readonly #behind: WriteBehind
  readonly #callers: ReturningCallers
  readonly #mostBehind: number
  #waiting: WaitingCommand[] = []
  readonly #busy = new BusySubjects()
  /** Subjects of changes that the store failed to write. Until its next successful commit, a crash may restore them. */
  readonly #doubtful = new Set<string>()
  #committing = false
  #pumpDeferred = false
  #flushing = false
  #ticksToRetry = 0
  #gatheringTicks = 0
  #closing = false
  #whenIdle: (() => void) | undefined

  constructor(options: SoleEngineOptions) {
    this.#options = options
    this.#behind = new WriteBehind(options.store)
    this.#callers = new ReturningCallers(options.loop)
    this.#mostBehind = options.mostBehind ?? MOST_BEHIND
  }

  /** `behind`: records applied but not yet on disk. `waiting`: commands that wait for the next batch. */
  get backlog(): { readonly behind: number; readonly waiting: number } {
    return { behind: this.#behind.size, waiting: this.#waiting.length }
  }

  /**
   * Executes a command and returns its outcome: at once, or as a promise if something must reach the disk first. Throws
   * or rejects with Refusal.
   */
  execute<T>(command: Command<T>): T | Promise<T> {
    if (this.#closing) throw new Refusal('stopping', 'The server is stopping: try again in a moment.')
    const { state } = this.#options.follower
    if (!this.#busy.has(command.subject) && command.surelySyncs?.(state) !== true) {
      const decision = command.decide(state, this.#options.clock())
      const changesNothing = decision.changes.length === 0
      if (changesNothing && !this.#doubtful.has(command.subject)) return decision.outcome
      if (!changesNothing && !this.#mustSync(decision)) return this.#applyAtOnce(decision)
    }
    return this.#enqueue(command)
  }

  /** Applies changes that no caller waits for: of silence, probes and cleaning. */
  applyBehind(changes: readonly Change[]): void {
    if (changes.length > 0) this.#applyAtOnce({ changes, durability: 'behind', outcome: undefined })
  }

  /** Call this about ten times a second. It writes the records that are behind, or lets more records gather. */
  tick(): void {
    if (this.#ticksToRetry > 0) this.#ticksToRetry--
    else if (!this.#gathers() && (this.#behind.size > 0 || this.#doubtful.size > 0)) {
      this.#flushing = true
      this.#deferPump()
    }
  }

  #gathers(): boolean {
    const { isPassing, size } = this.#behind
    const isWorthIt = size > this.#mostBehind && !isPassing && !this.#flushing && this.#doubtful.size === 0
    this.#gatheringTicks = isWorthIt ? (this.#gatheringTicks + 1) % GATHER_TICKS : 0
    return this.#gatheringTicks > 0
  }

  /** Accepts no more commands. Resolves when all accepted ones are answered and no record is behind. */
  async close(): Promise<void> {
    this.#closing = true
    this.#flushing = true
    const idle = new Promise<void>((resolve) => (this.#whenIdle = resolve))
    this.#deferPump()
    await idle
  }

  /** While a command waits, later commands of its subject wait too: they are decided in their order. */
  #enqueue<T>(command: Command<T>): Promise<T> {
    const { subject } = command
    this.#busy.enter(subject)
    this.#deferPump()
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        command,
        resolve: (outcome) => {
          this.#busy.leave(subject)
          resolve(outcome as T)
        },
        reject: (error) => {
          this.#busy.leave(subject)
          reject(error)
        },
      })
    })
  }

  /** Whether the caller must wait for the disk. Only for a removal it depends on the rows on disk. */
  #mustSync({ durability, changes }: Decision<unknown>): boolean {
    if (durability !== 'synced if stored') return durability === 'synced'
    const { store } = this.#options
    return changes.some(
      (change) =>
        (change.kind === 'instance-removed' && store.mayHave(change.serial)) ||
        // A claim takes the place of the instance that leaves.
        (change.kind === 'instance-saved' && !change.beat && store.mayHave(change.record.serial)),
    )
  }

  #applyAtOnce<T>(decision: Decision<T>): T {
    const { follower } = this.#options
    const [changes = []] = follower.serials.ofDecisions([decision.changes], follower.state)
    if (decision.durability !== 'local')
      for (const change of changes) this.#behind.note(change, follower.state)
    follower.appliedAhead(changes)
    return decision.outcome
  }

  #deferPump(): void {
    if (this.#committing || this.#pumpDeferred) return
    this.#pumpDeferred = true
    this.#callers.gather(() => this.#waiting.length, this.#pumpGathered)
  }

  readonly #pumpGathered = (): void => {
    this.#pumpDeferred = false
    this.#pump()
  }

  #pump(): void {
    const { follower, store, clock } = this.#options
    const waiting = this.#waiting.splice(0, batchSize(this.#waiting, MOST_COMMANDS))
    const ticked = this.#flushing
    const takeBehind = (along: readonly Change[]): Change[] => this.#takeBehind(along, clock().stamp)
    const batch = gatherBatch(follower, { waiting, takeBehind }, clock)
    if (!this.#behind.isPassing) this.#flushing = this.#closing
    if (batch.groups.length === 0 && !this.#mustConfirm(batch, ticked)) {
      batch.decided.forEach(settle)
      this.#afterBatch()
      return
    }
    this.#committing = true
    store.commit(batch.groups).then(
      (result) => this.#finish(batch, result),
      (error: unknown) => this.#abandon(batch, error),
    )
  }

  #takeBehind(along: readonly Change[], stamp: number): Change[] {
    const { state } = this.#options.follower
    const bound = this.#behind.takeBound(along, state, stamp)
    return this.#flushing ? [...bound, ...this.#behind.take(this.#mostBehind, state, stamp)] : bound
  }

  /** Whether an empty commit is needed: the answer "nothing changes" may rest on a doubtful change. */
  #mustConfirm(batch: Batch, ticked: boolean): boolean {
    if (this.#doubtful.size === 0) return false
    return ticked || batch.decided.some(({ waiting }) => this.#doubtful.has(waiting.command.subject))
  }

  #finish(batch: Batch, result: CommitResult): void {
    // Then nothing was written: doubtful records stay doubtful.
    if (result.kind === 'failed') return this.#retryWithout(batch, result)
    this.#doubtful.clear()
    const { follower } = this.#options
    // The records that were behind are applied already.
    const changes = batch.groups.slice(batch.behind.length).flat()
    follower.applied({ revision: result.revision, changes })
    batch.decided.forEach(settle)
    this.#callers.answered(batch.decided.length, this.#waiting.length)
    this.#endCommit()
  }

  /**
   * One group cannot be written: its caller gets the error, the other commands are decided again. A service that is
   * behind has no caller: the commands that need it on disk get the error.
   */
  #retryWithout(batch: Batch, failed: CommitResult & { kind: 'failed' }): void {
    const owner = batch.owners[failed.group]
    const bad = batch.groups[failed.group]?.[0]
    const rest = batch.behind.filter((change) => owner !== undefined || change !== bad)
    this.#behind.putBack(rest)
    if (owner === undefined) this.#options.report(failed.error, `a record could not be written: ${bad?.kind}`)
    const isRefused = (command: DecidedCommand): boolean =>
      owner === undefined ? dependsOn(command, bad) : command.waiting === owner
    for (const command of batch.decided) if (isRefused(command)) command.waiting.reject(failed.error)
    const others = batch.decided.filter((command) => !isRefused(command))
    this.#waiting.unshift(...others.map(({ waiting }) => waiting))
    this.#flushing ||= rest.length > 0
    this.#endCommit()
  }

  /**
   * The store as a whole cannot write: the changes of the batch are refused, but a crash may restore them until the
   * next successful commit. Commands without changes are decided again, once if their subject is doubtful.
   */
  #abandon(batch: Batch, error: unknown): void {
    const { behind } = batch
    this.#behind.putBack(behind)
    this.#flushing = false
    this.#ticksToRetry = RETRY_TICKS
    if (behind.length > 0) this.#options.report(error, `${behind.length} records wait to be written`)
    const readers: WaitingCommand[] = []
    for (const command of batch.decided)
      if (hasChanges(command)) this.#doubtful.add(command.waiting.command.subject)
    for (const command of batch.decided) {
      const { waiting } = command
      const isDoubtful = this.#doubtful.has(waiting.command.subject)
      if (hasChanges(command) || (isDoubtful && waiting.isAskedTwice === true)) waiting.reject(error)
      else readers.push(waiting)
      if (isDoubtful) waiting.isAskedTwice = true
    }
    this.#waiting.unshift(...readers)
    this.#endCommit()
  }

  #endCommit(): void {
    this.#committing = false
    this.#afterBatch()
  }

  #afterBatch(): void {
    if (this.#waiting.length > 0 || (this.#flushing && this.#behind.size > 0)) this.#deferPump()
    else if (this.#closing) this.#whenIdle?.()
  }
}

/** Whether a decision saves an instance of the service that `bad` saves. */
function dependsOn(command: DecidedCommand, bad: Change | undefined): boolean {
  if (!('decision' in command) || bad?.kind !== 'service-saved') return false
  const { serial } = bad.service
  return command.decision.changes.some((one) => one.kind === 'instance-saved' && one.serviceSerial === serial)
}

/** Subjects with commands that are not answered yet. Later commands of such a subject are decided after them. */
class BusySubjects {
  readonly #counts = new Map<string, number>()

  has(subject: string): boolean {
    return this.#counts.has(subject)
  }

  /** A command of this subject waits. */
  enter(subject: string): void {
    this.#counts.set(subject, (this.#counts.get(subject) ?? 0) + 1)
  }

  /** A command of this subject is answered. */
  leave(subject: string): void {
    const left = (this.#counts.get(subject) ?? 1) - 1
    if (left === 0) this.#counts.delete(subject)
    else this.#counts.set(subject, left)
  }
}
