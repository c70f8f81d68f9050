import { caught, contained, guarded, nothing } from '../core/unexpected.ts'
import type { IntervalParams } from '../core/switches/switches.ts'
import type { HealthChecker } from '../core/naming/state/health-checker.ts'
import type { ServiceKey } from '../core/naming/state/service.ts'
import {
  clampInterval,
  firstDelay,
  intervalParamsOf,
  nextInterval,
  type ProbeParams,
} from './adaptive-interval.ts'
import { DueQueue, type QueueEntry } from './due-queue.ts'
import { HealthStreak } from './health-streak.ts'
import type { ProbeResult, ProbeTarget } from './conversation.ts'
import { probe } from './probe.ts'
import { ProbeTurns } from './probe-turns.ts'
import { StartPace } from './start-pace.ts'

/** The log of the prober. A pino logger fits. */
export interface ProberLog {
  info(fields: object, message: string): void
}

/** A target, with the service of its instance. */
export interface WatchedTarget extends ProbeTarget {
  readonly service: ServiceKey
}

/** The options of the prober. */
export interface ProberOptions {
  /** The most probes that run at once. */
  readonly limit: number
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** 0 to 1. */
  readonly random: () => number
  readonly params: () => ProbeParams
  /** Called when the health of a target has changed. It must not throw. */
  readonly report: (key: string, healthy: boolean) => void
  readonly log: ProberLog
  /** Runs one probe and never rejects. Tests replace it; the default opens real connections. */
  readonly probe?: (target: ProbeTarget) => Promise<ProbeResult>
}

/** The targets, the running probes, and since the start: finished probes by outcome, and changes of health. */
export interface ProbeStatus {
  readonly watched: number
  readonly running: number
  readonly up: number
  readonly down: number
  readonly downNow: number
  readonly changed: number
}

/**
 * How many probes one turn of the event loop may start. Opening a socket takes some 30 µs, and a probe that is refused
 * without a socket ends at once. Without this limit, many probes would delay requests.
 */
const STARTS_PER_TURN = 16

/** How many due probes one turn of the event loop lets wait for a place: each costs some 2 µs. */
const GATHERED_PER_TURN = 1_000

interface ScheduledProbe extends QueueEntry {
  readonly key: string
  readonly target: ProbeTarget
  readonly service: ServiceKey
  readonly type: Exclude<HealthChecker['type'], 'NONE'>
  readonly streak: HealthStreak
  /** The start of the interval: the end of the last probe, or the time when the target was added. */
  sinceMs: number
  intervalMs: number
  /** The result of the last probe, which ended at `sinceMs`. */
  last: ProbeResult | undefined
}

/**
 * Probes the watched targets, each at its adaptive interval, and reports changes of health. At most `limit` probes run at
 * once. Services take turns (`ProbeTurns`), and of one the target that is due the longest is first. A slow target takes a
 * slot, but not the time of another probe, whose timeout starts with that probe. Call `tick` about every 100 ms; it has no
 * timers of its own. The caller chooses the targets: it leaves out ephemeral instances and services that are not checked.
 */
export class Prober {
  readonly #options: ProberOptions
  readonly #probe: (target: ProbeTarget) => Promise<ProbeResult>
  readonly #watched = new Map<string, ScheduledProbe>()
  readonly #queue = new DueQueue<ScheduledProbe>()
  /** Targets that are due and wait for a place. */
  readonly #due = new ProbeTurns<ScheduledProbe>()
  readonly #running = new Set<Promise<void>>()
  readonly #pace: StartPace
  #intervals: string
  #nextTurn: NodeJS.Immediate | undefined
  #closed = false
  readonly #counts = { up: 0, down: 0, downNow: 0, changed: 0 }

  constructor(options: ProberOptions) {
    this.#options = options
    this.#probe = options.probe ?? probe
    this.#pace = new StartPace(options.now)
    this.#intervals = intervalsOf(options.params())
  }

  /**
   * Adds a target, or replaces the one of this key. `healthy` is its current health. For an equal target only the
   * health changes: its time and its count stay, so that frequent updates do not delay its probes.
   */
  watch(key: string, target: WatchedTarget, healthy: boolean): void {
    const known = this.#watched.get(key)
    if (known !== undefined && isSameTarget(known.target, target)) return known.streak.set(healthy)
    this.forget(key)
    const { type } = target.checker
    if (type === 'NONE' || this.#closed) return
    const sinceMs = this.#options.now()
    const intervalMs = firstDelay(intervalParamsOf(this.#options.params(), type), this.#options.random())
    const streak = new HealthStreak(healthy)
    const entry = {
      key,
      target,
      service: target.service,
      type,
      streak,
      sinceMs,
      intervalMs,
      dueMs: sinceMs + intervalMs,
      place: -1,
      last: undefined,
    }
    this.#watched.set(key, entry)
    this.#queue.add(entry)
  }

  /** The targets and the running probes, and since the start: finished probes by outcome, and changes of health. */
  counts(): ProbeStatus {
    return { watched: this.#watched.size, running: this.#running.size, ...this.#counts }
  }

  /** Removes a target. The result of its running probe is dropped. */
  forget(key: string): void {
    const entry = this.#watched.get(key)
    if (entry === undefined) return
    this.#watched.delete(key)
    this.#queue.remove(entry)
    this.#due.remove(entry)
  }

  /** The last probe of a target: its result and its age. */
  lastOf(key: string): (ProbeResult & { readonly agoMs: number }) | undefined {
    const entry = this.#watched.get(key)
    return entry?.last && { ...entry.last, agoMs: this.#options.now() - entry.sinceMs }
  }

  /** Starts due probes within the limit and the pace. The others start when probes end, or with the next tick. */
  tick(): void {
    if (this.#closed || this.#watched.size === 0) return
    const params = this.#options.params()
    if (!params.enabled) return
    this.#followIntervals(params)
    this.#gatherDue()
    for (let started = 0; this.#running.size < this.#options.limit && this.#pace.allows(); started++) {
      if (started === STARTS_PER_TURN) return this.#tickNextTurn()
      const entry = this.#due.next()
      if (entry === undefined) return
      this.#start(entry)
    }
  }

  /** Starts no more probes and waits for the running ones: at most about two probe timeouts. */
  async close(): Promise<void> {
    this.#closed = true
    clearImmediate(this.#nextTurn)
    await Promise.all(this.#running)
  }

  #gatherDue(): void {
    const nowMs = this.#options.now()
    for (let count = 0; count < GATHERED_PER_TURN; count++) {
      const entry = this.#queue.takeDue(nowMs)
      if (entry === undefined) return
      this.#due.add(entry)
    }
    this.#tickNextTurn()
  }

  #start(entry: ScheduledProbe): void {
    this.#pace.spend()
    const run = this.#outcomeOf(entry).then((result) => {
      this.#running.delete(run)
      this.#counts[result.outcome === 'down-now' ? 'downNow' : result.outcome]++
      contained(
        'probe',
        () => this.#repeat(entry),
        () => this.#finish(entry, result),
      )
      this.#tickNextTurn()
    })
    this.#running.add(run)
  }

  /** A probe that fails by a fault of the server counts as down, and ends alone. */
  async #outcomeOf({ key, target }: ScheduledProbe): Promise<ProbeResult> {
    try {
      return await this.#probe(target)
    } catch (error) {
      caught('probe', error, { key })
      return { outcome: 'down', reason: 'the probe failed by a fault of the server', elapsedMs: 0 }
    }
  }

  /** The result could not be noted: the target is probed again after the same time. */
  #repeat(entry: ScheduledProbe): void {
    if (this.#closed || this.#watched.get(entry.key) !== entry || entry.place >= 0) return
    entry.dueMs = this.#options.now() + entry.intervalMs
    this.#queue.add(entry)
  }

  #tickNextTurn(): void {
    this.#nextTurn ??= setImmediate(
      guarded('probe', nothing, () => {
        this.#nextTurn = undefined
        this.tick()
      }),
    )
  }

  #finish(entry: ScheduledProbe, result: ProbeResult): void {
    if (this.#closed || this.#watched.get(entry.key) !== entry) return
    const params = this.#options.params()
    const intervals = intervalParamsOf(params, entry.type)
    entry.sinceMs = this.#options.now()
    entry.last = result
    entry.intervalMs = nextInterval(entry.intervalMs, result.elapsedMs, intervals)
    entry.dueMs = entry.sinceMs + entry.intervalMs
    this.#queue.add(entry)
    if (params.enabled) this.#count(entry, result, params.checkTimes)
  }

  #count({ key, streak }: ScheduledProbe, result: ProbeResult, checkTimes: number): void {
    const healthy = streak.count(result, checkTimes)
    if (healthy === undefined) return
    this.#counts.changed++
    const { reason, elapsedMs } = result
    this.#options.log.info({ key, healthy, reason, elapsedMs }, 'a probe changed the health of an instance')
    contained('probe', nothing, () => this.#options.report(key, healthy))
  }

  /** Applies changed bounds also to the current wait of each target. */
  #followIntervals(params: ProbeParams): void {
    const intervals = intervalsOf(params)
    if (intervals === this.#intervals) return
    this.#intervals = intervals
    const boundsOf = (entry: ScheduledProbe): IntervalParams => intervalParamsOf(params, entry.type)
    this.#queue.reschedule((entry) => entry.sinceMs + clampInterval(entry.intervalMs, boundsOf(entry)))
  }
}

function intervalsOf({ http, tcp, mysql }: ProbeParams): string {
  return [http, tcp, mysql].map(({ min, max, factor }) => `${min},${max},${factor}`).join(';')
}

function isSameTarget(a: ProbeTarget, b: ProbeTarget): boolean {
  return a.host === b.host && a.port === b.port && isSameChecker(a.checker, b.checker)
}

function isSameChecker(a: HealthChecker, b: HealthChecker): boolean {
  if (a === b) return true
  const fields = Object.entries(a)
  const others = new Map<string, unknown>(Object.entries(b))
  return fields.length === others.size && fields.every(([name, value]) => others.get(name) === value)
}
