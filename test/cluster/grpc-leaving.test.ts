/** The effects on clients of gRPC when one of several servers stops, dies, or has the connection that others ask about. */
import { afterEach, beforeAll, expect, test } from 'vitest'
import { connectGrpc } from '../support/grpc-client.ts'
import { NamingClient, portsOf } from '../grpc/naming-fixture.ts'
import { clientsOf, type Json, sleep, unique, until } from '../interface/client.ts'
import { clusterForTests } from '../support/cluster.ts'
import { describeOnEtcd, ETCD_HOOK_MS } from '../support/etcd.ts'
import type { Waypost } from '../support/waypost.ts'

const cluster = clusterForTests({ servers: 2 })
const open: NamingClient[] = []

async function connectedTo(server: Waypost): Promise<NamingClient> {
  const client = new NamingClient(await connectGrpc(server))
  open.push(client)
  return client
}

describeOnEtcd('clients of several servers', 60_000, () => {
  let one: Waypost
  let two: Waypost
  beforeAll(async () => {
    ;[one, two] = cluster.servers as [Waypost, Waypost]
  }, ETCD_HOOK_MS)
  afterEach(async () => void (await Promise.all(open.splice(0).map(({ grpc }) => grpc.close()))))

  const listedBy = async (server: Waypost, serviceName: string): Promise<Json> => {
    const { nacos } = clientsOf(server.url)
    return (await nacos.get('/ns/instance/list', { serviceName })).json()
  }

  test('see the same instances at both, in lists that are later after each change wherever that was', async () => {
    const clients = [await connectedTo(one), await connectedTo(two)]
    const serviceName = unique('svc')
    const last = [0, 0]
    for (let port = 1; port <= 10; port++) {
      await clients[port % 2]!.register(serviceName, { port })
      for (const [index, client] of clients.entries()) {
        const ask = () => client.query(serviceName)
        const list = await until(ask, (seen) => portsOf(seen).includes(port))
        expect(portsOf(list)).toEqual(port === 1 ? [1] : [port - 1, port])
        expect(list.lastRefTime).toBeGreaterThan(last[index]!)
        last[index] = list.lastRefTime
      }
    }
  })

  test('cannot take the instance of a connection away over HTTP at the other server', async () => {
    const client = await connectedTo(one)
    const serviceName = unique('svc')
    const instance = { serviceName, ip: '10.0.0.1', port: 8080 }
    await client.register(serviceName, instance)
    await until(
      () => listedBy(two, serviceName),
      ({ hosts }) => hosts.length === 1,
    )
    const { nacos, svc } = clientsOf(two.url)
    expect((await nacos.put('/ns/instance/beat', instance)).json()).toMatchObject({ code: 10_200 })
    expect((await nacos.delete('/ns/instance', instance)).text).toBe('ok')
    expect((await svc.delete('/ns/instance', instance)).status).toBe(409)
    expect((await listedBy(two, serviceName)).hosts).toHaveLength(1)
    await client.grpc.close()
    await until(
      () => listedBy(two, serviceName),
      ({ hosts }) => hosts.length === 0,
    )
  })

  test('receive the last of a burst that is published at both', async () => {
    const [listener, sender] = [await connectedTo(one), await connectedTo(two)]
    const key = { dataId: unique('item'), group: 'G', tenant: '' }
    await listener.grpc.ask('ConfigBatchListenRequest', { configListenContexts: [{ ...key, md5: '' }] })
    for (let count = 1; count <= 50; count++) {
      const { grpc } = count % 2 === 0 ? sender : listener
      await grpc.ask('ConfigPublishRequest', { ...key, content: `${count}` })
    }
    const read = async () => {
      await listener.grpc.next('ConfigChangeNotifyRequest')
      return (await listener.grpc.ask('ConfigQueryRequest', key)).body['content']
    }
    await until(read, (content) => content === '50')
  })

  test('are sent to the other server by one that stops, and their instances stay', async () => {
    const leaving = await cluster.join()
    const [client, watcher] = [await connectedTo(leaving), await connectedTo(two)]
    const serviceName = unique('svc')
    await client.register(serviceName, { port: 80 })
    await watcher.subscribe(serviceName)
    await watcher.pushedUntil(({ hosts }) => hosts.length === 1)
    const stopped = leaving.stop()
    const { body } = await client.grpc.next('ConnectResetRequest')
    expect([one.port, two.port].map(String)).toContain(body['serverPort'])
    const target = [one, two].find(({ port }) => `${port}` === body['serverPort'])!
    await (await connectedTo(target)).register(serviceName, { port: 80, metadata: { moved: 'yes' } })
    await watcher.pushedUntil(({ hosts }) => {
      expect(hosts).toHaveLength(1)
      return hosts[0].metadata.moved === 'yes'
    })
    await stopped
    expect((await watcher.query(serviceName)).hosts).toMatchObject([{ metadata: { moved: 'yes' } }])
  })

  test('keep the instances of one that is killed, until their clients have registered elsewhere', async () => {
    const dying = await cluster.join()
    const [client, watcher] = [await connectedTo(dying), await connectedTo(two)]
    const serviceName = unique('svc')
    await client.register(serviceName, { port: 80 })
    await watcher.subscribe(serviceName)
    await watcher.pushedUntil(({ hosts }) => hosts.length === 1)
    await dying.kill()
    await (await connectedTo(one)).register(serviceName, { port: 80, metadata: { moved: 'yes' } })
    await watcher.pushedUntil(({ hosts }) => {
      expect(hosts).toHaveLength(1)
      return hosts[0].metadata.moved === 'yes'
    })
  })

  test('of one that is killed cost no claim, and so no further write, long before its lease ends', async () => {
    const dying = await cluster.join()
    const serviceName = unique('svc')
    const claims = async (): Promise<number> =>
      (await clientsOf(one.url).svc.get('/console/instances', { serviceName })).json().pageItems[0]?.claims
    await (await connectedTo(dying)).register(serviceName, { port: 80 })
    await (await connectedTo(one)).register(serviceName, { port: 80 })
    await expect.poll(claims).toBe(1)
    await (await connectedTo(dying)).register(serviceName, { port: 80, weight: 2 })
    await expect.poll(claims).toBe(2)
    // The servers ask each other every two seconds, and a lease lasts for ten. A server that was not asked yet counts as replying.
    await sleep(3_000)
    const standing = async (): Promise<Json> =>
      (await clientsOf(one.url).svc.get('/ns/operator/servers'))
        .json()
        .servers.find(({ key }: Json) => key === `127.0.0.1:${dying.port}`)
    await until(standing, (seen) => seen?.replies === true)
    await dying.kill()
    const silent = await until(standing, (seen) => seen?.replies === false)
    expect(silent).toMatchObject({ alive: true })
    await (await connectedTo(one)).register(serviceName, { port: 80, weight: 3 })
    // Those from before the loss, and none of the connection that is lost.
    await expect.poll(claims).toBe(2)
  })
})
