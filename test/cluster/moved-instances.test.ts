/**
 * Instances that one server of several has imported in a swap: all list them, later than the old server did, and they wait for
 * their clients.
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { clusterForTests } from '../support/cluster.ts'
import { describeOnEtcd, ETCD_HOOK_MS } from '../support/etcd.ts'

const AHEAD_MS = 30_000
/** Instances wait for 40 s, and a lease ends after 10 s. */
const LONG = { timeout: 120_000, interval: 500 }

describeOnEtcd('a swap to three servers', 240_000, () => {
  const cluster = clusterForTests({ settings: { auth: 'report' } })
  let clockMs = 0
  beforeAll(async () => {
    const code = /code=([\w-]+)/.exec(cluster.servers[0]!.output())![1]!
    await post('/auth/users/admin', new URLSearchParams({ code, password: 'secret' }))
    clockMs = Date.now() + AHEAD_MS
    await importTo(clockMs)
  }, ETCD_HOOK_MS)
  afterAll(async () => cluster?.stop())

  async function post(path: string, body: URLSearchParams | string, headers: Record<string, string> = {}) {
    const init = { method: 'POST', headers, body }
    const response = await fetch(`${cluster.servers[0]!.url}/svc/v1${path}`, init)
    const text = await response.text()
    expect(response.status, text).toBe(200)
    return text
  }

  async function importTo(lastRefMs: number): Promise<void> {
    const login = await post('/auth/login', new URLSearchParams({ username: 'nacos', password: 'secret' }))
    const { accessToken } = JSON.parse(login) as { accessToken: string }
    const head = { kind: 'plan', format: 1, madeMs: 1, sources: [], counts: {}, lastRefMs }
    const place = {
      kind: 'instance',
      namespace: '',
      group: 'DEFAULT_GROUP',
      service: 'orders',
      cluster: 'DEFAULT',
    }
    const rest = {
      ephemeral: true,
      weight: 1,
      enabled: true,
      healthy: true,
      metadata: {},
      app: '',
      seenMs: Date.now(),
    }
    const lines = [head, ...[1, 2].map((port) => ({ ...place, ip: '10.0.0.1', port, ...rest }))]
    await post('/operator/import', lines.map((line) => JSON.stringify(line)).join('\n'), {
      'Content-Type': 'application/x-ndjson',
      Authorization: `Bearer ${accessToken}`,
    })
  }

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
