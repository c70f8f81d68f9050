import type { WaitingCommand } from './batch.ts'
import type { Change } from './changes.ts'
import { type Command, synced, unchanged } from './decision.ts'
import type { Engine } from './engine.ts'
import type { Follower } from './follower.ts'
import type { InstanceRecord } from './naming/instance.ts'
import type { Now, SharedStore, UnitResult } from './ports.ts'
import { PatientCallers, type PatientLoop } from './patient-callers.ts'
import { readText } from './reads.ts'
import { Refusal } from './refusal.ts'
import { changedThing, type DecidedUnit, gatherUnits, type Verdict } from './units.ts'
import type { View } from './view.ts'

const MOST_COMMANDS = 512
/** A command is answered this long after it was given, whatever the store does. */
const ANSWER_MS = 1_750
/** What is left of that must be enough for a commit, even a slow one: a command that has waited longer is refused. */
const COMMIT_MS = 500

/** What the engine needs from outside: core has no clock, no timers and no log of its own. */
export interface SharedEngineOptions {
  /** Applies what the store feeds to it; decisions read its state. */
  readonly follower: Follower
  readonly store: Pick<SharedStore, 'commit' | 'mostChanges'>
  readonly clock: () => Now
  readonly loop: PatientLoop
  /** Called if a write fails that no caller waits for. */
  readonly report: (error: unknown, what: string) => void
  /** How long a command may take until it is answered. */
  readonly answerMs?: number
}

/**
 * The engine of a server that shares its store with others. It decides on what this server knows, and the store writes the
 * decision only if that is still so: otherwise it is decided again. Only the feed of the store changes the state, with the
 * server's own changes too. A 'no' is confirmed by the store like a 'yes': this server may know less than another.
 */
export class SharedEngine implements Engine {
  /** A command that removes metadata changes each instance twice: what is registered, and what is remembered. */
  readonly mostAtOnce: number
  readonly #options: SharedEngineOptions
  readonly #callers: PatientCallers
  #waiting: WaitingCommand[] = []
  /** Commands whose unit could not be written: each gets a unit of its own. */
  readonly #alone = new WeakSet<WaitingCommand>()
  /** When each command was given that somebody waits for, by the loop's clock. */
  readonly #sinceMs = new WeakMap<WaitingCommand, number>()
  readonly #counts = { conflicts: 0 }
  #behind = 0
  #committing = false
  #pumpDeferred = false
  #closing = false
  #whenIdle: (() => void) | undefined

  constructor(options: SharedEngineOptions) {
    this.#options = options
    this.mostAtOnce = Math.floor(options.store.mostChanges / 2)
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

  /** Each change is made if what it is about has not changed when it is decided again. */
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
    if (!this.#committing && this.#waiting.length === 0) return
    await new Promise<void>((resolve) => (this.#whenIdle = resolve))
  }

  #enqueue<T>(command: Command<T>, sinceMs?: number): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting = { command, resolve: (outcome: unknown) => resolve(outcome as T), reject }
      if (sinceMs !== undefined) this.#sinceMs.set(waiting, sinceMs)
      this.#waiting.push(waiting)
      this.#deferPump()
    })
  }

  #deferPump(): void {
    if (this.#committing) return
    if (this.#pumpDeferred) return this.#callers.arrived(this.#waiting.length)
    this.#pumpDeferred = true
    this.#callers.gather(this.#waiting.length, () => {
      this.#pumpDeferred = false
      this.#pump()
    })
  }

  #pump(): void {
    const { follower, store, clock } = this.#options
    const leftMs = this.#refuseLate()
    const waiting = this.#waiting.splice(0, MOST_COMMANDS)
    const isAlone = (one: WaitingCommand): boolean => this.#alone.has(one)
    const { units, later } = gatherUnits(follower.state, waiting, {
      clock,
      mostChanges: store.mostChanges,
      isAlone,
    })
    this.#waiting.unshift(...later)
    const open = units.filter(({ reads, changes }) => reads.length > 0 || changes.length > 0)
    for (const unit of units) if (!open.includes(unit)) this.#settle(unit)
    if (open.length === 0) return this.#afterCommit()
    this.#committing = true
    this.#callers.sent()
    store.commit(open, follower.revision, leftMs).then(
      (results) => this.#finish(open, results),
      (error: unknown) => this.#abandon(open, error),
    )
  }

  #finish(units: readonly DecidedUnit[], results: readonly UnitResult[]): void {
    const again: WaitingCommand[] = []
    let isRefused = false
    for (const [index, unit] of units.entries()) {
      const result = results[index] ?? { kind: 'conflict' }
      isRefused ||= result.kind === 'refused'
      if (result.kind === 'held') this.#settle(unit)
      else again.push(...this.#again(unit, result))
    }
    this.#callers.answered(callersOf(units), this.#waiting.length)
    this.#waiting.unshift(...again)
    if (isRefused) this.#refuseWaiting()
    this.#afterCommit()
  }

  /** The commands of a unit that was not written which are decided again. */
  #again({ verdicts }: DecidedUnit, result: Exclude<UnitResult, { kind: 'held' }>): WaitingCommand[] {
    const commands = verdicts.map(({ waiting }) => waiting)
    if (result.kind === 'conflict') {
      this.#counts.conflicts++
      return commands
    }
    const [only, ...others] = commands
    if (result.kind === 'refused') {
      for (const { reject } of commands) reject(result.error)
      return []
    }
    if (others.length > 0) {
      for (const command of commands) this.#alone.add(command)
      return commands
    }
    only?.reject(result.error)
    return []
  }

  /** The store cannot be reached: nobody is answered with what is not certain. */
  #abandon(units: readonly DecidedUnit[], error: unknown): void {
    for (const { verdicts } of units) for (const { waiting } of verdicts) waiting.reject(error)
    this.#refuseWaiting()
    this.#afterCommit()
  }

  /** The store was not reached: what waited behind that commit must not wait for the next one to fail. */
  #refuseWaiting(): void {
    for (const { reject } of this.#waiting.splice(0))
      reject(notSent('The store cannot be reached: the change was not made, try again in a moment.'))
  }

  /** Refuses what can no longer be answered in time, and returns the time that is left for all others. */
  #refuseLate(): number {
    const { loop, answerMs = ANSWER_MS } = this.#options
    const nowMs = loop.now()
    const leftMs = (waiting: WaitingCommand): number =>
      (this.#sinceMs.get(waiting) ?? nowMs) + answerMs - nowMs
    const isLate = (waiting: WaitingCommand): boolean => leftMs(waiting) < COMMIT_MS
    const late = this.#waiting.filter(isLate)
    if (late.length > 0) this.#waiting = this.#waiting.filter((waiting) => !isLate(waiting))
    for (const { reject } of late)
      reject(notSent('The store is too slow: the change was not made, try again in a moment.'))
    return this.#waiting.reduce((least, waiting) => Math.min(least, leftMs(waiting)), answerMs)
  }

  #settle({ verdicts, local }: DecidedUnit): void {
    this.#options.follower.appliedAhead(local)
    for (const verdict of verdicts) settle(verdict)
  }

  #afterCommit(): void {
    this.#committing = false
    if (this.#waiting.length > 0) this.#deferPump()
    else if (this.#closing) this.#whenIdle?.()
  }
}

function callersOf(units: readonly DecidedUnit[]): number {
  return units.reduce((sum, { verdicts }) => sum + verdicts.length, 0)
}

function settle(verdict: Verdict): void {
  const { waiting } = verdict
  if ('decision' in verdict) waiting.resolve(verdict.decision.outcome)
  else waiting.reject(verdict.error)
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

function notSent(text: string): Refusal {
  return new Refusal('store-unavailable', text)
}
