/** Endpoints of etcd that are no cluster: each was restored, or begun, as a cluster of its own. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientsOf } from '../interface/client.ts'
import { describeOnEtcd, ETCD_HOOK_MS, type Etcd, startEtcd } from '../support/etcd.ts'
import { freePort, runWaypost, startWaypost, temporaryDirectory, type Waypost } from '../support/waypost.ts'

const WAIT = { timeout: 60_000 }

describeOnEtcd('members of etcd that differ', 180_000, () => {
  const etcds: Etcd[] = []
  const servers: Waypost[] = []
  const endpoints = (): string[] => etcds.flatMap((etcd) => etcd.endpoints)

  async function start(): Promise<void> {
    const settings = {
      store: 'etcd',
      'etcd-endpoints': endpoints().join(','),
      'peer-port': await freePort(),
    }
    servers.push(await startWaypost({ settings }))
  }

  beforeAll(async () => {
    for (let count = 0; count < 3; count++) etcds.push(await startEtcd())
    for (const { members } of etcds.slice(1)) await members[0]!.kill()
    await start()
    await start()
  }, ETCD_HOOK_MS)
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.kill()))
    await Promise.all(etcds.map((etcd) => etcd.stop()))
  })

  const svcOf = (server: Waypost) => clientsOf(server.url).svc
  const publish = async (server: Waypost, content: string): Promise<string> =>
    (await svcOf(server).post('/cs/configs', { dataId: 'a', group: 'G', content })).text
  const contentAt = async (server: Waypost): Promise<string> =>
    (await svcOf(server).get('/cs/configs', { dataId: 'a', group: 'G' })).text
  const readyAt = async ({ url }: Waypost): Promise<string> => (await fetch(`${url}/readyz`)).text()

  test('all servers warn, and none starts; with one of the members all is well', async () => {
    expect(await publish(servers[0]!, 'x')).toBe('true')
    for (const server of servers) await expect.poll(() => readyAt(server), WAIT).toBe('{"ready":true}')
    // The other two get the data of a backup.
    const backup = `${temporaryDirectory('backup-')}/backup`
    const made = await runWaypost(['backup', '--etcd-endpoints', endpoints()[0]!, '--to', backup])
    expect(made.stderr).toBe('')
    for (const { members } of etcds.slice(1)) {
      await members[0]!.restart()
      const [endpoint] = [members[0]!.endpoint]
      const restored = await runWaypost(['restore', '--from', backup, '--etcd-endpoints', endpoint])
      expect([restored.code, restored.stderr]).toEqual([0, ''])
    }
    for (const server of servers) {
      await expect.poll(() => readyAt(server), WAIT).toContain('etcd-apart')
      expect(await contentAt(server)).toBe('x')
      expect(server.output()).toContain('the endpoints of etcd are not one cluster')
    }
    await expect(start()).rejects.toThrow(
      /The endpoints of etcd are not one cluster: http.* and http.* have different data or leaders/,
    )
    for (const { members } of etcds.slice(1)) await members[0]!.kill()
    for (const server of servers) await expect.poll(() => readyAt(server), WAIT).toBe('{"ready":true}')
    for (const server of servers) {
      expect(await publish(server, server.url)).toBe('true')
      for (const other of servers) await expect.poll(() => contentAt(other), WAIT).toBe(server.url)
    }
    await start()
  })
})
