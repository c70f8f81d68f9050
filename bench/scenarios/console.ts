import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Histogram } from '../histogram.ts'
import { requestPaths } from '../paths.ts'
import { processorMs } from '../process-usage.ts'
import {
  type Bench,
  type Figures,
  lengthOf,
  loadOnce,
  type Scenario,
  untilAtRest,
  watch,
} from '../scenario.ts'
import type { Target } from '../target.ts'

const ITEMS = 100_000
const SERVICES = 10_000
const IN_SERVICE = 2
const BROWSERS = 200

/** Limits that people feel: exceeding one limit fails the scenario. */
const BUDGET = {
  'list ms': 200,
  'last page ms': 400,
  'name ms': 400,
  'services ms': 200,
  'address ms': 400,
  'overview ms': 400,
  'everywhere ms': 1_000,
  // Cut at two seconds; a cut answer fails.
  'content ms': 2_000,
  'key ms': 2_000,
  'loop max ms': 100,
} as const

/** The requests of the pages of the console, with as much as they must bear. */
const QUERIES: Readonly<Record<Exclude<keyof typeof BUDGET, 'loop max ms'>, string>> = {
  'list ms': 'configs?namespaceId=*&pageSize=50',
  'last page ms': `configs?namespaceId=*&sort=dataId&pageSize=50&pageNo=${ITEMS / 50}`,
  'name ms': 'configs?namespaceId=*&text=D-4242&pageSize=50',
  'services ms': 'services?namespaceId=*&pageSize=50',
  'address ms': 'services?namespaceId=*&ip=.3.4:&pageSize=50',
  'overview ms': 'overview?namespaceId=*',
  'everywhere ms': 'search?text=d-4242',
  'content ms': 'configs?namespaceId=*&content=version%3D0000077777&pageSize=50',
  'key ms': 'configs?namespaceId=*&key=hikari.maximum&content=no-such-value&pageSize=50',
}

/** The console: its lists and searches, and the browsers that follow changes. */
export const consoleScenarios: readonly Scenario[] = [
  {
    name: 'console-lists',
    about: `what the console asks of ${ITEMS} items and ${SERVICES} services, one request after the other; fails above its budget`,
    kinds: ['ours', 'other'],
    rounds: 1,
    notQuick: true,
    prepare: fill,
    measure: measureLists,
  },
  {
    name: 'console-streams',
    about: `${BROWSERS} browsers follow an idle server, then one publish at a time; fails above 2 % of a core, or 500 ms until all know`,
    kinds: ['ours', 'other'],
    rounds: 1,
    notQuick: true,
    measure: measureStreams,
  },
]

async function fill({ base }: Target): Promise<void> {
  const publish = { kind: 'publish', base: 'D', count: ITEMS } as const
  await loadOnce({ job: 'closed-loop', base, stream: publish, connections: 64, requests: ITEMS })
  const count = SERVICES * IN_SERVICE
  const set = { base: 'S', count, perService: IN_SERVICE, lasting: true }
  const register = { kind: 'register', set, version: 0 } as const
  await loadOnce({ job: 'closed-loop', base, stream: register, connections: 64, requests: count })
}

async function measureLists(target: Target, bench: Bench): Promise<Figures> {
  await untilAtRest(target)
  const times = lengthOf(bench, { quick: 3, full: 7 })
  const spent = await watch(target)
  const figures: Record<string, number> = {}
  for (const [name, query] of Object.entries(QUERIES)) figures[name] = await medianOf(target, query, times)
  const { 'loop max ms': loopMaxMs = 0, 'rss MB': residentMb = 0 } = await spent(0)
  const found = { ...figures, 'loop max ms': loopMaxMs }
  refuseExcess(found, BUDGET)
  return { ...found, 'rss MB': residentMb }
}

/** The middle of some times until a whole answer has come. Throws for one that is cut. */
async function medianOf({ base }: Target, query: string, times: number): Promise<number> {
  const spent: number[] = []
  for (let time = 0; time < times; time++) {
    const began = performance.now()
    const answer = await fetch(`${base}/console/${query}`)
    const { truncated = false } = (await answer.json()) as { truncated?: boolean }
    spent.push(performance.now() - began)
    if (!answer.ok || truncated) throw new Error(`${query}: ${truncated ? 'cut' : answer.status}`)
  }
  return spent.toSorted((a, b) => a - b)[Math.floor(times / 2)]!
}

const STREAMS_BUDGET = { 'streams %': 2, 'all know p99 ms': 500 } as const
const PUBLISHES = 50

async function measureStreams(target: Target, bench: Bench): Promise<Figures> {
  const seconds = lengthOf(bench, { quick: 5, full: 30 })
  await untilAtRest(target)
  const idle = await corePercent(target, seconds)
  const browsers = await Promise.all(
    Array.from({ length: BROWSERS }, () => FollowingBrowser.open(target.base)),
  )
  try {
    await sleep(1_000)
    const followed = await corePercent(target, seconds)
    const histogram = new Histogram()
    for (let at = 0; at < PUBLISHES; at++) histogram.add(await untilAllKnow(target, browsers, `E-${at}`))
    const found = {
      'streams %': followed,
      'all know p99 ms': histogram.percentile(0.99),
    }
    refuseExcess(found, STREAMS_BUDGET)
    return { 'idle %': idle, ...found, 'all know p50 ms': histogram.percentile(0.5) }
  } finally {
    for (const browser of browsers) browser.close()
  }
}

async function corePercent({ pid }: Target, seconds: number): Promise<number> {
  if (pid === undefined) return 0
  const before = processorMs(pid)
  await sleep(seconds * 1_000)
  return (processorMs(pid) - before) / (seconds * 10)
}

/** From the request of a publish until the last browser knows of it. */
async function untilAllKnow(
  { base }: Target,
  browsers: readonly FollowingBrowser[],
  dataId: string,
): Promise<number> {
  const began = performance.now()
  const all = Promise.all(browsers.map((browser) => browser.hears(dataId)))
  const body = new URLSearchParams({ dataId, group: 'G', content: dataId })
  await fetch(requestPaths(base).configs, { method: 'POST', body })
  await all
  return performance.now() - began
}

/** A stream of events, as a browser holds it. */
class FollowingBrowser {
  readonly #incoming: http.IncomingMessage
  #awaited: { readonly text: string; readonly heard: () => void } | undefined

  private constructor(incoming: http.IncomingMessage) {
    this.#incoming = incoming
    incoming.setEncoding('utf8').on('data', (text: string) => {
      if (this.#awaited !== undefined && text.includes(this.#awaited.text)) this.#awaited.heard()
    })
    incoming.on('error', () => {})
  }

  static open(base: string): Promise<FollowingBrowser> {
    return new Promise((resolve, reject) => {
      const request = http.get(`${base}/console/events`, { agent: false }, (incoming) =>
        incoming.statusCode === 200
          ? resolve(new FollowingBrowser(incoming))
          : reject(new Error(`A stream is answered ${incoming.statusCode}.`)),
      )
      request.on('error', reject)
    })
  }

  /** Resolves once an event with this name has come. */
  hears(dataId: string): Promise<void> {
    return new Promise((resolve) => {
      this.#awaited = { text: `"${dataId}"`, heard: resolve }
    })
  }

  close(): void {
    this.#incoming.destroy()
  }
}

function refuseExcess(found: Figures, budget: Figures): void {
  const over = Object.entries(budget).filter(([name, most]) => found[name]! > most)
  if (over.length === 0) return
  const all = Object.entries(found).map(([name, value]) => `${name} ${value.toFixed(1)}`)
  const which = over.map(([name, most]) => `${name} (at most ${most})`).join(', ')
  throw new Error(`Over the budget: ${which}. All: ${all.join(', ')}`)
}
