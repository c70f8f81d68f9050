/** Why instances are as they are, as each of several servers shows it to people. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientsOf, type Json, unique, until } from '../interface/client.ts'
import { type Cluster, startCluster } from '../support/cluster.ts'
import { ETCD_HOOK_MS, etcdTools } from '../support/etcd.ts'
import { connectGrpc } from '../support/grpc-client.ts'
import { NamingClient } from '../grpc/naming-fixture.ts'

const note = etcdTools.skip ? ` (${etcdTools.reason})` : ''

let cluster: Cluster

describe.skipIf(etcdTools.skip)(`two servers${note}`, { timeout: 30_000 }, () => {
  beforeAll(async () => void (cluster = await startCluster({ servers: 2 })), ETCD_HOOK_MS)
  afterAll(() => cluster?.stop())

  const healths = async (serviceName: string): Promise<Json[]> =>
    Promise.all(
      cluster.servers.map(async ({ url }) => {
        const shown = await clientsOf(url).svc.get('/console/instances', { serviceName })
        return shown.json().pageItems?.[0]?.health
      }),
    )

  test('say both that an instance is probed, and the one that does it what it has found', async () => {
    const serviceName = unique('svc')
    const [{ url, port }] = cluster.servers as [Cluster['servers'][0]]
    const instance = { serviceName, ip: '127.0.0.1', port, ephemeral: false }
    await clientsOf(url).svc.post('/ns/instance', instance)
    const found = await until(
      () => healths(serviceName),
      (all) => all.some((health) => health?.check) && all.every((health) => health !== undefined),
    )
    expect(found.map(({ reason }) => reason)).toEqual(['probe', 'probe'])
    expect(found.filter(({ check }) => check !== null)).toMatchObject([{ check: { type: 'TCP', up: true } }])
  })

  test('say where the connection of an instance is', async () => {
    const serviceName = unique('svc')
    const [one] = cluster.servers
    const client = new NamingClient(await connectGrpc(one!))
    await client.register(serviceName)
    const found = await until(
      () => healths(serviceName),
      (all) => all.every((health) => health !== undefined),
    )
    const server = `127.0.0.1:${one!.port}`
    expect(found.map(({ connection }) => connection)).toMatchObject([
      { where: 'here', ip: '127.0.0.1' },
      { where: 'elsewhere', server },
    ])
    await client.grpc.close()
  })
})
