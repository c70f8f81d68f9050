/** Several servers whose clocks are an hour apart, and jump (docs/promises.md, Clocks). */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Client, clientsOf, type Json, until } from '../../interface/client.ts'
import { ETCD_HOOK_MS, type Etcd, etcdTools, startEtcd } from '../../support/etcd.ts'
import { needTool } from '../../support/need-tool.ts'
import { isNightly } from '../../support/nightly.ts'
import { freePort, startWaypost, type Waypost } from '../../support/waypost.ts'
import { isLong, report } from '../fault-run.ts'
import { type BeatingInstances, startBeating } from '../load/beating-instances.ts'
import { SettableClock } from '../shims/settable-clock.ts'

const gcc = needTool('gcc')
const skip = etcdTools.skip || gcc.skip
const note = skip ? ` (${etcdTools.reason || gcc.reason})` : ''
const HOUR = 3_600_000
const LIMIT_MS = 60_000
/** How long the servers are watched after each jump: longer than silence may last. */
const WATCHED_MS = isLong ? 20_000 : 6_000
const BEATS = { beatMs: 400, unhealthyMs: 3_500, removeMs: 5_000 }
const HISTORY = 12
const ITEM = { dataId: 'item', group: 'G' }
/** The first server is right. The last one is the one that jumps. */
const OFFSETS = [0, -HOUR, HOUR]
const ALL_JUMPS = [
  { name: 'an hour apart', offsetMs: HOUR },
  { name: 'back by an hour', offsetMs: 0 },
  { name: 'behind by an hour', offsetMs: -HOUR, isShort: true },
  { name: 'an hour ahead again', offsetMs: HOUR, isShort: true },
]
const JUMPS = ALL_JUMPS.filter(({ isShort }) => isShort || isLong || isNightly)

let etcd: Etcd
const clocks: SettableClock[] = []
const servers: Waypost[] = []
let clients: Client[] = []
const beating: BeatingInstances[] = []
/** The largest id that any server has given, and the last lastRefTime of each server. */
const seen = { id: 0, writes: 0, lastRefTimes: [0, 0, 0] }

async function startServer(offsetMs: number): Promise<void> {
  const clock = new SettableClock(offsetMs)
  clocks.push(clock)
  const settings = {
    store: 'etcd',
    'etcd-endpoints': etcd.endpoints.join(','),
    'etcd-prefix': 'clocks',
    'peer-port': await freePort(),
    // History would be empty at once if it aged by a clock that jumps.
    'history-retention': '30m',
    'history-keep': 0,
    'history-clean-interval': '1s',
  }
  servers.push(await startWaypost({ settings, env: clock.env }))
}

const nameOf = ({ port }: Waypost): string => `127.0.0.1:${port}`
const historyAt = async (client: Client, pageSize: number): Promise<Json> =>
  (await client.get('/cs/history', { search: 'accurate', ...ITEM, pageSize })).json()

/** One change at one server, and the answers of all servers after it. */
async function changeAt(client: Client, name: string): Promise<void> {
  const content = `${name} ${seen.writes++}`
  expect((await client.post('/cs/configs', { ...ITEM, content })).text, name).toBe('true')
  const newest = (await historyAt(client, 1)).pageItems[0]
  const id = Number(newest.id)
  expect(id, `${name}: the id of a record`).toBeGreaterThan(seen.id)
  seen.id = id
  const weight = 1 + (seen.writes % 100)
  const change = { serviceName: 'fixed', ip: '127.0.0.4', port: 1, ephemeral: false, weight }
  expect((await client.post('/ns/instance', change)).text, name).toBe('ok')
}

async function lookAtLists(name: string): Promise<void> {
  for (const [index, client] of clients.entries()) {
    const fixed: Json = (await client.get('/ns/instance/list', { serviceName: 'fixed' })).json()
    expect(fixed.lastRefTime, `${name}: lastRefTime`).toBeGreaterThanOrEqual(seen.lastRefTimes[index]!)
    seen.lastRefTimes[index] = fixed.lastRefTime
    for (const [number, instances] of beating.entries()) {
      const list: Json = (await client.get('/ns/instance/list', { serviceName: `live-${number}` })).json()
      expect(instances.missingIn(list.hosts), `${name}: at server ${index}`).toEqual([])
    }
  }
}

async function silentAt({ url }: Waypost): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return [...text.matchAll(/^waypost_instances_silent_total.* (\d+)$/gm)].reduce((sum, [, n]) => sum + +n!, 0)
}

/** The members whose clocks are apart, as a server has last said. While there are two servers, each names the other. */
function reportedBy(server: Waypost): Set<string> {
  const apart = new Set<string>()
  for (const line of server.output().split('\n')) {
    const member = /"member":"([^"]+)".*the clock of a server is /.exec(line)?.[1]
    if (member === undefined) continue
    if (line.includes('is apart')) apart.add(member)
    else apart.delete(member)
  }
  return apart
}

describe.skipIf(skip)(`servers whose clocks are an hour apart${note}`, { timeout: 4 * LIMIT_MS }, () => {
  beforeAll(async () => {
    etcd = await startEtcd()
    for (const offsetMs of OFFSETS) await startServer(offsetMs)
    clients = servers.map(({ url }) => clientsOf(url).svc)
    for (let n = 0; n < HISTORY; n++) await changeAt(clients[n % clients.length]!, 'before')
    for (const [number, client] of clients.entries())
      beating.push(await startBeating(client, `live-${number}`, { count: 5, times: BEATS }))
  }, ETCD_HOOK_MS)
  afterAll(async () => {
    await Promise.all(beating.map((instances) => instances.stop()))
    await Promise.all(servers.map((server) => server.kill()))
    await etcd?.stop()
    for (const clock of clocks) clock.close()
  })

  test('say which ones are apart, and by how much', async () => {
    const [right, behind, ahead] = servers as [Waypost, Waypost, Waypost]
    const expected = [nameOf(behind), nameOf(ahead)].sort()
    for (const server of servers)
      await until(
        async () => [...reportedBy(server)].sort(),
        (names) => names.join() === expected.join(),
        LIMIT_MS,
      )
    const { members } = (await clientsOf(right.url).svc.get('/operator/cluster')).json() as Json
    const hours = new Map(
      members.map(({ key, clockAheadMs }: Json) => [key, Math.round(clockAheadMs / HOUR)]),
    )
    expect(servers.map((server) => hours.get(nameOf(server)))).toEqual([0, -1, 1])
    const metrics = await (await fetch(`${ahead.url}/metrics`)).text()
    expect(metrics).toMatch(/^waypost_clock_ahead_seconds 3(?:600|599)/m)
  })

  test.each(JUMPS)('turn nothing back, touch no instance and age no history: $name', async (jump) => {
    clocks.at(-1)!.set(jump.offsetMs)
    const end = performance.now() + WATCHED_MS
    while (performance.now() < end) {
      for (const client of clients) await changeAt(client, jump.name)
      await lookAtLists(jump.name)
      await sleep(100)
    }
    expect(beating.flatMap(({ failures }) => failures)).toEqual([])
    for (const { judged } of beating) expect(judged).toBeGreaterThan(0)
    expect(await Promise.all(servers.map(silentAt))).toEqual([0, 0, 0])
    for (const client of clients)
      await until(
        () => historyAt(client, 1),
        ({ totalCount }) => totalCount === seen.writes,
        LIMIT_MS,
      )
    report(`clocks of a cluster, ${jump.name}: ${seen.writes} changes, no id and no lastRefTime back`)
  })
})
