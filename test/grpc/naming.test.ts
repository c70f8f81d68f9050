/** Service discovery over gRPC, as the clients of generations 2 and 3 use it. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { type Json, serverForThisFile, sleep, unique } from '../interface/client.ts'
import { clientsOfTests, instanceOf, portsOf } from './naming-fixture.ts'

const waypost = serverForThisFile()
const connected = clientsOfTests(waypost)

const listed = async (serviceName: string) =>
  (await waypost.nacos.get('/ns/instance/list', { serviceName })).json()

describe('an instance that a connection registers', () => {
  test('is answered with the type, and is in the lists of HTTP and gRPC as it was sent', async () => {
    const client = await connected()
    const serviceName = unique('svc')
    const fields = { port: 81, weight: 2.5, clusterName: 'c1', metadata: { zone: 'a' } }
    expect((await client.register(serviceName, fields)).type).toBe('registerInstance')
    const groupedName = `DEFAULT_GROUP@@${serviceName}`
    const host = {
      instanceId: `10.0.0.1#81#c1#${groupedName}`,
      ip: '10.0.0.1',
      port: 81,
      weight: 2.5,
      healthy: true,
      enabled: true,
      ephemeral: true,
      clusterName: 'c1',
      serviceName: groupedName,
      metadata: { zone: 'a' },
    }
    const service = await client.query(serviceName)
    expect(service).toMatchObject({
      name: serviceName,
      groupName: 'DEFAULT_GROUP',
      clusters: '',
      cacheMillis: 10_000,
      hosts: [host],
      checksum: '',
      allIps: false,
      reachProtectionThreshold: false,
      valid: true,
    })
    const { serviceName: _, ...shown } = host
    expect((await listed(serviceName)).hosts).toMatchObject([shown])
  })

  test('may leave out what has a default, or send nothing as null or as an empty text', async () => {
    const client = await connected()
    const serviceName = unique('svc')
    const instance = {
      ip: '10.0.0.1',
      port: 80,
      clusterName: '',
      metadata: null,
      weight: null,
      ephemeral: true,
    }
    const body = { serviceName, namespace: '', groupName: '', type: 'registerInstance', instance }
    await client.ask('InstanceRequest', body)
    const [host] = (await client.query(serviceName)).hosts
    expect(host).toMatchObject({
      clusterName: 'DEFAULT',
      metadata: {},
      weight: 1,
      healthy: true,
      enabled: true,
    })
  })

  test('is replaced by the next one of the same connection, and not by that of another', async () => {
    const [one, other] = [await connected(), await connected()]
    const serviceName = unique('svc')
    await one.register(serviceName, { port: 1 })
    await other.register(serviceName, { port: 2 })
    await one.register(serviceName, { port: 3 })
    expect(portsOf(await one.query(serviceName))).toEqual([2, 3])
  })

  test('leaves when the connection deregisters its address, and by no other address', async () => {
    const client = await connected()
    const serviceName = unique('svc')
    await client.register(serviceName, { port: 1 })
    expect((await client.deregister(serviceName, { port: 99 })).type).toBe('deregisterInstance')
    expect(portsOf(await client.query(serviceName))).toEqual([1])
    for (const _twice of [1, 2]) await client.deregister(serviceName, { port: 1 })
    expect(portsOf(await client.query(serviceName))).toEqual([])
  })

  test.each([
    ['the same cluster', { clusterName: 'c1' }, [2, 3]],
    ['an empty cluster', { clusterName: '' }, [2, 3]],
    ['no cluster', { clusterName: null }, [2, 3]],
    ['another cluster', { clusterName: 'other' }, [2, 3]],
    ['another port', { port: 9 }, [1, 2, 3]],
    ['another ip', { ip: '10.0.0.2' }, [1, 2, 3]],
  ])('leaves a set with nothing else, when a deregistration names %s', async (_name, fields, left) => {
    const client = await connected()
    const serviceName = unique('svc')
    const instances = [1, 2, 3].map((port) => instanceOf({ port, clusterName: 'c1' }))
    await client.ask('BatchInstanceRequest', { serviceName, type: 'batchRegisterInstance', instances })
    await client.deregister(serviceName, { port: 1, ...fields })
    expect(portsOf(await client.query(serviceName))).toEqual(left)
    await client.deregister(serviceName, { port: 2, clusterName: 'c1' })
    expect(portsOf(await client.query(serviceName))).toEqual(left.filter((port) => port !== 2))
  })

  test('leaves in the named cluster, where the connection has the address in two', async () => {
    const client = await connected()
    const serviceName = unique('svc')
    const instances = ['a', 'b'].map((clusterName) => instanceOf({ clusterName }))
    await client.ask('BatchInstanceRequest', { serviceName, type: 'batchRegisterInstance', instances })
    const clusters = async () =>
      (await client.query(serviceName)).hosts.map(({ clusterName }: Json) => clusterName)
    await client.deregister(serviceName, { clusterName: '' })
    expect(await clusters()).toEqual(['a', 'b'])
    await client.deregister(serviceName, { clusterName: 'a' })
    expect(await clusters()).toEqual(['b'])
  })

  test('leaves with the others that a deregistration of a batch names, or with all', async () => {
    const client = await connected()
    const serviceName = unique('svc')
    await client.batch(serviceName, [1, 2, 3])
    const remove = (ports: readonly number[]) =>
      client.ask('BatchInstanceRequest', {
        serviceName,
        type: 'batchDeregisterInstance',
        instances: ports.map((port) => instanceOf({ port })),
      })
    await remove([1, 2, 9])
    expect(portsOf(await client.query(serviceName))).toEqual([3])
    await remove([])
    expect(portsOf(await client.query(serviceName))).toEqual([])
  })

  test('leaves at once with its connection, and stays without beats until then', async () => {
    const [client, other] = [await connected(), await connected()]
    const serviceName = unique('svc')
    await client.register(serviceName)
    await other.subscribe(serviceName)
    await client.grpc.close()
    const service = await other.pushedUntil(({ hosts }) => hosts.length === 0)
    expect(service.name).toBe(serviceName)
  })

  test('is in the list once if HTTP registers its address too', async () => {
    const client = await connected()
    const serviceName = unique('svc')
    await client.register(serviceName, { port: 80 })
    await waypost.nacos.post('/ns/instance', { serviceName, ip: '10.0.0.1', port: 80 })
    expect(portsOf(await client.query(serviceName))).toEqual([80])
  })
})

describe('a batch', () => {
  test('is all that the connection has in the service', async () => {
    const client = await connected()
    const serviceName = unique('svc')
    expect((await client.batch(serviceName, [1, 2, 3])).type).toBe('batchRegisterInstance')
    expect(portsOf(await client.query(serviceName))).toEqual([1, 2, 3])
    await client.batch(serviceName, [3, 4])
    expect(portsOf(await client.query(serviceName))).toEqual([3, 4])
    await client.batch(serviceName, [])
    expect(portsOf(await client.query(serviceName))).toEqual([])
  })

  test('with an instance that cannot be registered changes nothing', async () => {
    const client = await connected()
    const serviceName = unique('svc')
    await client.batch(serviceName, [1])
    const body = {
      type: 'batchRegisterInstance',
      instances: [instanceOf({ port: 2 }), instanceOf({ port: -1 })],
    }
    const { type, body: answer } = await client.grpc.ask('BatchInstanceRequest', { serviceName, ...body })
    expect({ type, ...answer }).toMatchObject({
      type: 'BatchInstanceResponse',
      resultCode: 500,
      errorCode: 400,
    })
    expect(answer['message']).toBe(
      "Param check invalid:Param 'port' is illegal, the value should be between 0 and 65535.",
    )
    expect(portsOf(await client.query(serviceName))).toEqual([1])
    const instance = { ...instanceOf({ port: 2 }), clusterName: 'x'.repeat(65) }
    const long = await client.grpc.ask('InstanceRequest', { serviceName, type: 'registerInstance', instance })
    expect(long.body['message']).toBe(
      "Param check invalid:Param 'cluster' is illegal, the param length should not exceed 64.",
    )
  })

  test('has no persistent instances', async () => {
    const client = await connected()
    const body = { type: 'batchRegisterInstance', instances: [instanceOf({ ephemeral: false })] }
    const { body: answer } = await client.grpc.ask('BatchInstanceRequest', {
      serviceName: unique('svc'),
      ...body,
    })
    expect(answer).toMatchObject({ resultCode: 500, errorCode: 400, success: false })
  })
})

describe('a persistent instance', () => {
  test.each(['PersistentInstanceRequest', 'InstanceRequest'])(
    'of a %s outlives its connection, and leaves when it is deregistered',
    async (type) => {
      const [client, other] = [await connected(), await connected()]
      const serviceName = unique('svc')
      const instance = instanceOf({ port: 80, ephemeral: false })
      const answer = await client.ask(type, { serviceName, type: 'registerInstance', instance })
      expect(answer.type).toBe('registerInstance')
      await client.grpc.close()
      await sleep(100)
      expect((await other.query(serviceName)).hosts).toMatchObject([{ port: 80, ephemeral: false }])
      await other.ask(type, { serviceName, type: 'deregisterInstance', instance })
      expect(portsOf(await other.query(serviceName))).toEqual([])
    },
  )

  test('is an ability of the server', async () => {
    const client = await connected({ setup: { abilityTable: {} } })
    const { body } = await client.grpc.next('SetupAckRequest')
    expect(body).toMatchObject({ abilityTable: { supportPersistentInstanceByGrpc: true } })
  })
})

describe('subscribers of other kinds', () => {
  test('is notified of registrations of other connections and over HTTP, with a later lastRefTime each time', async () => {
    const [client, other] = [await connected(), await connected()]
    const serviceName = unique('svc')
    const times = [(await client.subscribe(serviceName)).lastRefTime]
    await other.register(serviceName, { port: 1 })
    times.push((await client.pushedUntil((service) => portsOf(service).includes(1))).lastRefTime)
    await waypost.nacos.post('/ns/instance', { serviceName, ip: '10.0.0.2', port: 2 })
    times.push((await client.pushedUntil((service) => portsOf(service).includes(2))).lastRefTime)
    await other.deregister(serviceName, { port: 1 })
    times.push((await client.pushedUntil((service) => !portsOf(service).includes(1))).lastRefTime)
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b))
  })
})

describe('a subscriber over UDP', () => {
  test('is notified of an instance that a connection registers', async () => {
    const socket = createSocket('udp4')
    const heard = once(socket, 'message') as Promise<[Buffer]>
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    const serviceName = unique('svc')
    const query = { serviceName, udpPort: socket.address().port, clientIP: '127.0.0.1' }
    await waypost.nacos.get('/ns/instance/list', query, { 'User-Agent': 'Nacos-Java-Client:v1.4.8' })
    await (await connected()).register(serviceName, { port: 80 })
    const [datagram] = await heard
    socket.close()
    const { data } = JSON.parse(datagram.toString())
    expect(portsOf(JSON.parse(data))).toEqual([80])
  })
})

describe('what is wrong', () => {
  const serviceName = 'svc'
  const instance = instanceOf({})
  test.each([
    [
      'InstanceRequest',
      { serviceName, type: 'moveInstance', instance },
      'InstanceResponse',
      /type must be one of/,
    ],
    [
      'InstanceRequest',
      { serviceName, type: 'registerInstance' },
      'InstanceResponse',
      /instance must be an object/,
    ],
    [
      'InstanceRequest',
      { type: 'registerInstance', instance },
      'InstanceResponse',
      /serviceName is required/,
    ],
    [
      'InstanceRequest',
      { serviceName, type: 'registerInstance', instance: instanceOf({ ip: 'a b' }) },
      'InstanceResponse',
      /ip must be/,
    ],
    [
      'InstanceRequest',
      { serviceName: ['svc'], type: 'registerInstance', instance },
      'InstanceResponse',
      /serviceName must be/,
    ],
    [
      'BatchInstanceRequest',
      { serviceName, type: 'batchRegisterInstance', instances: 'x' },
      'BatchInstanceResponse',
      /a list/,
    ],
    ['ServiceQueryRequest', { serviceName, cluster: 'a;b' }, 'QueryServiceResponse', /cluster must be/],
    ['SubscribeServiceRequest', { serviceName: 'a b' }, 'SubscribeServiceResponse', /serviceName must be/],
    ['ServiceListRequest', { pageNo: -1 }, 'ServiceListResponse', /pageNo must be/],
  ])('%s %j is refused in the type of its answer', async (...[type, body, answer, message]) => {
    const client = await connected()
    const spoken = await client.grpc.ask(type, body)
    expect(spoken.type).toBe(answer)
    expect(spoken.body).toMatchObject({ resultCode: 500, errorCode: 400, success: false })
    expect(spoken.body['message']).toMatch(message)
  })
})

test('a list that is refused has all keys of a list, because the Rust client cannot read the reason otherwise', async () => {
  const client = await connected()
  const empty = await client.query(unique('svc'))
  for (const [type, more] of [
    ['ServiceQueryRequest', { cluster: 'a;b' }],
    ['ServiceQueryRequest', { serviceName: 'a b' }],
    ['SubscribeServiceRequest', { serviceName: 'a b' }],
  ] as const) {
    const { body } = await client.grpc.ask(type, { serviceName: unique('svc'), ...more })
    const list = body['serviceInfo'] as Json
    expect(Object.keys(list)).toEqual(Object.keys(empty))
    expect(list).toMatchObject({ hosts: [], lastRefTime: 0 })
    for (const [name, value] of Object.entries(empty)) expect(typeof list[name]).toBe(typeof value)
  }
})

describe('a service with a list of more than 10 MiB', () => {
  const count = 1_300
  const metadata = { long: 'x'.repeat(8_150) }

  test('is refused, with and without a subscription, but not a part of it', async () => {
    const [publisher, client] = [await connected(), await connected()]
    const serviceName = unique('svc')
    const instances = Array.from({ length: count }, (_, at) =>
      instanceOf({ port: 1_000 + at, clusterName: at < 10 ? 'few' : 'many', metadata }),
    )
    const half = { serviceName, type: 'batchRegisterInstance' }
    await publisher.ask('BatchInstanceRequest', { ...half, instances: instances.slice(0, count / 2) })
    expect((await client.query(serviceName)).hosts).toHaveLength(count / 2)
    const other = await connected()
    await other.ask('BatchInstanceRequest', { ...half, instances: instances.slice(count / 2) })
    const named = { serviceName, namespace: 'public', groupName: 'DEFAULT_GROUP' }
    for (const [type, answer] of [
      ['ServiceQueryRequest', 'QueryServiceResponse'],
      ['SubscribeServiceRequest', 'SubscribeServiceResponse'],
    ] as const) {
      const refused = await client.grpc.ask(type, named)
      expect(refused).toMatchObject({
        type: answer,
        body: { resultCode: 500, errorCode: 413, success: false },
      })
    }
    expect((await client.query(serviceName, { cluster: 'few' })).hosts).toHaveLength(10)
    expect((await listed(serviceName)).hosts).toHaveLength(count)
    // The subscription is there: the list is pushed once it is short enough.
    await other.grpc.close()
    for (let hosts = 0; hosts !== count / 2;) hosts = (await client.pushed()).hosts.length
  })
})
