import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { launchCluster, SERVERS } from '../etcd.ts'
import { Histogram } from '../histogram.ts'
import type { LoadResult, Stream } from '../jobs.ts'
import { requestPaths } from '../paths.ts'
import { processorMs } from '../process-usage.ts'
import {
  type Bench,
  type Figures,
  latencies,
  lengthOf,
  loadOnce,
  type Scenario,
  untilAtRest,
} from '../scenario.ts'
import type { Target } from '../target.ts'

const WRITERS = 64
const ITEMS = 1_000
/** Those of one server. */
const INSTANCES = Math.floor(20_000 / SERVERS)
/** How often a change is followed to the other servers. */
const PROBE_PAUSE_MS = 50
const PROBE_LIMIT_MS = 10_000
/** How long a poll takes until it is held. */
const HELD_MS = 30

/** Probes before the measurement. */
const WARM_PROBES = 10
/** Changes of a probe: a publish and a registration. */
const CHANGES_OF_PROBE = 2

/** The load of one server while changes are followed. Each `version` is another one, so that everything is a change. */
interface Load {
  readonly streamOf: (server: number, version: number) => Stream
  /** As many requests are sent before the measurement, so that each item or instance is there. */
  readonly count: number
}

/** The figures of several servers. */
export const cluster: readonly Scenario[] = [
  scenario('cluster-light', 'three servers on three members of etcd, nothing else going on'),
  scenario('cluster-publish', `the same while ${WRITERS} writers publish contents of 1.5 KB on all three`, {
    streamOf: (number, version) => ({ kind: 'publish', base: `cluster-${number}`, count: ITEMS, version }),
    count: ITEMS,
  }),
  scenario('cluster-register', `the same while ${WRITERS} writers change 20,000 instances on all three`, {
    streamOf: (number, version) => ({
      kind: 'change',
      set: { base: `cluster-${number}`, count: INSTANCES, perService: 10, lasting: true },
      version,
    }),
    count: INSTANCES,
  }),
]

function scenario(name: string, about: string, load?: Load): Scenario {
  return {
    name,
    about: `${about}: how long an acknowledged change takes to be read, polled and listed on the others`,
    kinds: ['ours'],
    rounds: 3,
    notQuick: true,
    long: true,
    measure: (like, bench) => measureCluster(like, bench, load),
  }
}

/** Each round has a new cluster, which is warmed up. */
async function measureCluster(like: Target, bench: Bench, load: Load | undefined): Promise<Figures> {
  const { servers, pids, stop } = await launchCluster(like, bench)
  const seconds = lengthOf(bench, { quick: 3, full: 5 })
  try {
    await warmUp(servers, load)
    const began = performance.now()
    const before = pids.map(processorMs)
    // About as many as the writers send in this time.
    const running =
      load === undefined ? undefined : loadAll(servers, load, { requests: 1_000 * seconds, version: 1 })
    const seen = new Followed()
    let isOver = false
    const over = (): void => void (isOver = true)
    running?.then(over, over)
    let probe = WARM_PROBES
    for (; !isOver && performance.now() - began < seconds * 1_000; probe++) {
      await follow(servers, probe, seen)
      await sleep(PROBE_PAUSE_MS)
    }
    const results = (await running) ?? []
    const changes = results.reduce((sum, { answered }) => sum + answered, 0)
    const ofProbes = (probe - WARM_PROBES) * CHANGES_OF_PROBE
    return {
      ...ratesOf(results),
      ...seen.figures(),
      ...processorOf(pids, before, {
        elapsedMs: performance.now() - began,
        answered: changes === 0 ? 0 : changes + ofProbes,
      }),
    }
  } finally {
    await stop()
  }
}

async function warmUp(servers: readonly Target[], load: Load | undefined): Promise<void> {
  if (load !== undefined) await loadAll(servers, load, { requests: load.count, version: 0 })
  for (let probe = 0; probe < WARM_PROBES; probe++) await follow(servers, probe, new Followed())
  for (const server of servers) await untilAtRest(server)
}

async function loadAll(
  servers: readonly Target[],
  { streamOf }: Load,
  { requests, version }: { requests: number; version: number },
): Promise<LoadResult[]> {
  const connections = Math.floor(WRITERS / SERVERS)
  return await Promise.all(
    servers.map(({ base }, number) =>
      loadOnce({ job: 'closed-loop', base, stream: streamOf(number, version), connections, requests }),
    ),
  )
}

/** How long changes took from their acknowledgement until another server had them. */
class Followed {
  readonly #times = { read: new Histogram(), polled: new Histogram(), listed: new Histogram() }

  add(how: 'read' | 'polled' | 'listed', ms: number): void {
    this.#times[how].add(ms)
  }

  figures(): Figures {
    return Object.fromEntries(
      Object.entries(this.#times).flatMap(([how, times]) => [
        [`${how} p50 ms`, times.percentile(0.5)],
        [`${how} p99 ms`, times.percentile(0.99)],
      ]),
    )
  }
}

/** Makes a change on one server and waits until the others have it. */
async function follow(servers: readonly Target[], probe: number, seen: Followed): Promise<void> {
  const writer = servers[probe % servers.length]!
  const others = servers.filter((server) => server !== writer)
  const content = contentOf(probe)
  const before = probe === 0 ? undefined : contentOf(probe - 1)
  const polls = others.map((server) => polled(server, before))
  await sleep(HELD_MS)
  await publish(writer, content)
  const ackedMs = performance.now()
  const since = (how: 'read' | 'polled') => () => seen.add(how, performance.now() - ackedMs)
  const reads = others.map((server) => until(async () => (await read(server)) === content))
  await Promise.all([
    ...polls.map((poll) => poll.then(since('polled'))),
    ...reads.map((one) => one.then(since('read'))),
  ])
  await register(writer, probe)
  const registeredMs = performance.now()
  await Promise.all(
    others.map(async (server) => {
      await until(async () => (await listed(server)).includes(`"port":${PORT + probe}`))
      seen.add('listed', performance.now() - registeredMs)
    }),
  )
}

const contentOf = (probe: number): string => `probe ${probe}`

const ITEM = { dataId: 'probe', group: 'probes' }
const PORT = 10_000

async function publish(server: Target, content: string): Promise<void> {
  const body = new URLSearchParams({ ...ITEM, content })
  await ok(fetch(requestPaths(server.base).configs, { method: 'POST', body }))
}

async function read(server: Target): Promise<string> {
  const answer = await fetch(`${requestPaths(server.base).configs}?${new URLSearchParams(ITEM)}`)
  return answer.text()
}

/** Resolves when a poll of the item is answered; `content`: what its client has, undefined: nothing. */
async function polled(server: Target, content: string | undefined): Promise<void> {
  const md5 = content === undefined ? '' : hash('md5', content)
  const body = new URLSearchParams({
    'Listening-Configs': `${ITEM.dataId}\u0002${ITEM.group}\u0002${md5}\u0001`,
  })
  const headers = { 'Long-Pulling-Timeout': '30000' }
  await ok(fetch(requestPaths(server.base).listener, { method: 'POST', body, headers }))
}

async function register(server: Target, probe: number): Promise<void> {
  const body = new URLSearchParams({ serviceName: 'probes', ip: '127.0.0.1', port: String(PORT + probe) })
  await ok(fetch(requestPaths(server.base).instance, { method: 'POST', body }))
}

async function listed(server: Target): Promise<string> {
  return (await fetch(`${requestPaths(server.base).list}?serviceName=probes`)).text()
}

async function ok(answer: Promise<Response>): Promise<void> {
  const { ok: isDone, status, url } = await answer
  if (!isDone) throw new Error(`${url} answered ${status}`)
}

async function until(isThere: () => Promise<boolean>): Promise<void> {
  const lateMs = performance.now() + PROBE_LIMIT_MS
  while (!(await isThere())) if (performance.now() > lateMs) throw new Error('a change did not arrive')
}

function ratesOf(results: readonly LoadResult[]): Figures {
  if (results.length === 0) return {}
  const all = new Histogram()
  for (const { counts } of results) all.merge(counts)
  const rate = results.reduce((sum, { answered, elapsedMs }) => sum + (answered * 1_000) / elapsedMs, 0)
  return { 'rate /s': rate, ...latencies({ ...results[0]!, counts: all.counts() }) }
}

/** The share of a core that all servers and all members of etcd took, and their time for each change of the load. */
function processorOf(
  pids: readonly number[],
  before: readonly number[],
  { elapsedMs, answered }: { elapsedMs: number; answered: number },
): Figures {
  const used = pids.map((pid, index) => processorMs(pid) - before[index]!)
  const sum = (times: readonly number[]): number => times.reduce((all, ms) => all + ms, 0)
  const servers = sum(used.slice(0, SERVERS))
  const etcd = sum(used.slice(SERVERS))
  const shares = { 'servers core %': (servers / elapsedMs) * 100, 'etcd core %': (etcd / elapsedMs) * 100 }
  if (answered === 0) return shares
  return { ...shares, 'servers µs': (servers / answered) * 1_000, 'etcd µs': (etcd / answered) * 1_000 }
}
