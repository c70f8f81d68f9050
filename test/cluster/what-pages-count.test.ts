/** Pages count the servers and clients of the whole cluster, whichever server answers. */
import { afterAll, expect, test } from 'vitest'
import { clientsOf, md5, until } from '../interface/client.ts'
import { clusterForTests } from '../support/cluster.ts'
import { describeOnEtcd } from '../support/etcd.ts'
import { connectGrpc, type GrpcClient } from '../support/grpc-client.ts'

/** Servers ask each other every 2 s, and wait 1 s for an answer; the rest is for a busy machine. */
const NEAR_MS = 6_000
/** A lease ends after 10 s. */
const LEASE_MS = 40_000

interface Member {
  readonly alive: boolean
  readonly replies: boolean
  readonly lastRefMs: number
}

describeOnEtcd('pages of three servers', 120_000, () => {
  const cluster = clusterForTests()
  const open: GrpcClient[] = []
  afterAll(async () => {
    await Promise.all(open.map((client) => client.close()))
  })

  const svcOf = (server: number) => clientsOf(cluster.servers[server]!.url).svc
  const idOf = (server: number): string => `127.0.0.1:${cluster.servers[server]!.port}`
  const poll = (server: number, dataId: string, agent: string) =>
    svcOf(server).post(
      '/cs/configs/listener',
      { 'Listening-Configs': `${dataId}\u0002G\u0002${md5('x')}\u0001` },
      { 'Long-Pulling-Timeout': '60000', 'User-Agent': agent },
    )
  async function listen(server: number, dataId: string): Promise<void> {
    const client = await connectGrpc(cluster.servers[server]!)
    open.push(client)
    const configListenContexts = [{ dataId, group: 'G', tenant: '', md5: md5('x') }]
    await client.ask('ConfigBatchListenRequest', { listen: true, configListenContexts })
  }
  const counts = async (server: number) => {
    const { pageItems, missingServers } = (await svcOf(server).get('/console/configs')).json()
    const named = pageItems.map((item: { dataId: string; watcherCount: number }) => [
      item.dataId,
      item.watcherCount,
    ])
    return { named: Object.fromEntries(named) as Record<string, number>, missingServers }
  }
  const shownOf = async (server: number, dataId: string) =>
    (await svcOf(server).get('/console/config/watchers', { dataId, group: 'G' })).json().count

  test('the list counts as many clients of an item as its own view, also several of one address', async () => {
    for (const dataId of ['three', 'five', 'none'])
      await svcOf(0).post('/cs/configs', { dataId, group: 'G', content: 'x' })
    // They are cut when the servers stop.
    for (const server of [0, 0, 1]) poll(server, 'five', 'library').catch(() => undefined)
    for (const server of [1, 2]) await listen(server, 'five')
    for (const server of [0, 0, 2]) await listen(server, 'three')
    for (const server of [0, 1, 2]) {
      const { named } = await until(
        () => counts(server),
        (seen) => seen.named['five'] === 5 && seen.named['three'] === 3 && seen.missingServers.length === 0,
      )
      expect(named).toEqual({ three: 3, five: 5, none: 0 })
      for (const [dataId, count] of Object.entries(named)) expect(await shownOf(server, dataId)).toBe(count)
    }
  })

  test('a killed server last answered before it was killed, on all servers and on both pages', async () => {
    const members = async (server: number): Promise<Map<string, Member>> => {
      const { servers } = (await svcOf(server).get('/ns/operator/servers')).json()
      return new Map(
        servers.map((one: { key: string; lastRefTime: number } & Member) => [
          one.key,
          { alive: one.alive, replies: one.replies, lastRefMs: one.lastRefTime },
        ]),
      )
    }
    const overview = async (server: number) => (await svcOf(server).get('/console/overview')).json()
    await until(
      () => members(0),
      (all) => [...all.values()].every(({ lastRefMs }) => Date.now() - lastRefMs < NEAR_MS),
    )
    await cluster.servers[2]!.kill()
    const killedMs = Date.now()
    await expect.poll(async () => (await counts(0)).missingServers).toEqual([idOf(2)])
    for (const server of [0, 1]) {
      const silent = await until(
        () => members(server),
        (all) => all.get(idOf(2))?.replies === false,
      )
      expect(silent.get(idOf(server))).toMatchObject({ alive: true, replies: true })
    }
    const gone = await until(
      () => members(0),
      (all) => all.get(idOf(2))?.alive === false,
      LEASE_MS,
    )
    const lastMs = gone.get(idOf(2))!.lastRefMs
    expect(Math.abs(killedMs - lastMs)).toBeLessThan(NEAR_MS)
    expect(lastMs).toBeLessThanOrEqual(killedMs + 100)
    // A server that starts now learns when it was, from the others.
    await cluster.join()
    for (const server of [0, 1, 3]) {
      const all = await until(
        () => members(server),
        (found) => Math.abs((found.get(idOf(2))?.lastRefMs ?? 0) - lastMs) < 1_000,
      )
      expect(all.get(idOf(2))).toMatchObject({ alive: false, replies: false })
      expect(Date.now() - all.get(idOf(server))!.lastRefMs).toBeLessThan(NEAR_MS)
      const shown: ({ ip: string; port: number } & Member)[] = (await overview(server)).members
      const same = shown.find(({ port }) => port === cluster.servers[2]!.port)!
      expect(same).toMatchObject({ alive: false, replies: false })
      expect(Math.abs(same.lastRefMs - lastMs)).toBeLessThan(1_000)
    }
  })
})
