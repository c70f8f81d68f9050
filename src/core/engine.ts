import { type Batch, gatherBatch, hasChanges, settle, type Waiting } from './batch.ts'
import { BusySubjects } from './busy-subjects.ts'
import type { Change } from './changes.ts'
import type { Command, Decision } from './decision.ts'
import type { Follower } from './follower.ts'
import type { CommitResult, Now, Store } from './ports.ts'
import { Refusal } from './refusal.ts'
import { ReturningCallers } from './returning-callers.ts'
import type { Loop } from './sliced-work.ts'
import { WriteBehind } from './write-behind.ts'

const MOST_COMMANDS = 512
const MOST_BEHIND = 1_000
/** How many ticks more than one commit's worth of records gathers for: what changes again meanwhile is written once. */
const GATHER_TICKS = 4
/** How many ticks pass before records that could not be written are tried again. */
const RETRY_TICKS = 10

/** What the engine needs from outside: core has no clock, no timers and no log of its own. */
export interface EngineOptions {
  /** Applies what is decided; decisions read its state. */
  readonly follower: Follower
  readonly store: Pick<Store, 'commit'>
  readonly clock: () => Now
  /** Its next turn comes once what has arrived by now is read, so that a batch gathers it. */
  readonly loop: Loop
  /** Told when something could not be written although nobody waits for it. */
  readonly report: (error: unknown, what: string) => void
  /** How many records that are behind one commit takes; 1,000 unless told. */
  readonly mostBehind?: number
}

/**
 * Carries commands out: decide, commit, apply, publish, answer. Durable commands are gathered into one
 * batch at a time, so that one fsync serves many callers; the next batch is decided after that one is
 * applied. Changes of ephemeral instances are applied at once and written behind.
 */
export class Engine {
  readonly #options: EngineOptions
  readonly #behind = new WriteBehind()
  readonly #callers: ReturningCallers
  readonly #mostBehind: number
  #waiting: Waiting[] = []
  readonly #busy = new BusySubjects()
  /** The subjects of changes that the store failed to write: until it writes again, a crash may bring them back. */
  readonly #doubtful = new Set<string>()
  /** Those in doubt whether anything must change; one failure more is their answer. */
  readonly #askedTwice = new WeakSet<Waiting>()
  #committing = false
  #pumpDeferred = false
  #flushing = false
  #ticksToRetry = 0
  #gatheringTicks = 0
  #closing = false
  #whenIdle: (() => void) | undefined

  constructor(options: EngineOptions) {
    this.#options = options
    this.#callers = new ReturningCallers(options.loop)
    this.#mostBehind = options.mostBehind ?? MOST_BEHIND
  }

  /** How many records are known but not yet on disk, and how many commands wait for the next batch. */
  get backlog(): { readonly behind: number; readonly waiting: number } {
    return { behind: this.#behind.size, waiting: this.#waiting.length }
  }

  /**
   * Carries a command out and answers its outcome: at once where nothing must reach the disk first, else
   * when it has. Throws or rejects with Refusal.
   */
  execute<T>(command: Command<T>): T | Promise<T> {
    if (this.#closing) throw new Refusal('stopping', 'The server is stopping: try again in a moment.')
    const { state } = this.#options.follower
    if (!this.#busy.has(command.subject) && command.surelySyncs?.(state) !== true) {
      const decision = command.decide(state, this.#options.clock())
      const changesNothing = decision.changes.length === 0
      if (changesNothing && !this.#doubtful.has(command.subject)) return decision.outcome
      if (!changesNothing && decision.durability !== 'synced') return this.#applyAtOnce(decision)
    }
    return this.#enqueue(command)
  }

  /** Applies changes that nobody waits for: what silence, probes and cleaning have brought about. */
  applyBehind(changes: readonly Change[]): void {
    if (changes.length > 0) this.#applyAtOnce({ changes, durability: 'behind', outcome: undefined })
  }

  /** To be called about ten times a second: writes what is behind, or lets more of it gather. */
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

  /** Takes no more commands, and resolves when those taken are answered and nothing is behind. */
  async close(): Promise<void> {
    this.#closing = true
    this.#flushing = true
    const idle = new Promise<void>((resolve) => (this.#whenIdle = resolve))
    this.#deferPump()
    await idle
  }

  /** While a command waits, those that come later for its subject wait as well: they are decided in their order. */
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

  #applyAtOnce<T>(decision: Decision<T>): T {
    const { follower } = this.#options
    if (decision.durability === 'behind')
      for (const change of decision.changes) this.#behind.note(change, follower.state)
    follower.appliedAhead(decision.changes)
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
    const waiting = this.#waiting.splice(0, MOST_COMMANDS)
    const ticked = this.#flushing
    const takeBehind = (along: readonly Change[]): Change[] => this.#takeBehind(along, clock().stamp)
    const batch = gatherBatch(follower.state, { waiting, takeBehind }, clock)
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

  /** Whether the store must be asked although nothing changes: that nothing does may itself be in doubt. */
  #mustConfirm(batch: Batch, ticked: boolean): boolean {
    if (this.#doubtful.size === 0) return false
    return ticked || batch.decided.some(({ waiting }) => this.#doubtful.has(waiting.command.subject))
  }

  #finish(batch: Batch, result: CommitResult): void {
    this.#doubtful.clear()
    if (result.kind === 'failed') return this.#retryWithout(batch, result)
    const { follower } = this.#options
    // Those that were behind are applied already.
    const changes = batch.groups.slice(batch.behind.length).flat()
    follower.applied({ revision: result.revision, changes })
    for (const group of batch.groups) for (const change of group) follower.state.stored.written(change)
    batch.decided.forEach(settle)
    this.#callers.answered(batch.decided.length, this.#waiting.length)
    this.#endCommit()
  }

  /** One group cannot be written: its caller hears so, the others are decided again. */
  #retryWithout(batch: Batch, failed: CommitResult & { kind: 'failed' }): void {
    const owner = batch.owners[failed.group]
    const bad = batch.groups[failed.group]?.[0]
    const rest = batch.behind.filter((change) => owner !== undefined || change !== bad)
    this.#behind.putBack(rest)
    if (owner === undefined) this.#options.report(failed.error, `a record could not be written: ${bad?.kind}`)
    else owner.reject(failed.error)
    const others = batch.decided.map((verdict) => verdict.waiting).filter((waiting) => waiting !== owner)
    this.#waiting.unshift(...others)
    this.#flushing ||= rest.length > 0
    this.#endCommit()
  }

  /**
   * The store as a whole cannot write: nothing of the batch holds, but until the store writes again a crash may
   * bring it back. Who changed nothing is decided again, unless just that is in doubt.
   */
  #abandon(batch: Batch, error: unknown): void {
    const { behind } = batch
    this.#behind.putBack(behind)
    this.#flushing = false
    this.#ticksToRetry = RETRY_TICKS
    if (behind.length > 0) this.#options.report(error, `${behind.length} records wait to be written`)
    const readers: Waiting[] = []
    for (const verdict of batch.decided)
      if (hasChanges(verdict)) this.#doubtful.add(verdict.waiting.command.subject)
    for (const verdict of batch.decided) {
      const { waiting } = verdict
      const isDoubtful = this.#doubtful.has(waiting.command.subject)
      if (hasChanges(verdict) || (isDoubtful && this.#askedTwice.has(waiting))) waiting.reject(error)
      else readers.push(waiting)
      if (isDoubtful) this.#askedTwice.add(waiting)
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
