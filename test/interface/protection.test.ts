import { expect, test } from 'vitest'
import { Client, serverForThisFile, unique, type Json, type Params } from './client.ts'

const waypost = serverForThisFile()

/** A service of this threshold, with one instance for each entry. */
async function service(protectThreshold: number | undefined, instances: Params[]): Promise<string> {
  const serviceName = unique('guarded')
  if (protectThreshold !== undefined)
    expect((await waypost.svc.post('/ns/service', { serviceName, protectThreshold })).text).toBe('ok')
  for (const [port, extra] of instances.entries()) {
    const form = { serviceName, ip: '127.0.0.1', port, ...extra }
    expect((await waypost.svc.post('/ns/instance', form)).text).toBe('ok')
  }
  return serviceName
}

async function listOf(serviceName: string, query: Params = {}): Promise<Json> {
  return (await waypost.svc.get('/ns/instance/list', { serviceName, ...query })).json()
}

const up = { healthy: true }
const down = { healthy: false }
const healths = (list: Json): boolean[] => list.hosts.map((host: Json) => host.healthy)

test.each([{}, { healthyOnly: true }])(
  'a share at the threshold lists all as healthy, with %j',
  async (query) => {
    const list = await listOf(await service(0.5, [up, down]), query)
    expect(healths(list)).toEqual([true, true])
    expect(list.reachProtectionThreshold).toBe(true)
  },
)

test('a share below the threshold lists all as healthy', async () => {
  const list = await listOf(await service(0.5, [up, down, down]), { healthyOnly: true })
  expect(healths(list)).toEqual([true, true, true])
  expect(list.reachProtectionThreshold).toBe(true)
})

test('a share above the threshold lists each health as it is', async () => {
  const serviceName = await service(0.5, [up, up, down])
  const list = await listOf(serviceName)
  expect(healths(list).filter(Boolean)).toHaveLength(2)
  expect(list.reachProtectionThreshold).toBe(false)
  expect((await listOf(serviceName, { healthyOnly: true })).hosts).toHaveLength(2)
})

test('with all unhealthy, all are listed as healthy above threshold 0', async () => {
  const list = await listOf(await service(0.1, [down, down]), { healthyOnly: true })
  expect(healths(list)).toEqual([true, true])
  expect(list.reachProtectionThreshold).toBe(true)
})

test.each([0, undefined])('threshold %j never triggers, even with all down', async (threshold) => {
  const serviceName = await service(threshold, [down, down])
  const list = await listOf(serviceName)
  expect(healths(list)).toEqual([false, false])
  expect(list.reachProtectionThreshold).toBe(false)
  expect(await listOf(serviceName, { healthyOnly: true })).toMatchObject({
    hosts: [],
    reachProtectionThreshold: false,
  })
})

test('with all healthy it does not trigger, at threshold 1 either', async () => {
  const list = await listOf(await service(1, [up, up]))
  expect(healths(list)).toEqual([true, true])
  expect(list.reachProtectionThreshold).toBe(false)
})

test('one unhealthy instance of many triggers at threshold 1', async () => {
  const list = await listOf(await service(1, [up, up, up, up, down]))
  expect(healths(list)).toEqual([true, true, true, true, true])
  expect(list.reachProtectionThreshold).toBe(true)
})

test('disabled instances do not count', async () => {
  const gone = { healthy: false, enabled: false }
  const list = await listOf(await service(0.5, [up, up, down, gone, gone]))
  expect(healths(list).filter(Boolean)).toHaveLength(2)
  expect(list.reachProtectionThreshold).toBe(false)
})

const off = { enabled: false }
const SHARES: readonly (readonly [string, number, Params[]])[] = [
  ['one of two, and one disabled', 0.6, [up, down, { ...up, ...off }]],
  ['one of one, and two disabled and unhealthy', 0.6, [up, { ...down, ...off }, { ...down, ...off }]],
  ['all disabled', 0.6, [{ ...down, ...off }]],
  ['equal to the threshold', 0.5, [up, down]],
  ['above the threshold', 0.4, [up, down]],
  ['none healthy', 0.1, [down, down]],
  ['no threshold', 0, [down, down]],
]

test.each(SHARES)('each door says the same as the list: %s', async (_name, threshold, instances) => {
  const serviceName = await service(threshold, instances)
  const listed = (await listOf(serviceName)).reachProtectionThreshold
  const { svc, nacos } = waypost
  const page = { pageNo: 1, pageSize: 9 }
  const said: Json = {}
  const data = (answer: Json): Json => answer.data ?? answer
  for (const path of ['/nacos/v1/ns', '/nacos/v2/ns']) {
    const client = new Client(`${waypost.server.url}${path}`)
    said[path] = data((await client.get('/instance/list', { serviceName })).json()).reachProtectionThreshold
  }
  for (const [name, client] of Object.entries({ svc, nacos })) {
    const query = { ...page, serviceNameParam: serviceName }
    const { serviceList } = (await client.get('/ns/catalog/services', query)).json()
    said[`catalog of ${name}`] = serviceList[0].triggerFlag === 'true'
  }
  const inventory = (await svc.get('/console/services', { ...page, text: serviceName })).json()
  said.console = inventory.pageItems.find((one: Json) => one.name === serviceName).protecting
  said.explained = (await svc.get('/console/explain', { serviceName })).json().protecting
  expect(said).toEqual(Object.fromEntries(Object.keys(said).map((door) => [door, listed])))
})

test('the share counts only the requested clusters', async () => {
  const good = [0, 1, 2].map(() => ({ ...up, clusterName: 'good' }))
  const serviceName = await service(0.5, [...good, { ...down, clusterName: 'bad' }])
  expect(await listOf(serviceName)).toMatchObject({ reachProtectionThreshold: false })
  expect(await listOf(serviceName, { clusters: 'good' })).toMatchObject({ reachProtectionThreshold: false })
  const bad = await listOf(serviceName, { clusters: 'bad', healthyOnly: true })
  expect(bad).toMatchObject({ reachProtectionThreshold: true, hosts: [{ healthy: true }] })
})

test('an empty service does not trigger', async () => {
  expect(await listOf(await service(1, []))).toMatchObject({ hosts: [], reachProtectionThreshold: false })
})

test('a new threshold applies at once', async () => {
  const serviceName = await service(0, [up, down])
  expect((await listOf(serviceName)).reachProtectionThreshold).toBe(false)
  await waypost.svc.put('/ns/service', { serviceName, protectThreshold: 0.6 })
  expect((await listOf(serviceName)).reachProtectionThreshold).toBe(true)
})
