/** Three servers on three members of etcd under every kind of fault (docs/reliability.md). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ETCD_HOOK_MS, etcdTools } from '../../support/etcd.ts'
import { isNightly } from '../../support/nightly.ts'
import { fitting, isLong, report, seed } from '../fault-run.ts'
import { equalPictures, haveOneOrder } from './check/equal-servers.ts'
import { connectedIn, pictureOf } from './check/final-state.ts'
import { longestGaps, shownGaps, type Window } from './check/service-gaps.ts'
import { type ClusterLoad, startClusterLoad } from './load/load.ts'
import type { ListOfService } from './load/recording.ts'
import { EtcdProbe } from './network/etcd-probe.ts'
import { startStruckCluster, type StruckCluster } from './network/struck-cluster.ts'
import { CONNECTION_STRIKES } from './strikes/connections.ts'
import { CUT_STRIKES } from './strikes/cuts.ts'
import { PROCESS_STRIKES } from './strikes/processes.ts'
import { holds, isWhole, metricOf, type Scene, seconds, SLACK, type Strike } from './strikes/scene.ts'
import { leftBehind, missingConnected } from './strikes/connected-verdict.ts'
import * as verdict from './strikes/verdict.ts'

/** /proc and addresses of loopback such as 127.0.1.1 are needed. */
const isLinux = process.platform === 'linux'
const note = etcdTools.skip ? ` (${etcdTools.reason})` : isLinux ? '' : ' (only on Linux)'
const STRIKE_LIMIT_MS = 240_000
/** About the time that a strike of the long form takes, s. */
const STRIKE_S = 30
const strikes = chosenStrikes()
/** A change is answered so soon, whatever has happened to etcd; besides, a busy machine adds its own. */
const ANSWER_MS = 2_000
const BUSY_MS = 500
const SETTLE_MS = 2_000
/** The time until the leftovers of an orderly end of a connection are gone. */
const CLOSED_MS = 1_000
/** Leftovers that a server could not remove are kept for 40 s after its lease of 10 s has ended. */
const LEFT_MS = 55_000
const MOST_SHOWN = 10

let cluster: StruckCluster
let load: ClusterLoad
let probe: EtcdProbe

describe.skipIf(etcdTools.skip || !isLinux)(`three servers on etcd under load${note}`, () => {
  beforeAll(async () => {
    cluster = await startStruckCluster()
    await holds('all servers are ready', () => isWhole(cluster))
    const urls = cluster.servers.map(({ url }) => url)
    const grpcPorts = cluster.servers.map(({ grpcPort }) => grpcPort)
    load = await startClusterLoad({ urls, grpcPorts }, seed)
    probe = new EtcdProbe(cluster.etcd)
    await holds('all connected instances are registered', () =>
      load.connected.every(({ sinceMs }) => sinceMs !== undefined),
    )
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  }, ETCD_HOOK_MS)

  afterAll(async () => {
    await probe?.stop()
    await load?.stop()
    await cluster?.stop()
  }, STRIKE_LIMIT_MS)

  for (const strike of strikes)
    test(`${strike.name}`, { timeout: STRIKE_LIMIT_MS }, async () => endure(strike))

  test(
    'at the end all writes have one order, and all servers show the same',
    { timeout: 600_000 },
    async () => {
      // The instances of a lost server are kept for 40 s.
      if (isLong || isNightly) await onlyKeptAreListed()
      reportAll(await haveOneOrder(load, await equalPictures({ cluster, load })))
    },
  )
})

/** The strikes of the form of this run. */
function chosenStrikes(): readonly Strike[] {
  const all = [...PROCESS_STRIKES, ...CUT_STRIKES, ...CONNECTION_STRIKES]
  if (isLong) return fitting(all, STRIKE_S)
  return all.filter(({ form }) => form === 'change' || (form === 'night' && isNightly))
}

/** Strikes, waits until everything is whole, and looks at what clients saw meanwhile. */
async function endure(strike: Strike): Promise<void> {
  const notes: string[] = []
  const scene: Scene = { cluster, load, note: (text) => void notes.push(text) }
  const struck = strike.struck(scene)
  const fromMs = performance.now()
  await strike.run(scene)
  const wholeMs = await holds('all servers are whole again', () => isWhole(cluster))
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
  const window = { fromMs, toMs: performance.now() }
  notes.push(`whole ${seconds(wholeMs)} after the end`)
  const { operations, lists, connected } = load.recording
  const slowestMs = verdict.slowestChange(operations, window, strike.name.includes('SIGSTOP') ? struck : [])
  notes.push(`slowest answer to a change ${seconds(slowestMs)}`, outcomesIn(window))
  const slow = probe.slow.filter(({ begunMs }) => begunMs >= fromMs).length
  if (strike.isHiddenFromOthers === true && slow > 0) notes.push(`etcd or the machine was slow ${slow} times`)
  reportStrike(strike, { struck, window, notes })
  const own = lists.filter(({ begunMs }) => begunMs >= fromMs)
  expect(verdict.missingInstances(own, load.steady).slice(0, MOST_SHOWN)).toEqual([])
  const ownConnected = connected.filter(({ begunMs }) => begunMs >= fromMs)
  expect(missingConnected(ownConnected, load.connected).slice(0, MOST_SHOWN)).toEqual([])
  if (strike.isHiddenFromOthers === true && slow === 0)
    expect.soft(lateInLists(ownConnected, window, struck).slice(0, MOST_SHOWN)).toEqual([])
  const mayBeUnready = strike.staysReady === true ? [] : struck
  expect
    .soft(verdict.unready(load.recording.readiness, window, mayBeUnready).slice(0, MOST_SHOWN))
    .toEqual([])
  // When etcd itself does not write in time, clients may notice that.
  const healthy = operations.filter((each) => each.begunMs < fromMs || !probe.wasSlow(each))
  if (strike.isHiddenFromOthers === true)
    expect.soft(verdict.noticed(healthy, window, struck).slice(0, MOST_SHOWN)).toEqual([])
  expect.soft(slowestMs).toBeLessThan((ANSWER_MS + BUSY_MS) * SLACK)
  for (const server of cluster.servers)
    for (const metric of ['waypost_instances_restored_total', 'waypost_store_drifts_total'])
      await expect.poll(() => metricOf(server, metric), { message: `${metric} of ${server.name}` }).toBe(0)
  await equalPictures({ cluster, load })
}

/** Instances that were listed though their connection had been closed in order, at servers that were not struck. */
function lateInLists(
  lists: readonly ListOfService[],
  { fromMs }: Window,
  struck: readonly number[],
): readonly string[] {
  const ofWindow = load.passing.flatMap((lane) => lane.closed.filter(({ closedMs }) => closedMs >= fromMs))
  const refused = load.recording.operations.filter(
    (each) => each.outcome === 'refused' && each.endedMs >= fromMs,
  )
  // A server that cannot write then keeps them for a while: their clients may not have been able to register elsewhere.
  const closed = ofWindow.filter(({ closedMs }) =>
    refused.every(({ begunMs, endedMs }) => endedMs < closedMs || begunMs > closedMs + CLOSED_MS * SLACK),
  )
  return leftBehind(lists, closed, { struck, limitMs: CLOSED_MS * SLACK })
}

/** When no more clients come and leave, the instances of clients that have left go, also where they could not be removed. */
async function onlyKeptAreListed(): Promise<void> {
  await load.pause()
  try {
    const kept = load.connected.map(({ address }) => address).sort()
    const areAlone = async (): Promise<boolean> => {
      const pictures = await Promise.all(cluster.servers.map(({ url }) => pictureOf(url, [])))
      return pictures.every((picture) => connectedIn(picture).join() === kept.join())
    }
    const tookMs = await holds('only live connections have instances', areAlone, LEFT_MS * SLACK)
    report(`cluster: only live connections had instances after ${seconds(tookMs)}`)
    // The servers count exactly the listed instances: nothing is forgotten inside.
    const sumOf = async (metric: string): Promise<number> => {
      const figures = await Promise.all(cluster.servers.map((server) => metricOf(server, metric)))
      return figures.reduce<number>((sum, figure) => sum + (figure ?? NaN), 0)
    }
    const areCounted = async (): Promise<boolean> =>
      (await sumOf('waypost_connection_instances')) === kept.length &&
      (await sumOf('waypost_connection_changes_waiting')) === 0 &&
      (await sumOf('waypost_orphaned_instances')) === 0
    await holds('their servers count them, and nothing else', areCounted, LEFT_MS * SLACK)
  } finally {
    load.resume()
  }
}

/** How many changes were not acknowledged. */
function outcomesIn({ fromMs, toMs }: Window): string {
  const own = load.recording.operations.filter(({ begunMs }) => begunMs >= fromMs && begunMs <= toMs)
  const count = (outcome: string): number =>
    own.filter((each) => each.outcome === outcome && each.kind !== 'beat').length
  return `${count('refused')} requests refused, ${count('unknown')} unknown`
}

interface Endured {
  readonly struck: readonly number[]
  readonly window: Window
  readonly notes: readonly string[]
}

function reportStrike({ name }: Strike, { struck, window, notes }: Endured): void {
  const { operations } = load.recording
  const at = (isAsked: (server: number) => boolean): string =>
    shownGaps(longestGaps(operations, window, isAsked))
  const there = struck.length === 0 ? '' : `; there: ${at((server) => struck.includes(server))}`
  const elsewhere = struck.length === 3 ? '' : `; elsewhere: ${at((server) => !struck.includes(server))}`
  report(`cluster: ${name}: ${notes.join(', ')}; longest time without a success in s${there}${elsewhere}`)
}

function reportAll(records: number): void {
  const { operations, lists } = load.recording
  const count = (outcome: string): number => operations.filter((each) => each.outcome === outcome).length
  report(
    `cluster: ${strikes.length} strikes, ${operations.length} operations (${count('ok')} ok, ${count('changed')} changed, ` +
      `${count('refused')} refused, ${count('unknown')} unknown), ${records} history records, ${lists.length} lists of ` +
      `${load.steady.length} beating instances`,
  )
}
