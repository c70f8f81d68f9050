import type { HealthChecker } from '../core/naming/health-checker.ts'
import {
  clampInterval,
  firstDelay,
  intervalParamsOf,
  nextInterval,
  type IntervalParams,
  type ProbeParams,
} from './adaptive-interval.ts'
import { DueQueue, type QueueEntry } from './due-queue.ts'
import { HealthStreak } from './health-streak.ts'
import type { ProbeResult, ProbeTarget } from './probe-target.ts'
import { probe } from './probe.ts'
import { StartPace } from './start-pace.ts'

/** Where the prober tells of its findings; a pino logger fits. */
export interface ProberLog {
  info(fields: object, message: string): void
  error(fields: object, message: string): void
}

/** What the prober needs from outside. */
export interface ProberOptions {
  /** How many probes run at once, over all targets. */
  readonly limit: number
  /** Monotonic milliseconds. */
  readonly now: () => number
  /** 0 to 1. */
  readonly random: () => number
  readonly params: () => ProbeParams
  /** Told when the health of a target has changed, and only then. Must not throw. */
  readonly report: (key: string, healthy: boolean) => void
  readonly log: ProberLog
  /** Runs one probe, never rejects; real connections unless a test says otherwise. */
  readonly probe?: (target: ProbeTarget) => Promise<ProbeResult>
}

/** The targets, the probes under way, and since the start: probes done by outcome, and changes of health found. */
export interface ProbeStatus {
  readonly watched: number
  readonly running: number
  readonly up: number
  readonly down: number
  readonly downNow: number
  readonly changed: number
}

/**
 * How many probes one turn of the event loop may start. Opening a socket takes some 30 µs, and a target that is
 * refused without a socket ends at once: without this bound, many of them would hold up everybody's requests.
 */
const STARTS_PER_TURN = 16

interface Watched extends QueueEntry {
  readonly key: string
  readonly target: ProbeTarget
  readonly type: Exclude<HealthChecker['type'], 'NONE'>
  readonly streak: HealthStreak
  /** When the interval began: at the end of the last probe, or when the target was added. */
  sinceMs: number
  intervalMs: number
}

/**
 * Probes the watched targets again and again, each at its adaptive interval, and reports changes of health. Who is
 * longest due goes first and at most `limit` run at once, so slow targets cost slots but never another target's
 * probe time, which starts when its own probe does. One `tick` every 100 ms or so drives it; it keeps no timers.
 * Which instances are watched is the caller's choice: ephemeral ones, clusters with checker NONE and the
 * `healthCheckWhiteList` are simply not given to it.
 */
export class Prober {
  readonly #options: ProberOptions
  readonly #probe: (target: ProbeTarget) => Promise<ProbeResult>
  readonly #watched = new Map<string, Watched>()
  readonly #queue = new DueQueue<Watched>()
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
   * Adds a target or replaces the one of this key. `healthy` is its health as known outside. The same target again
   * only takes over that health: its turn and its count stay, so that frequent updates do not keep it from being probed.
   */
  watch(key: string, target: ProbeTarget, healthy: boolean): void {
    const known = this.#watched.get(key)
    if (known !== undefined && isSameTarget(known.target, target)) return known.streak.set(healthy)
    this.forget(key)
    const { type } = target.checker
    if (type === 'NONE' || this.#closed) return
    const sinceMs = this.#options.now()
    const intervalMs = firstDelay(intervalParamsOf(this.#options.params(), type), this.#options.random())
    const streak = new HealthStreak(healthy)
    const entry = { key, target, type, streak, sinceMs, intervalMs, dueMs: sinceMs + intervalMs, place: -1 }
    this.#watched.set(key, entry)
    this.#queue.add(entry)
  }

  /** What is probed now, and since the start: probes done by outcome, and the changes of health they found. */
  counts(): ProbeStatus {
    return { watched: this.#watched.size, running: this.#running.size, ...this.#counts }
  }

  /** Stops probing; the result of a probe under way is dropped. */
  forget(key: string): void {
    const entry = this.#watched.get(key)
    if (entry === undefined) return
    this.#watched.delete(key)
    this.#queue.remove(entry)
  }

  /** Starts what is due, as far as limit and pace allow; the rest starts as others end, or with the next tick. */
  tick(): void {
    const params = this.#options.params()
    if (this.#closed || !params.enabled) return
    this.#followIntervals(params)
    for (let started = 0; this.#running.size < this.#options.limit && this.#pace.allows(); started++) {
      if (started === STARTS_PER_TURN) return this.#tickNextTurn()
      const entry = this.#queue.takeDue(this.#options.now())
      if (entry === undefined) return
      this.#start(entry)
    }
  }

  /** Starts nothing more and waits for the probes under way: at most about two probe timeouts. */
  async close(): Promise<void> {
    this.#closed = true
    clearImmediate(this.#nextTurn)
    await Promise.all(this.#running)
  }

  #start(entry: Watched): void {
    this.#pace.spend()
    const run = this.#probe(entry.target).then((result) => {
      this.#running.delete(run)
      this.#counts[result.outcome === 'down-now' ? 'downNow' : result.outcome]++
      this.#finish(entry, result)
      this.#tickNextTurn()
    })
    this.#running.add(run)
  }

  #tickNextTurn(): void {
    this.#nextTurn ??= setImmediate(() => {
      this.#nextTurn = undefined
      this.tick()
    })
  }

  #finish(entry: Watched, result: ProbeResult): void {
    if (this.#closed || this.#watched.get(entry.key) !== entry) return
    const params = this.#options.params()
    const intervals = intervalParamsOf(params, entry.type)
    entry.sinceMs = this.#options.now()
    entry.intervalMs = nextInterval(entry.intervalMs, result.elapsedMs, intervals)
    entry.dueMs = entry.sinceMs + entry.intervalMs
    this.#queue.add(entry)
    if (params.enabled) this.#count(entry, result, params.checkTimes)
  }

  #count({ key, streak }: Watched, result: ProbeResult, checkTimes: number): void {
    const healthy = streak.count(result, checkTimes)
    if (healthy === undefined) return
    this.#counts.changed++
    const { reason, elapsedMs } = result
    this.#options.log.info({ key, healthy, reason, elapsedMs }, 'a probe changed the health of an instance')
    try {
      this.#options.report(key, healthy)
    } catch (error) {
      // A fault of ours must not end the probing of everything else.
      this.#options.log.error(
        { err: error, key, healthy },
        'the new health of an instance could not be reported',
      )
    }
  }

  /** Changed bounds count for the wait under way, too: nobody waits out an interval that is no longer allowed. */
  #followIntervals(params: ProbeParams): void {
    const intervals = intervalsOf(params)
    if (intervals === this.#intervals) return
    this.#intervals = intervals
    const boundsOf = (entry: Watched): IntervalParams => intervalParamsOf(params, entry.type)
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
