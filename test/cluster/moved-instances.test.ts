/**
 * Instances that one server of several has imported in a swap: all list them, later than the old server did, and they wait for
 * their clients.
 */
import { beforeAll, expect, test, vi } from 'vitest'
import { managedBy } from '../support/administrator.ts'
import { clusterForTests } from '../support/cluster.ts'
import { describeOnEtcd, ETCD_HOOK_MS } from '../support/etcd.ts'
import { instanceLine, PLAN_HEAD, planOf, sendPlan } from '../support/plan-lines.ts'

const AHEAD_MS = 30_000
/** Instances wait for 40 s, and a lease ends after 10 s. */
const LONG = { timeout: 120_000, interval: 500 }

describeOnEtcd('a swap to three servers', 240_000, () => {
  const cluster = clusterForTests({ settings: { auth: 'report' } })
  let clockMs = 0
  beforeAll(async () => {
    clockMs = Date.now() + AHEAD_MS
    const more = { group: 'DEFAULT_GROUP', ephemeral: true, seenMs: Date.now() }
    const lines = [1, 2].map((port) => instanceLine('orders', { ...more, port }))
    const plan = planOf(lines, { ...PLAN_HEAD, lastRefMs: clockMs })
    expect((await sendPlan(await managedBy(cluster.servers[0]!), plan)).status).toBe(200)
  }, ETCD_HOOK_MS)

  async function listAt(server: number) {
    const { url } = cluster.servers[server]!
    const response = await fetch(`${url}/nacos/v1/ns/instance/list?serviceName=orders`)
    const { hosts, lastRefTime } = (await response.json()) as {
      hosts: { port: number }[]
      lastRefTime: number
    }
    return { ports: hosts.map(({ port }) => port).sort(), isLater: lastRefTime >= clockMs }
  }

  test('is listed by all of them, later than by the old server', async () => {
    for (const server of [0, 1, 2])
      await vi.waitFor(async () => {
        expect(await listAt(server)).toEqual({ ports: [1, 2], isLater: true })
      }, LONG)
  })

  test('outlasts the server that has imported it, and leaves where no client comes', async () => {
    await cluster.servers[0]!.stop()
    expect(await listAt(1)).toEqual({ ports: [1, 2], isLater: true })
    const beat = new URLSearchParams({
      serviceName: 'orders',
      ip: '10.0.0.1',
      port: '2',
      clusterName: 'DEFAULT',
    })
    await vi.waitFor(async () => {
      const { url } = cluster.servers[2]!
      expect((await fetch(`${url}/nacos/v1/ns/instance/beat?${beat}`, { method: 'PUT' })).status).toBe(200)
      expect((await listAt(1)).ports).toEqual([2])
    }, LONG)
  })
})
