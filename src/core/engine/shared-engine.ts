import { settle, type WaitingCommand, type DecidedUnit, gatherUnits } from './units.ts'
import type { Change } from '../decisions/changes.ts'
import { type Command, synced, unchanged } from '../decisions/decision.ts'
import { type Engine, LEAST_COMMIT_MS, type SharedStore, type UnitResult } from './ports.ts'
import type { Follower } from './follower.ts'
import type { InstanceRecord } from '../naming/state/instance.ts'
import type { Now } from '../decisions/stamps.ts'
import { PatientCallers, type PatientLoop } from './patient-callers.ts'
import { changedThing, readText } from '../decisions/reads.ts'
import { Refusal } from '../refusal.ts'
import type { View } from '../decisions/view.ts'

const MOST_COMMANDS = 512
/** The most bytes that a command over many things may change together: a store takes twice as much. */
const MOST_BYTES = 512 * 1024
/** A command is answered this long after it was given, whatever the store does; later if it has large contents. */
const ANSWER_MS = 1_700
/** The store answers in time for the youngest command of a commit: an older one waits this much longer. */
const GRACE_MS = 50
/** The pause before an unwritten commit is tried again. */
const AGAIN_MS = 20

/** Dependencies of the engine: core has no clock, no timers and no log of its own. */
export interface SharedEngineOptions {
  /** Applies the feed of the store; decisions read its state. */
  readonly follower: Follower
  readonly store: Pick<SharedStore, 'commit' | 'mostChanges' | 'beforehandMs'>
  readonly clock: () => Now
  readonly loop: PatientLoop
  /** Called if a write fails that no caller waits for. */
  readonly report: (error: unknown, what: string) => void
  /** How long a command may take until it is answered. */
  readonly answerMs?: number
  /** The most bytes of one changed thing. The larger, the fewer things one command may change. */
  readonly mostBytesOfOne?: number
}

/**
 * The engine of a server that shares its store with others. It decides on this server's knowledge, and the store writes the
 * decision only if that still holds: otherwise it is decided again. Only the feed of the store changes the state, with the
 * server's own changes too. A 'no' is confirmed by the store like a 'yes': this server may know less than another.
 */
export class SharedEngine implements Engine {
  /** A command that removes metadata changes each instance twice: registered and remembered metadata. */
  readonly mostAtOnce: number
  readonly #options: SharedEngineOptions
  readonly #callers: PatientCallers
  #waiting: WaitingCommand[] = []
  /** The commands of the commit that is underway. */
  #sent: WaitingCommand[] = []
  /** The commands of units with large contents. They are committed apart, so that nobody else waits for them. */
  readonly #apart = new Set<WaitingCommand>()
  #isWatchingTime = false
  readonly #counts = { conflicts: 0 }
  #behind = 0
  #committing = false
  #pumpDeferred = false
  #closing = false
  #whenIdle: (() => void) | undefined

  constructor(options: SharedEngineOptions) {
    this.#options = options
    const { store, mostBytesOfOne = 1 } = options
    const most = Math.min(Math.floor(store.mostChanges / 2), Math.floor(MOST_BYTES / mostBytesOfOne))
    this.mostAtOnce = Math.max(1, most)
    this.#callers = new PatientCallers(options.loop)
  }

  get backlog(): { readonly behind: number; readonly waiting: number } {
    return { behind: this.#behind, waiting: this.#waiting.length }
  }

  /** Since the start: decisions that were made again, because something had changed meanwhile. */
  get counts(): Readonly<{ conflicts: number }> {
    return this.#counts
  }

  execute<T>(command: Command<T>): Promise<T> {
    if (this.#closing)
      return Promise.reject(new Refusal('stopping', 'The server is stopping: try again in a moment.'))
    return this.#enqueue(command, this.#options.loop.now())
  }

  /** Each change is made unless its thing has changed when it is decided again. */
  applyBehind(changes: readonly Change[]): void {
    for (const change of changes) {
      this.#behind++
      void this.#enqueue(ifUntouched(change, this.#options.follower.state))
        .catch((error: unknown) => this.#options.report(error, `not written: ${change.kind}`))
        .finally(() => this.#behind--)
    }
  }

  /** Nothing gathers here. */
  tick(): void {}

  async close(): Promise<void> {
    this.#closing = true
    if (this.#isIdle()) return
    await new Promise<void>((resolve) => (this.#whenIdle = resolve))
  }

  #enqueue<T>(command: Command<T>, sinceMs?: number): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ command, resolve: (outcome) => resolve(outcome as T), reject, sinceMs })
      this.#watchTime()
      this.#deferPump()
    })
  }

  #deferPump(): void {
    if (this.#committing) return
    if (this.#pumpDeferred) return this.#callers.arrived(this.#waiting.length)
    this.#pumpDeferred = true
    this.#callers.gather(this.#waiting.length, this.#pumpGathered)
  }

  #pump(): void {
    const { follower, store, clock } = this.#options
    this.#refuseLate(LEAST_COMMIT_MS)
    const waiting = this.#waiting.splice(0, MOST_COMMANDS)
    const { units, later } = gatherUnits(follower.state, waiting, { clock, mostChanges: store.mostChanges })
    this.#waiting.unshift(...later)
    const toStore = units.filter(({ reads, changes }) => reads.length > 0 || changes.length > 0)
    for (const unit of units) if (!toStore.includes(unit)) this.#settle(unit)
    const open = toStore.filter((unit) => !this.#committedApart(unit))
    if (open.length === 0) return this.#afterCommit()
    this.#committing = true
    this.#callers.sent()
    this.#sent = open.flatMap(commandsOf)
    // The youngest command decides: nobody is refused because somebody else has waited for long.
    const withinMs = Math.max(...this.#sent.map((one) => this.#leftMs(one)))
    store.commit(open, follower.revision, withinMs).then(
      (results) => this.#finish(open, results),
      (error: unknown) => this.#abandon(open, error),
    )
  }

  /** Commits a unit beside others if the store writes large contents before it; false: it does not. */
  #committedApart(unit: DecidedUnit): boolean {
    const { store, follower } = this.#options
    const moreMs = store.beforehandMs?.(unit) ?? 0
    if (moreMs === 0) return false
    const commands = commandsOf(unit)
    for (const command of commands) {
      command.moreMs = moreMs
      this.#apart.add(command)
    }
    const withinMs = Math.max(...commands.map((one) => this.#leftMs(one)))
    const ended = (isTrouble: boolean): void => {
      for (const command of commands) this.#apart.delete(command)
      this.#pumpWaiting(isTrouble)
    }
    store.commit([unit], follower.revision, withinMs).then(
      ([result = { kind: 'conflict' }]) => {
        if (result.kind === 'held') this.#settle(unit)
        else this.#waiting.unshift(...this.#again(unit, result))
        ended(result.kind === 'unwritten')
      },
      (error: unknown) => {
        for (const { reject } of commands) reject(error)
        ended(false)
      },
    )
    this.#watchTime()
    return true
  }

  #isIdle(): boolean {
    return !this.#committing && this.#waiting.length === 0 && this.#apart.size === 0
  }

  #finish(units: readonly DecidedUnit[], results: readonly UnitResult[]): void {
    const again: WaitingCommand[] = []
    for (const [index, unit] of units.entries()) {
      const result = results[index] ?? { kind: 'conflict' }
      if (result.kind === 'held') this.#settle(unit)
      else again.push(...this.#again(unit, result))
    }
    this.#callers.answered(callersOf(units), this.#waiting.length)
    this.#waiting.unshift(...again)
    this.#afterCommit(results.some(({ kind }) => kind === 'unwritten'))
  }

  /** The commands of a unit that was not written which are decided again. */
  #again(unit: DecidedUnit, result: Exclude<UnitResult, { kind: 'held' }>): WaitingCommand[] {
    const commands = commandsOf(unit).filter(({ isGivenUp }) => isGivenUp !== true)
    if (result.kind === 'conflict') {
      this.#counts.conflicts++
      return commands
    }
    if (result.kind === 'unwritten') return this.#stillInTime(commands, result.error)
    if (result.kind === 'failed' && commands.length > 1) {
      for (const command of commands) command.isAlone = true
      return commands
    }
    for (const { reject } of commands) reject(result.error)
    return []
  }

  /** The commands with time left for another commit; rejects the others. Sweeps find again what nobody waits for. */
  #stillInTime(commands: readonly WaitingCommand[], error: Error): WaitingCommand[] {
    const isInTime = (one: WaitingCommand): boolean =>
      one.sinceMs !== undefined && this.#leftMs(one) >= LEAST_COMMIT_MS
    for (const command of commands) if (!isInTime(command)) command.reject(error)
    return commands.filter(isInTime)
  }

  /** The store has failed altogether: nobody gets an uncertain answer. */
  #abandon(units: readonly DecidedUnit[], error: unknown): void {
    for (const { reject } of units.flatMap(commandsOf)) reject(error)
    this.#afterCommit()
  }

  /** The time until a command must be answered. */
  #leftMs({ sinceMs, moreMs = 0 }: WaitingCommand): number {
    const { loop, answerMs = ANSWER_MS } = this.#options
    const nowMs = loop.now()
    return (sinceMs ?? nowMs) + answerMs + moreMs - nowMs
  }

  /** Refuses waiting commands with less time left than this: they can no longer be answered in time. */
  #refuseLate(leastMs: number): void {
    const isLate = (waiting: WaitingCommand): boolean => this.#leftMs(waiting) < leastMs
    const late = this.#waiting.filter(isLate)
    if (late.length > 0) this.#waiting = this.#waiting.filter((waiting) => !isLate(waiting))
    for (const { reject } of late)
      reject(unavailable('The store is too slow: the change was not made, try again in a moment.'))
  }

  /** Sees to it that each command is answered in its own time, also if the commit that it is in or waits for takes longer. */
  #watchTime(): void {
    const { after } = this.#options.loop
    if (after === undefined || this.#isWatchingTime) return
    const waitedFor = (commands: readonly WaitingCommand[], graceMs: number): number[] =>
      commands.filter(isWaitedFor).map((one) => this.#leftMs(one) + graceMs)
    const dueMs = [...waitedFor(this.#waiting, 0), ...waitedFor([...this.#sent, ...this.#apart], GRACE_MS)]
    if (dueMs.length === 0) return
    const firstMs = dueMs.reduce((first, ms) => Math.min(first, ms))
    this.#isWatchingTime = true
    after(Math.max(1, Math.ceil(firstMs)), () => {
      this.#isWatchingTime = false
      this.#refuseLate(0)
      this.#giveUpLate()
      this.#watchTime()
    })
  }

  /** A commit is underway that takes longer than some of its commands may. */
  #giveUpLate(): void {
    for (const one of [...this.#sent, ...this.#apart])
      if (isWaitedFor(one) && this.#leftMs(one) + GRACE_MS <= 0) {
        one.isGivenUp = true
        one.reject(unavailable('The store is too slow: whether the change was made is not known.'))
      }
  }

  #settle({ commands, local }: DecidedUnit): void {
    this.#options.follower.appliedAhead(local)
    for (const command of commands) settle(command)
  }

  /** `isTrouble`: the store could not be reached. */
  #afterCommit(isTrouble = false): void {
    this.#committing = false
    this.#sent = []
    this.#pumpWaiting(isTrouble)
  }

  /** Decides the waiting commands soon (after a pause if there is trouble), or after the commit underway. */
  #pumpWaiting(isTrouble: boolean): void {
    if (this.#committing) return
    const { after } = this.#options.loop
    if (this.#waiting.length === 0) {
      if (this.#closing && this.#isIdle()) this.#whenIdle?.()
    } else if (isTrouble && after !== undefined && !this.#pumpDeferred) {
      this.#pumpDeferred = true
      after(AGAIN_MS, this.#pumpGathered)
    } else this.#deferPump()
  }

  readonly #pumpGathered = (): void => {
    this.#pumpDeferred = false
    this.#pump()
  }
}

function commandsOf({ commands }: DecidedUnit): WaitingCommand[] {
  return commands.map(({ waiting }) => waiting)
}

function callersOf(units: readonly DecidedUnit[]): number {
  return units.reduce((sum, { commands }) => sum + commands.length, 0)
}

/** A change that was found on the state as it was then: it is not made if the instance has been changed since. */
function ifUntouched(change: Change, state: View): Command<void> {
  const before = instanceOf(change, state)
  return {
    subject: readText(changedThing(change)),
    decide: (view) =>
      instanceOf(change, view) === before ? synced([change], undefined) : unchanged(undefined),
  }
}

/** The record of the instance that a change is about. */
function instanceOf(change: Change, view: View): InstanceRecord | undefined {
  const thing = changedThing(change)
  return thing.of === 'instance' ? view.instance(thing.serviceKey, thing.address)?.record : undefined
}

function unavailable(text: string): Refusal {
  return new Refusal('store-unavailable', text)
}

/** Whether somebody still waits for its answer. */
function isWaitedFor({ sinceMs, isGivenUp = false }: WaitingCommand): boolean {
  return sinceMs !== undefined && !isGivenUp
}
