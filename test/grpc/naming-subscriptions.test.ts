/** The lists of services over gRPC, and their subscribers, as the clients of generations 2 and 3 use them. */
import { describe, expect, test } from 'vitest'
import { type Params, serverForThisFile, sleep, unique, until } from '../interface/client.ts'
import { clientsOfTests, portsOf } from './naming-fixture.ts'

const waypost = serverForThisFile()
const connected = clientsOfTests(waypost)

/** Registers an instance over HTTP. */
async function registered(fields: Params): Promise<void> {
  const answer = await waypost.nacos.post('/ns/instance', { ip: '10.0.0.1', ...fields })
  expect(answer.text).toBe('ok')
}

describe('a query', () => {
  test('has the enabled instances of the named clusters, with the clusters as they were spelled', async () => {
    const client = await connected()
    const serviceName = unique('svc')
    for (const [port, more] of [
      [1, { clusterName: 'a' }],
      [2, { clusterName: 'b' }],
      [3, { clusterName: 'a', enabled: false }],
      [4, { clusterName: 'a', healthy: false }],
    ] as const)
      await registered({ serviceName, port, ...more })
    const ofA = await client.query(serviceName, { cluster: ' a,c' })
    expect([ofA.clusters, portsOf(ofA)]).toEqual([' a,c', [1, 4]])
    expect(portsOf(await client.query(serviceName))).toEqual([1, 2, 4])
    expect(portsOf(await client.query(serviceName, { healthyOnly: true }))).toEqual([1, 2])
  })

  test('has all instances as healthy if the share of the healthy ones is not above the threshold', async () => {
    const client = await connected()
    const serviceName = unique('svc')
    await waypost.nacos.post('/ns/service', { serviceName, protectThreshold: 0.5 })
    await registered({ serviceName, port: 1 })
    await registered({ serviceName, port: 2, healthy: false })
    const service = await client.query(serviceName, { healthyOnly: true })
    expect(service.reachProtectionThreshold).toBe(true)
    expect(service.hosts.map(({ healthy }: { healthy: boolean }) => healthy)).toEqual([true, true])
  })

  test('of a service that does not exist is an empty list', async () => {
    const client = await connected()
    expect((await client.query(unique('svc'))).hosts).toEqual([])
  })
})

describe('a list of services', () => {
  test('has the bare names of one group, page by page, and the number of all', async () => {
    const client = await connected()
    const groupName = unique('group')
    for (const name of ['a', 'b', 'c'])
      await waypost.nacos.post('/ns/service', { serviceName: name, groupName })
    const list = (more: object) => client.ask('ServiceListRequest', { groupName, serviceName: '', ...more })
    expect(await list({ pageNo: 1, pageSize: 2 })).toMatchObject({ count: 3, serviceNames: ['a', 'b'] })
    expect(await list({ pageNo: 2, pageSize: 2 })).toMatchObject({ count: 3, serviceNames: ['c'] })
    expect(await list({ pageNo: 1, pageSize: 9, groupName: unique('none') })).toMatchObject({
      count: 0,
      serviceNames: [],
    })
  })
})

describe('a subscription', () => {
  test('of a service that does not exist yet is an empty list, and is notified of its first instance', async () => {
    const client = await connected()
    const serviceName = unique('svc')
    const first = await client.subscribe(serviceName, { clusters: 'a,b' })
    expect(first).toMatchObject({ name: serviceName, groupName: 'DEFAULT_GROUP', clusters: 'a,b', hosts: [] })
    await registered({ serviceName, port: 80, clusterName: 'b' })
    const pushed = await client.pushedUntil(({ hosts }) => hosts.length > 0)
    expect(pushed).toMatchObject({
      name: serviceName,
      clusters: 'a,b',
      hosts: [{ port: 80, clusterName: 'b' }],
    })
    expect(pushed.lastRefTime).toBeGreaterThan(first.lastRefTime)
  })

  test('is answered with the list when it ends, and receives nothing more', async () => {
    const client = await connected()
    const serviceName = unique('svc')
    await registered({ serviceName, port: 80 })
    await client.subscribe(serviceName)
    await client.pushed()
    expect(portsOf(await client.subscribe(serviceName, { subscribe: false }))).toEqual([80])
    await registered({ serviceName, port: 81 })
    await sleep(300)
    expect(client.grpc.waiting).toEqual([])
  })

  test('of a client that reads nothing delays no other, and has the last state once it reads again', async () => {
    const [slow, client] = [await connected(), await connected()]
    const serviceName = unique('svc')
    for (let port = 1; port <= 100; port++)
      await registered({ serviceName, port, metadata: `text=${'x'.repeat(1_000)}` })
    await Promise.all([slow.subscribe(serviceName), client.subscribe(serviceName)])
    await Promise.all([slow.pushed(), client.pushed()])
    slow.grpc.stream!.pause()
    for (let port = 101; port <= 120; port++) {
      await registered({ serviceName, port })
      await client.pushedUntil((service) => portsOf(service).includes(port))
    }
    slow.grpc.stream!.resume()
    expect(portsOf(await slow.pushedUntil((service) => portsOf(service).includes(120)))).toHaveLength(120)
  })

  test('shows its client among the subscribers until it ends', async () => {
    const setup = { clientVersion: 'Nacos-Java-Client:v3.0.3', labels: { AppName: 'shop', module: 'naming' } }
    const client = await connected({ setup })
    const serviceName = unique('svc')
    await client.subscribe(serviceName, { clusters: 'a' })
    const subscribers = async () =>
      (await waypost.nacos.get('/ns/service/subscribers', { serviceName })).json()
    const shown = await subscribers()
    expect(shown).toMatchObject({
      count: 1,
      subscribers: [{ ip: '127.0.0.1', agent: 'Nacos-Java-Client:v3.0.3', app: 'shop', cluster: 'a' }],
    })
    await client.grpc.close()
    await until(subscribers, ({ count }) => count === 0)
  })
})
