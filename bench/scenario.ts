import { setTimeout as sleep } from 'node:timers/promises'
import { forkModule, type Child } from './child.ts'
import { Histogram } from './histogram.ts'
import type { InsideFigures } from './inside-probe.ts'
import type { Job, LoadResult } from './jobs.ts'
import { processorMs, residentBytes } from './process-usage.ts'
import { modulePath } from './project.ts'
import type { Kind, Launch, Target } from './target.ts'

/** What was measured of one target: the names stand in the head of the table with their unit. */
export type Figures = Readonly<Record<string, number>>

/** How much is measured. */
export interface Extent {
  readonly quick: boolean
  readonly rounds: number
  /** How long a closed loop runs. */
  readonly seconds: number
  /** What `--seconds` asked for, which also holds for loads that have a length of their own. */
  readonly askedSeconds?: number | undefined
}

/** How long a load with a length of its own runs. */
export function lengthOf({ quick, askedSeconds }: Extent, own: { quick: number; full: number }): number {
  return askedSeconds ?? (quick ? own.quick : own.full)
}

/** What a scenario works with. */
export interface Bench extends Extent {
  /** Which part of a round this is, from 0. */
  readonly part?: number
  /** How each server of the run is started. */
  readonly launches: Readonly<Record<string, Launch>>
}

/** One thing that is measured of several servers in turn. */
export interface Scenario {
  readonly name: string
  /** A line that says what is done. */
  readonly about: string
  /** Which servers it makes sense for. */
  readonly kinds: readonly Kind[]
  /** Runs only where it is asked for by name. */
  readonly long?: boolean
  /** Left out of a quick run that names no scenarios. */
  readonly notQuick?: boolean
  /** Every round has a server of its own, or all rounds the same one. */
  readonly freshRounds?: boolean
  /** As many rounds as there are, where `--rounds` asks for none. */
  readonly rounds?: number
  /**
   * Scenarios of one series measure the same at several sizes. Their servers run at the same time and take turns, and a
   * table at the end puts them side by side.
   */
  readonly series?: string
  /** In how many calls of `measure` a round is done; `bench.part` tells which it is. All servers take turns in each. */
  readonly parts?: number
  /** Measures each target for a second first (as round -1), so that no cold code is in the figures. */
  readonly warmUp?: boolean
  /** Puts into a fresh server what the measurement needs. */
  readonly prepare?: (target: Target, bench: Bench) => Promise<void>
  readonly measure: (target: Target, bench: Bench, round: number) => Promise<Figures>
  /** What is measured once beside the servers, in each round. */
  readonly besides?: readonly Beside[]
}

/** Something else than a server; its name stands in the table. */
export interface Beside {
  readonly name: string
  readonly measure: (bench: Bench) => Promise<Figures>
}

/** Processor time, loop delay and what is left in the old generation of a target from now on. */
export async function watch(target: Target): Promise<(requests: number) => Promise<Figures>> {
  const { pid } = target
  await target.inside()
  const before = pid === undefined ? 0 : processorMs(pid)
  const began = performance.now()
  return async (requests) => {
    const elapsedMs = performance.now() - began
    const inside = await target.inside()
    const told: Figures = inside === undefined ? {} : insideFigures(inside, requests)
    if (pid === undefined) return told
    const usedMs = processorMs(pid) - before
    return {
      'cpu µs': requests === 0 ? 0 : (usedMs * 1_000) / requests,
      'core %': (usedMs / elapsedMs) * 100,
      'rss MB': residentBytes(pid) / 1e6,
      ...told,
    }
  }
}

function insideFigures({ p99Ms, maxMs, leftBytes }: InsideFigures, requests: number): Figures {
  return { 'loop p99 ms': p99Ms, 'loop max ms': maxMs, 'left B': requests === 0 ? 0 : leftBytes / requests }
}

const REST_SAMPLE_MS = 100
/** What a server at rest uses of such a time at most: one tick of the clock by which the kernel counts. */
const AT_REST_MS = 10
const LONGEST_UNREST_MS = 30_000

/**
 * Waits until a server has done what it left for later, and answers the processor time that it used for it, in
 * milliseconds. That belongs to what the requests cost, and none of it may run beside those of the next server.
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

/** Does one job in a process of its own. Throws where more than one request in a thousand failed. */
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
