/** The reports of several servers about each other: `GET /svc/v1/operator/cluster`, and the log. */
import { expect, test } from 'vitest'
import { Client, clientsOf, type Json, until } from '../interface/client.ts'
import { describeOnEtcd } from '../support/etcd.ts'
import { clusterForTests } from '../support/cluster.ts'
import { runWaypost, startWaypost, type Waypost } from '../support/waypost.ts'

const LIMIT_MS = 60_000

const cluster = clusterForTests({ servers: 2 })
const membersAt = async ({ url }: Waypost): Promise<Json[]> =>
  (await clientsOf(url).svc.get('/operator/cluster')).json().members
const keyOf = ({ port }: Waypost): string => `127.0.0.1:${port}`
/** The members that a server lists, and whether each is alive. */
const seenBy = async (server: Waypost): Promise<Record<string, boolean>> =>
  Object.fromEntries((await membersAt(server)).map(({ key, alive }) => [key, alive]))

describeOnEtcd('several servers', 2 * LIMIT_MS, () => {
  test('report what they understand, how far they are, which others answer and what they judge', async () => {
    const [one, two] = cluster.servers as [Waypost, Waypost]
    await clientsOf(one.url).svc.post('/ns/instance', { serviceName: 'orders', ip: '10.0.0.1', port: 1 })
    const members = await until(
      () => membersAt(one),
      (all) => all.every(({ report }) => report?.hears[0]?.replies === true && report.leaseMs > 0),
      LIMIT_MS,
    )
    expect(members.map(({ key, self }) => [key, self]).sort()).toEqual(
      [
        [keyOf(one), true],
        [keyOf(two), false],
      ].sort(),
    )
    expect(members.filter(({ elected }) => elected)).toHaveLength(1)
    const judged = members.map(({ report }) => report.judgedInstances as number)
    expect(judged[0]! + judged[1]!).toBe(1)
    for (const { version, layouts, messages, alive, report, figures } of members) {
      expect(figures.storeBytes).toBeGreaterThan(0)
      expect(figures.lines.memoryBytes.length).toBeLessThanOrEqual(180)
      expect([version, layouts.from, messages.from, alive]).toEqual([expect.any(String), 4, 4, true])
      expect(report).toMatchObject({ standing: 'member', layout: 4, reloads: 0 })
      expect(report.newestRevision).toBeGreaterThanOrEqual(report.revision)
      expect(report.revision).toBeGreaterThan(0)
    }
  })

  test('are listed by `waypost server list` with the same', async () => {
    const [one, two] = cluster.servers as [Waypost, Waypost]
    const listed = (...words: string[]) => runWaypost(['server', 'list', '--url', one.url, ...words])
    const { stdout, stderr } = await until(
      () => listed(),
      ({ stdout: text }) => text.split('\n').filter((line) => / yes +yes /.test(line)).length === 2,
      LIMIT_MS,
    )
    expect(stderr).toBe('')
    expect(stdout).toMatch(/^SERVER +SITE +ALIVE +REPLIES +VERSION +UP FOR +BEHIND +CLOCK +JUDGES +MISSES/)
    for (const server of [one, two]) expect(stdout).toContain(keyOf(server))
    // Clocks are compared every five seconds, and not before the others are there.
    const all = await until(
      async () => JSON.parse((await listed('-o', 'json')).stdout) as Json[],
      (rows) => rows.every(({ member }) => member.clockAheadMs !== undefined),
      LIMIT_MS,
    )
    expect(all.map(({ member }) => Math.abs(member.clockAheadMs) < 60_000)).toEqual([true, true])
  })

  test('are listed for clients with an endpoint, with the ends of lines that each library splits', async () => {
    const [one, two] = cluster.servers as [Waypost, Waypost]
    const both = [keyOf(one), keyOf(two)].toSorted()
    for (const { url } of [one, two]) {
      const list = (agent: string) => new Client(url).get('/nacos/serverlist', {}, { 'user-agent': agent })
      expect((await list('python-client')).text).toBe(both.join('\n'))
      expect((await list('Nacos-Java-Client:v1.4.8')).text).toBe(both.join('\r\n'))
    }
  })

  test('say which one comes, and which one goes, with what to do', async () => {
    const [one] = cluster.servers as [Waypost]
    const third = await cluster.join()
    await until(
      () => seenBy(one),
      (seen) => seen[keyOf(third)] === true,
      LIMIT_MS,
    )
    await until(
      async () => one.output(),
      (text) => text.includes('a server has joined'),
      LIMIT_MS,
    )
    await third.kill()
    await until(
      () => seenBy(one),
      (seen) => seen[keyOf(third)] === false,
      LIMIT_MS,
    )
    const gone = (await membersAt(one)).find(({ key }) => key === keyOf(third))
    expect(gone).toMatchObject({ alive: false })
    expect(gone).not.toHaveProperty('report')
    expect((await new Client(one.url).get('/nacos/serverlist')).text).not.toContain(keyOf(third))
    await until(
      async () => one.output(),
      (text) => text.includes('look at its log and its machine'),
      LIMIT_MS,
    )
  })
})

test('a server that is alone reports itself', async () => {
  const server = await startWaypost()
  expect(await membersAt(server)).toMatchObject([
    { key: keyOf(server), version: expect.any(String), alive: true, self: true, elected: true },
  ])
  await server.stop()
})
