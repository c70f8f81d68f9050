/** What /nacos tells of clients that are connected, as 2.5.1 does. */
import { describe, expect, test } from 'vitest'
import { type Json, type Params, serverForThisFile, unique, until } from '../interface/client.ts'
import { clientsOfTests } from './naming-fixture.ts'

const waypost = serverForThisFile()
const connect = clientsOfTests(waypost)

describe('the subscribers of a service', () => {
  const listed = async (dialect: 'nacos' | 'svc', query: Params): Promise<Json> =>
    (await waypost[dialect].get('/ns/service/subscribers', { pageNo: 1, pageSize: 10, ...query })).json()

  test('have the address that they tell of themselves, without a port, and are there once', async () => {
    const serviceName = unique('svc')
    const options = { clientIp: '10.1.2.3', setup: { clientVersion: 'Nacos-Java-Client:v2.5.1' } }
    const [one, two] = [await connect(options), await connect(options)]
    await one.subscribe(serviceName)
    await one.subscribe(serviceName, { clusters: 'a' })
    await two.subscribe(serviceName)
    const other = await connect({ ...options, clientIp: '10.1.2.4' })
    await other.subscribe(serviceName)
    const { subscribers, count } = await listed('nacos', { serviceName })
    expect(count).toBe(2)
    const row = {
      addrStr: '10.1.2.3',
      agent: 'Nacos-Java-Client:v2.5.1',
      app: 'unknown',
      ip: '10.1.2.3',
      port: 0,
      namespaceId: 'public',
      serviceName: `DEFAULT_GROUP@@${serviceName}`,
      cluster: '',
    }
    expect(subscribers).toEqual([row, { ...row, addrStr: '10.1.2.4', ip: '10.1.2.4' }])
    const second = await listed('nacos', { serviceName, pageNo: 2, pageSize: 1 })
    expect(second).toMatchObject({ count: 2, subscribers: [{ ip: '10.1.2.4' }] })
  })

  test('are shown as they are on /svc: each connection, by its socket', async () => {
    const serviceName = unique('svc')
    const client = await connect({ clientIp: '10.1.2.3' })
    await client.subscribe(serviceName)
    await client.subscribe(serviceName, { clusters: 'a' })
    const { subscribers } = await listed('svc', { serviceName })
    expect(subscribers).toHaveLength(2)
    for (const { ip, port, via } of subscribers) {
      expect([ip, via]).toEqual(['127.0.0.1', 'stream'])
      expect(port).toBeGreaterThan(0)
    }
  })
})

describe('the metrics', () => {
  const metrics = async (query: Params): Promise<Json> =>
    (await waypost.nacos.get('/ns/operator/metrics', query)).json()

  test('count clients by connections and by addresses that are registered without one', async () => {
    const before = await metrics({ onlyStatus: false })
    const naming = await connect()
    await naming.register(unique('svc'))
    await naming.register(unique('svc'), { port: 81 })
    await connect({ setup: { labels: { module: 'config' } } })
    const [serviceName, other] = [unique('svc'), unique('svc')]
    const register = (form: Params) =>
      waypost.nacos.post('/ns/instance', { ip: '10.0.0.7', port: 1, ...form })
    await register({ serviceName })
    await register({ serviceName: other })
    await register({ serviceName, port: 2 })
    await register({ serviceName: unique('svc'), ephemeral: false })
    const subscription = { serviceName, udpPort: 4_711, clientIP: '127.0.0.1' }
    await waypost.nacos.get('/ns/instance/list', subscription, { 'User-Agent': 'Nacos-Java-Client:v1.4.8' })
    const grown = (now: Json) =>
      Object.fromEntries(COUNTS.map((name) => [name, now[name] - before[name]] as const))
    await until(
      async () => grown(await metrics({ onlyStatus: false })),
      ({ clientCount }) => clientCount === 5,
    )
    expect(grown(await metrics({ onlyStatus: false }))).toEqual({
      clientCount: 5,
      connectionBasedClientCount: 1,
      ephemeralIpPortClientCount: 3,
      persistentIpPortClientCount: 1,
      responsibleClientCount: 5,
    })
  })

  test('are only the status for onlyStatus=true, and without the counts of clients where they are not asked for', async () => {
    expect(await metrics({ onlyStatus: true })).toEqual({ status: 'UP' })
    const usual = await metrics({})
    expect(usual).toMatchObject({ status: 'UP', serviceCount: expect.any(Number), raftNotifyTaskCount: 0 })
    expect(usual).not.toHaveProperty('clientCount')
  })
})

const COUNTS = [
  'clientCount',
  'connectionBasedClientCount',
  'ephemeralIpPortClientCount',
  'persistentIpPortClientCount',
  'responsibleClientCount',
] as const
