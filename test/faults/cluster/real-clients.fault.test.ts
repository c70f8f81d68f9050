/** Real libraries at three servers on three members of etcd, under one fault after the other (docs/reliability.md). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prepare, PREPARE_LIMIT_MS } from '../../clients/prepared-program.ts'
import { ETCD_HOOK_MS } from '../../support/etcd.ts'
import { needTool } from '../../support/need-tool.ts'
import { fitting, isLong, report } from '../fault-run.ts'
import { anyOf } from './libraries/asking.ts'
import { LIBRARY_STRIKES, type LibraryStrike } from './libraries/library-strikes.ts'
import { ListWatch } from './libraries/list-watch.ts'
import { duringOf, Participant, type Verdict } from './libraries/participant.ts'
import { participantsAt, PROGRAMS } from './libraries/participants.ts'
import { Balancer } from './network/balancer.ts'
import { startStruckCluster, type StruckCluster } from './network/struck-cluster.ts'
import { holds, isWhole, seconds } from './strikes/scene.ts'

const tools = needTool('go', 'java', 'javac', 'mvn', 'node', 'npm', 'python3')
/** /proc and addresses of loopback such as 127.0.1.1 are needed. The libraries take minutes: they are only in the long form. */
const isAble = !tools.skip && process.platform === 'linux' && isLong
const note = isAble ? '' : ` (${tools.reason || 'only on Linux, and in the long form'})`
const STRIKE_LIMIT_MS = 300_000
/** About the time that a strike takes, s. */
const STRIKE_S = 30

let cluster: StruckCluster
let balancer: Balancer
let participants: readonly Participant[] = []
let lists: ListWatch

describe.skipIf(!isAble)(`real libraries at three servers on etcd${note}`, () => {
  beforeAll(async () => {
    for (const program of PROGRAMS) await prepare(program)
  }, PREPARE_LIMIT_MS * 2)

  beforeAll(async () => {
    cluster = await startStruckCluster()
    await holds('all servers are ready', () => isWhole(cluster))
    const urls = cluster.servers.map(({ url }) => url)
    const hosts = urls.map((url) => new URL(url).host)
    balancer = await Balancer.start(urls.map((url) => Number(new URL(url).port)))
    participants = await Promise.all(
      participantsAt({ hosts, balancer: `127.0.0.1:${balancer.port}` }).map((spec) =>
        Participant.start(spec, anyOf(urls)),
      ),
    )
    lists = new ListWatch(
      urls,
      participants.map(({ service }) => service),
    )
  }, ETCD_HOOK_MS)

  afterAll(async () => {
    await lists?.stop()
    report(`real clients: ${participants.length} programs, ${lists?.lists} lists of their services`)
    await Promise.all(participants.map((each) => each.stop()))
    await balancer?.stop()
    await cluster?.stop()
  }, STRIKE_LIMIT_MS)

  for (const [number, strike] of fitting(LIBRARY_STRIKES, STRIKE_S).entries())
    test(`${strike.title}`, { timeout: STRIKE_LIMIT_MS }, () => endure(number, strike))
})

/** Strikes, waits until everything is whole, and looks at each library. */
async function endure(number: number, { title, run }: LibraryStrike): Promise<void> {
  const fromMs = performance.now()
  let hasPublished = false
  await run(cluster, async () => {
    await Promise.all(participants.map((each) => each.change(duringOf(number))))
    hasPublished = true
  })
  const wholeMs = await holds('all servers are whole again', () => isWhole(cluster))
  const round = { number, fromMs, lists, hasPublished }
  const verdicts = new Map<Participant, Verdict>()
  await Promise.all(participants.map(async (each) => void verdicts.set(each, await each.judge(round))))
  report(`real clients: ${title}: whole ${seconds(wholeMs)} after the end; ${slowest(verdicts)}`)
  expect([...verdicts.values()].flatMap(({ wrong }) => wrong)).toEqual([])
}

/** For each aspect the participant that it took longest, with the time. */
function slowest(verdicts: ReadonlyMap<Participant, Verdict>): string {
  const texts = new Map<string, { ms: number; text: string }>()
  for (const [{ spec }, { tookMs }] of verdicts)
    for (const [aspect, ms] of tookMs)
      if (ms > (texts.get(aspect)?.ms ?? -1))
        texts.set(aspect, { ms, text: `${aspect}: ${seconds(ms)} (${spec.name})` })
  return [...texts.values()].map(({ text }) => text).join(', ')
}
