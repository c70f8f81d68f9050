import { setTimeout as sleep } from 'node:timers/promises'
import { forkModule, type Child } from './child.ts'
import { Histogram } from './histogram.ts'
import type { InsideFigures } from './inside-probe.ts'
import type { Job, LoadResult } from './jobs.ts'
import { processorMs, residentBytes } from './process-usage.ts'
import { modulePath } from './project.ts'
import type { Kind, Launch, Target } from './target.ts'

/** The figures of one target. Their names, with units, are the head of the table. */
export type Figures = Readonly<Record<string, number>>

/** How much a run measures. */
export interface Extent {
  readonly quick: boolean
  readonly rounds: number
  /** The duration of a closed loop, in seconds. */
  readonly seconds: number
  /** The value of `--seconds`, which also applies to loads with their own duration. */
  readonly askedSeconds?: number | undefined
}

/** The duration of a load with its own default. */
export function lengthOf({ quick, askedSeconds }: Extent, own: { quick: number; full: number }): number {
  return askedSeconds ?? (quick ? own.quick : own.full)
}

/** The parts that a scenario uses. */
export interface Bench extends Extent {
  /** The part of the round, from 0. */
  readonly part?: number
  /** Starts each server of the run. */
  readonly launches: Readonly<Record<string, Launch>>
}

/** One measurement, of several servers in turn. */
export interface Scenario {
  readonly name: string
  /** A description in one line. */
  readonly about: string
  /** The kinds of servers that it measures. */
  readonly kinds: readonly Kind[]
  /** Runs only if `--only` names it. */
  readonly long?: boolean
  /** `--only` must have its whole name. */
  readonly ownName?: boolean
  /** Not part of a quick run without `--only`. */
  readonly notQuick?: boolean
  /** True: every round starts a new server. False: all rounds use the same one. */
  readonly freshRounds?: boolean
  /** Settings of our servers. */
  readonly settings?: Readonly<Record<string, string>>
  /** The number of rounds without `--rounds`. */
  readonly rounds?: number
  /**
   * Scenarios of one series measure the same at several sizes. Their servers run at the same time and take turns. A table
   * at the end compares them.
   */
  readonly series?: string
  /** The number of calls of `measure` per round; `bench.part` is the current one. All servers take turns in each. */
  readonly parts?: number
  /** Measures each target for a second first (as round -1), so that the figures have no cold code. */
  readonly warmUp?: boolean
  /** Fills a new server with the data of the measurement. */
  readonly prepare?: (target: Target, bench: Bench) => Promise<void>
  readonly measure: (target: Target, bench: Bench, round: number) => Promise<Figures>
  /** Measurements without a server, once in each round. */
  readonly besides?: readonly Beside[]
}

/** A measurement without a server, with its name for the table. */
export interface Beside {
  readonly name: string
  readonly measure: (bench: Bench) => Promise<Figures>
}

/** Measures processor time, loop delay and the growth of the old generation of a target from now on. */
export async function watch(target: Target): Promise<(requests: number) => Promise<Figures>> {
  const { pid } = target
  await target.inside()
  const before = pid === undefined ? 0 : processorMs(pid)
  const began = performance.now()
  return async (requests) => {
    const elapsedMs = performance.now() - began
    const inside = await target.inside()
    const reported: Figures = inside === undefined ? {} : insideFigures(inside, requests)
    if (pid === undefined) return reported
    const usedMs = processorMs(pid) - before
    return {
      'cpu µs': requests === 0 ? 0 : (usedMs * 1_000) / requests,
      'core %': (usedMs / elapsedMs) * 100,
      'rss MB': residentBytes(pid) / 1e6,
      ...reported,
    }
  }
}

function insideFigures({ p99Ms, maxMs, leftBytes }: InsideFigures, requests: number): Figures {
  return { 'loop p99 ms': p99Ms, 'loop max ms': maxMs, 'left B': requests === 0 ? 0 : leftBytes / requests }
}

const REST_SAMPLE_MS = 100
/** The most processor time of an idle server in this time: one tick of the kernel's clock. */
const AT_REST_MS = 10
const LONGEST_UNREST_MS = 30_000

/**
 * Waits until a server has finished its deferred work, and returns the processor time of that, in milliseconds. It is part
 * of the cost of the requests, and must not run beside the measurement of the next server.
 */
export async function untilAtRest({ pid }: Target): Promise<number> {
  if (pid === undefined) return 0
  const [began, before] = [performance.now(), processorMs(pid)]
  for (let used = before; performance.now() - began < LONGEST_UNREST_MS;) {
    await sleep(REST_SAMPLE_MS)
    const now = processorMs(pid)
    if (now - used <= AT_REST_MS) return now - before
    used = now
  }
  throw new Error(`Process ${pid} is still busy ${LONGEST_UNREST_MS} ms after its last answer.`)
}

/** The figures of requests whose work after the last answer counts. */
export async function withRest(target: Target, requests: number, figures: Figures): Promise<Figures> {
  const afterUs = ((await untilAtRest(target)) * 1_000) / requests
  const { 'cpu µs': duringUs } = figures
  if (duringUs === undefined) return figures
  return { ...figures, 'cpu µs': duringUs + afterUs, 'of it after µs': afterUs }
}

/** A process of load clients. */
export interface Clients {
  load(job: Job): Promise<LoadResult>
  ask(job: Job): Promise<unknown>
  stop(): Promise<void>
}

export function startClients(): Clients {
  const child: Child = forkModule(modulePath('load-client'))
  return {
    load: (job) => child.ask(job) as Promise<LoadResult>,
    ask: (job) => child.ask(job),
    stop: () => child.stop(),
  }
}

/** A figure that must have been measured. Throws where it is absent or no number, or 0 where it is no count of bytes. */
export function figureOf(figures: Figures, name: string): number {
  const { [name]: value = NaN } = figures
  const isPossible = mayBeNothing(name) ? value >= 0 : value > 0
  if (isPossible && Number.isFinite(value)) return value
  throw new Error(`${name} is ${value}: it was not measured.`)
}

/** A request may leave no bytes at all to the collections of the heap. */
function mayBeNothing(name: string): boolean {
  return name === 'left B' || name.startsWith('leftBytes.')
}

/** A result without failures. Throws if something failed, or if nothing was answered. */
export function withoutFailures(name: string, result: LoadResult): LoadResult {
  const { failed, answered } = result
  if (failed === 0 && answered > 0) return result
  throw new Error(`${name}: ${failed} failed, ${answered} answered`)
}

/** Runs one job in its own process. Throws if more than one request in a thousand failed. */
export async function loadOnce(job: Job): Promise<LoadResult> {
  const clients = startClients()
  try {
    const result = await clients.load(job)
    if (result.failed > result.answered / 1_000)
      throw new Error(`${job.job} on ${job.base}: ${result.failed} failed, ${result.answered} answered`)
    return result
  } finally {
    await clients.stop()
  }
}

/** The percentiles of a load, named for a table. */
export function latencies(result: LoadResult, of = ''): Figures {
  const histogram = Histogram.of(result.counts)
  const late: Figures =
    result.lateCounts === undefined
      ? {}
      : { [`${of}client p99 ms`]: Histogram.of(result.lateCounts).percentile(0.99) }
  return {
    [`${of}p50 ms`]: histogram.percentile(0.5),
    [`${of}p99 ms`]: histogram.percentile(0.99),
    [`${of}p99.9 ms`]: histogram.percentile(0.999),
    ...late,
  }
}
