/** Services over gRPC on several servers: a connection lives on one server, and is seen on all. */
import { afterEach, expect, test } from 'vitest'
import { type Body, connectGrpc } from '../support/grpc-client.ts'
import { NamingClient, portsOf } from '../grpc/naming-fixture.ts'
import { clientsOf, unique, until } from '../interface/client.ts'
import { clusterForTests } from '../support/cluster.ts'
import { describeOnEtcd } from '../support/etcd.ts'

const cluster = clusterForTests({ servers: 2 })
const open: NamingClient[] = []

async function connectedTo(server: number, setup: Body = {}): Promise<NamingClient> {
  const client = new NamingClient(await connectGrpc(cluster.servers[server]!, { setup }))
  open.push(client)
  return client
}

describeOnEtcd('clients of two servers', 30_000, () => {
  afterEach(async () => void (await Promise.all(open.splice(0).map(({ grpc }) => grpc.close()))))

  const httpOf = (server: number) => clientsOf(cluster.servers[server]!.url).nacos

  test('are notified of instances that register at the other one, by gRPC and by HTTP', async () => {
    const [client, other] = [await connectedTo(0), await connectedTo(1)]
    const serviceName = unique('svc')
    await client.subscribe(serviceName)
    await other.register(serviceName, { port: 1 })
    await client.pushedUntil((service) => portsOf(service).includes(1))
    await httpOf(1).post('/ns/instance', { serviceName, ip: '10.0.0.2', port: 2 })
    await client.pushedUntil((service) => portsOf(service).includes(2))
    await other.grpc.close()
    await client.pushedUntil((service) => !portsOf(service).includes(1))
  })

  test('are among the subscribers that each server lists', async () => {
    const setup = { clientVersion: 'Nacos-Go-Client:v2.3.5', labels: { AppName: 'shop' } }
    const serviceName = unique('svc')
    await (await connectedTo(0, setup)).subscribe(serviceName, { clusters: 'a' })
    for (const server of [0, 1]) {
      const { subscribers } = await until(
        async () => (await httpOf(server).get('/ns/service/subscribers', { serviceName })).json(),
        ({ count }) => count === 1,
      )
      const shown = { ip: '127.0.0.1', agent: 'Nacos-Go-Client:v2.3.5', app: 'shop', cluster: 'a' }
      expect(subscribers).toMatchObject([shown])
    }
  })

  test('have the same list, and a move of an instance to the other server is no gap', async () => {
    const [client, other, watcher] = [await connectedTo(0), await connectedTo(1), await connectedTo(0)]
    const serviceName = unique('svc')
    await client.register(serviceName, { port: 80 })
    await watcher.subscribe(serviceName)
    await other.register(serviceName, { port: 80 })
    await client.grpc.close()
    await other.register(serviceName, { port: 80, metadata: { moved: 'yes' } })
    const moved = await watcher.pushedUntil(({ hosts }) => hosts[0]?.metadata.moved === 'yes')
    expect(portsOf(moved)).toEqual([80])
    expect((await other.query(serviceName)).hosts).toEqual(moved.hosts)
  })
})
