import { setTimeout as sleep } from 'node:timers/promises'
import { requestPaths } from '../paths.ts'
import type { Bench, Extent, Figures, Scenario } from '../scenario.ts'
import { lengthOf, loadOnce } from '../scenario.ts'
import { directoryFor, type LaunchOptions, type Target } from '../target.ts'
import { prepareLists, publishBesideLists } from './beside-lists.ts'
import { moderateLoad } from './moderate-load.ts'

/** The data of a server before the measurement. */
interface Amounts {
  readonly items: number
  readonly publishes: number
}

const amountsOf = ({ quick }: Extent): Amounts =>
  quick ? { items: 5_000, publishes: 50_000 } : { items: 20_000, publishes: 200_000 }

/** Does the work, or waits for it, until `over` is true. Returns figures that prove it. */
type Work = (target: Target, amounts: Amounts, over: () => boolean) => Promise<Figures>

/** Background work of the server: its settings, and the function that starts or watches it. */
interface OwnWork {
  readonly name: string
  readonly about: string
  readonly settings: NonNullable<LaunchOptions['settings']>
  readonly work: Work
  /** A publisher who is alone follows the load. */
  readonly hasLonePublisher?: boolean
}

const WORKS: readonly OwnWork[] = [
  {
    name: 'backup',
    about:
      'backups are made one after the other; then one publisher on one connection beside 2,000 lists a second',
    settings: {},
    work: backUp,
    hasLonePublisher: true,
  },
  {
    name: 'cleaning',
    about: 'expired history is removed',
    settings: { 'history-retention': '0ms', 'history-keep': '1', 'history-clean-interval': '2s' },
    work: awaitCleaning,
  },
]

/** A load during background work of the server. */
export const besideWork: readonly Scenario[] = WORKS.map((own) => ({
  name: `beside-${own.name}`,
  about: `1,000 reads, 1,000 lists and 200 publishes a second in open loop, 20,000 items with 200,000 history records, while ${own.about}`,
  kinds: ['ours'],
  rounds: 1,
  notQuick: true,
  measure: (like, bench) => fillAndWork(like, bench, own),
}))

async function fillAndWork(like: Target, bench: Bench, own: OwnWork): Promise<Figures> {
  const launch = bench.launches[like.name]!
  const amounts = amountsOf(bench)
  const data = directoryFor()
  try {
    const quiet = await filledAndQuiet(
      await launch({ dataDir: data.path, settings: FILLING }),
      bench,
      amounts,
    )
    const target = await launch({ dataDir: data.path, settings: own.settings })
    return { ...quiet, ...(await loadedWith(target, bench, { own, amounts }).finally(() => target.stop())) }
  } finally {
    data.remove()
  }
}

/** Only rounds of cleaning move the clock of the history. These rounds have nothing to remove. */
const FILLING = { 'history-clean-interval': '1s' }

/** Fills a server, then measures the same load without background work. */
async function filledAndQuiet(target: Target, bench: Bench, { items, publishes }: Amounts): Promise<Figures> {
  const { base } = target
  const stream = { kind: 'publish', base: 'filled', count: items } as const
  try {
    await loadOnce({ job: 'closed-loop', base, stream, connections: 64, requests: publishes })
    const { read, loop } = await moderateLoad(target, items, lengthOf(bench, { quick: 3, full: 5 }))
    return { 'read p99 ms before': read['read p99 ms']!, 'loop p99 ms before': loop['loop p99 ms']! }
  } finally {
    await target.stop()
  }
}

async function loadedWith(
  target: Target,
  bench: Bench,
  { own, amounts }: { own: OwnWork; amounts: Amounts },
): Promise<Figures> {
  let over = false
  const working = own.work(target, amounts, () => over)
  const loading = loadOf(target, bench, { own, amounts }).finally(() => (over = true))
  const [proof, load] = await Promise.all([working, loading])
  return { ...load, ...proof }
}

async function loadOf(
  target: Target,
  bench: Bench,
  { own, amounts }: { own: OwnWork; amounts: Amounts },
): Promise<Figures> {
  const felt = await moderateLoad(target, amounts.items, lengthOf(bench, { quick: 5, full: 15 }))
  const load = { ...felt.read, ...felt.others, ...felt.loop }
  if (!own.hasLonePublisher) return load
  await prepareLists(target)
  const { p50Ms, p99Ms } = await publishBesideLists(target, lengthOf(bench, { quick: 3, full: 10 }))
  return { ...load, 'lone publish p50 ms': p50Ms, 'lone publish p99 ms': p99Ms }
}

/** Requests one backup after the other until the load is over. */
async function backUp({ base }: Target, _: Amounts, over: () => boolean): Promise<Figures> {
  let backups = 0
  let size = 0
  const began = performance.now()
  // A server keeps at most ten.
  while (!over() && backups < 10) {
    const answer = await fetch(requestPaths(base).backup, { method: 'POST' })
    const made = (await answer.json()) as { size?: number; detail?: string }
    if (!answer.ok) throw new Error(`No backup: ${made.detail ?? answer.status}`)
    backups++
    size = made.size ?? 0
  }
  const seconds = (performance.now() - began) / 1_000
  return { backups, 's each': seconds / backups, 'MB each': size / 1e6 }
}

const SAMPLES = 100
const LOOK_MS = 1_000

/** Watches how much history is left, because the server cleans by itself. */
async function awaitCleaning(target: Target, amounts: Amounts, over: () => boolean): Promise<Figures> {
  const before = amounts.publishes
  let left = before
  let lastedMs = 0
  const began = performance.now()
  while (!over()) {
    await sleep(LOOK_MS)
    const found = await historyLeft(target, amounts)
    // Only the newest record of each item is left.
    if (left > amounts.items) lastedMs = performance.now() - began
    left = found
  }
  if (left === before) throw new Error('No history was removed.')
  return { 'records before': before, 'records after': left, 'cleaning s': lastedMs / 1_000 }
}

/** The number of its history records, estimated from a sample of the items. */
async function historyLeft({ base }: Target, { items }: Amounts): Promise<number> {
  const { history } = requestPaths(base)
  let found = 0
  for (let sample = 0; sample < SAMPLES; sample++) {
    const item = `dataId=filled-${Math.floor((sample * items) / SAMPLES)}&group=DEFAULT_GROUP`
    const answer = await fetch(`${history}?search=accurate&pageSize=1&${item}`)
    found += ((await answer.json()) as { totalCount: number }).totalCount
  }
  return (found * items) / SAMPLES
}
