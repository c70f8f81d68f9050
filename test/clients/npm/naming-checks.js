/** What a user does with services and instances through the npm client. */
import assert from 'node:assert/strict'
import { sleep, until } from './report.js'

const quiet = { info() {}, debug() {}, warn() {}, error() {} }
/** Within this time only a push can bring a change: the client polls after one second, then after cacheMillis. */
const pushMs = 1300

/** The checks, as pairs of a name and an async function. */
export function namingChecks({ library, address, run, options }) {
  const connect = async (namespace = 'public') => {
    const client = new library.NacosNamingClient({
      logger: quiet,
      serverList: address,
      namespace,
      ...options,
    })
    client.on('error', (error) => process.stderr.write(`${error.message}\n`))
    await client.ready()
    return client
  }
  /** A fresh client for each read: the library never forgets the last instance of a service. */
  const list = async (service, group, clusters, namespace) => {
    const reader = await connect(namespace)
    const hosts = await reader.getAllInstances(service, group, clusters, false)
    await reader.close()
    return hosts
  }
  const ports = (hosts) => hosts.map((host) => host.port).sort()
  const { ssl, ...pair } = options
  const call = (method, path, query) =>
    fetch(
      `${ssl ? 'https' : 'http'}://${address}/nacos/v1/ns/${path}?${new URLSearchParams({ ...query, ...pair })}`,
      { method },
    )

  async function subscribed(service, registrar) {
    await registrar.registerInstance(service, { ip: '127.1.0.1', port: 1 })
    const subscriber = await connect()
    let hosts = []
    subscriber.subscribe(service, (current) => (hosts = current))
    await until('the first instance', () => hosts.length === 1, 3000)
    await sleep(1500)
    return () => ports(hosts).join()
  }

  return [
    [
      'naming: a registered instance is listed with all it says',
      async () => {
        const metadata = { zone: 'a', text: 'ü + 100% & "x"=1', line: 'a\nb' }
        const client = await connect()
        await client.registerInstance(`fields-${run}`, {
          ip: '127.0.0.1',
          port: 8080,
          weight: 2.5,
          clusterName: 'c1',
          metadata,
        })
        const [host] = await list(`fields-${run}`)
        const { ip, port, weight, healthy, enabled, ephemeral, clusterName, serviceName, instanceId } = host
        assert.deepEqual(
          { ip, port, weight, healthy, enabled, ephemeral, clusterName, serviceName, instanceId },
          {
            ip: '127.0.0.1',
            port: 8080,
            weight: 2.5,
            healthy: true,
            enabled: true,
            ephemeral: true,
            clusterName: 'c1',
            serviceName: `DEFAULT_GROUP@@fields-${run}`,
            instanceId: `127.0.0.1#8080#c1#DEFAULT_GROUP@@fields-${run}`,
          },
        )
        assert.deepEqual(host.metadata, metadata)
      },
    ],
    [
      'naming: an unknown service has no instances',
      async () => assert.deepEqual(await list(`unknown-${run}`), []),
    ],
    [
      'naming: clusters select instances',
      async () => {
        const client = await connect()
        const service = `clusters-${run}`
        await client.registerInstance(service, { ip: '127.0.0.1', port: 1, clusterName: 'c1' })
        await client.registerInstance(service, { ip: '127.0.0.1', port: 2, clusterName: 'c2' })
        await client.registerInstance(service, { ip: '127.0.0.1', port: 3 })
        assert.deepEqual(ports(await list(service)), [1, 2, 3])
        assert.deepEqual(ports(await list(service, 'DEFAULT_GROUP', 'c2')), [2])
        assert.deepEqual(ports(await list(service, 'DEFAULT_GROUP', 'c1,DEFAULT')), [1, 3])
        const cached = await connect()
        assert.deepEqual(ports(await cached.getAllInstances(service, 'DEFAULT_GROUP', 'c1,c2')), [1, 2])
      },
    ],
    [
      'naming: healthy and enabled instances are selected',
      async () => {
        const client = await connect()
        const service = `healthy-${run}`
        await client.registerInstance(service, { ip: '127.0.0.1', port: 1 })
        await client.registerInstance(service, { ip: '127.0.0.1', port: 2, healthy: false, ephemeral: false })
        await client.registerInstance(service, { ip: '127.0.0.1', port: 3, enabled: false })
        assert.deepEqual(ports(await list(service)), [1, 2])
        const group = 'DEFAULT_GROUP'
        assert.deepEqual(ports(await client.selectInstances(service, group, '', true, false)), [1])
        assert.deepEqual(ports(await client.selectInstances(service, group, '', false, false)), [2])
      },
    ],
    [
      'naming: groups and namespaces are separate',
      async () => {
        const client = await connect()
        const service = `apart-${run}`
        await client.registerInstance(service, { ip: '127.0.0.1', port: 1 })
        await client.registerInstance(service, { ip: '127.0.0.1', port: 2 }, 'G2')
        const other = await connect('other-namespace')
        await other.registerInstance(service, { ip: '127.0.0.1', port: 3 })
        assert.deepEqual(ports(await list(service)), [1])
        assert.deepEqual(ports(await list(service, 'G2')), [2])
        assert.deepEqual(ports(await list(service, 'DEFAULT_GROUP', '', 'other-namespace')), [3])
      },
    ],
    [
      'naming: a deregistered instance leaves the list',
      async () => {
        const client = await connect()
        const service = `leaves-${run}`
        await client.registerInstance(service, { ip: '127.0.0.1', port: 1 })
        await client.registerInstance(service, { ip: '127.0.0.1', port: 2, clusterName: 'c2' })
        assert.deepEqual(ports(await list(service)), [1, 2])
        await client.deregisterInstance(service, { ip: '127.0.0.1', port: 2, clusterName: 'c2' })
        assert.deepEqual(ports(await list(service)), [1])
        await client.deregisterInstance(service, { ip: '127.0.0.1', port: 1 })
        assert.deepEqual(await list(service), [])
      },
    ],
    [
      'naming: a subscriber is pushed every change at once',
      async () => {
        const service = `pushed-${run}`
        const registrar = await connect()
        const seen = await subscribed(service, registrar)
        await registrar.registerInstance(service, { ip: '127.1.0.1', port: 2 })
        const tookMs = await until('the second instance', () => seen() === '1,2', pushMs)
        const more = [3, 4, 5].map((port) => registrar.registerInstance(service, { ip: '127.1.0.1', port }))
        await Promise.all(more)
        await until('three more', () => seen() === '1,2,3,4,5', pushMs)
        await registrar.deregisterInstance(service, { ip: '127.1.0.1', port: 2 })
        await until('one less', () => seen() === '1,3,4,5', pushMs)
        return `seen after ${tookMs} ms`
      },
    ],
    [
      'naming: a long list is pushed too',
      async () => {
        const service = `long-${run}`
        const registrar = await connect()
        const seen = await subscribed(service, registrar)
        const metadata = { note: 'long enough that the packet is compressed' }
        const all = Array.from({ length: 20 }, (_, index) => ({
          ip: '127.1.0.1',
          port: 100 + index,
          metadata,
        }))
        await Promise.all(all.map((instance) => registrar.registerInstance(service, instance)))
        await until('twenty more', () => seen().split(',').length === 21, pushMs)
      },
    ],
    [
      'naming: a subscriber sees a silent instance fall ill and leave',
      async () => {
        const service = `silent-${run}`
        const seen = await subscribed(service, await connect())
        const metadata = JSON.stringify({
          'preserved.heart.beat.timeout': '1000',
          'preserved.ip.delete.timeout': '3000',
        })
        await call('POST', 'instance', { serviceName: service, ip: '127.1.0.1', port: '9', metadata })
        await until('the instance', () => seen() === '1,9', pushMs)
        const ill = async () => (await sleep(100), (await list(service)).some((host) => !host.healthy))
        await until('the illness', ill, 3000)
        await until('its end', () => seen() === '1', 4000)
      },
    ],
    [
      'naming: beats keep an instance',
      async () => {
        // The library beats for the first time ten seconds after it was made.
        const client = await connect()
        const service = `beats-${run}`
        const metadata = {
          'preserved.heart.beat.interval': '1000',
          'preserved.heart.beat.timeout': '11500',
          'preserved.ip.delete.timeout': '12500',
        }
        await client.registerInstance(service, { ip: '127.0.0.1', port: 1, metadata })
        await sleep(15_500)
        const [host] = await list(service)
        assert.equal(host?.healthy, true)
      },
    ],
    ['naming: the server is UP', async () => assert.equal(await (await connect()).getServerStatus(), 'UP')],
  ]
}
