import { expect, test } from 'vitest'
import { Client, serverForThisFile, unique, type Json, type Params } from './client.ts'

const waypost = serverForThisFile()

/** A service of this threshold, with one instance for each entry. */
async function service(protectThreshold: number, instances: readonly Params[]): Promise<string> {
  const serviceName = unique('guarded')
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

test('a share at or below the threshold lists all as healthy, and a share above it each as it is', async () => {
  for (const [instances, isProtecting] of [
    [[up, down, down], true],
    [[up, down], true],
    [[up, up, down], false],
  ] as const) {
    const serviceName = await service(0.5, instances)
    const list = await listOf(serviceName)
    expect(healths(list)).toEqual(instances.map(({ healthy }) => healthy || isProtecting))
    expect(list.reachProtectionThreshold).toBe(isProtecting)
    expect(await listOf(serviceName, { healthyOnly: true })).toMatchObject({
      hosts: instances.filter(({ healthy }) => healthy || isProtecting).map(() => ({ healthy: true })),
    })
  }
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
  ['all healthy', 1, [up, up]],
  ['no instance', 1, []],
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

test('a new threshold applies at once', async () => {
  const serviceName = await service(0, [up, down])
  expect((await listOf(serviceName)).reachProtectionThreshold).toBe(false)
  await waypost.svc.put('/ns/service', { serviceName, protectThreshold: 0.6 })
  expect((await listOf(serviceName)).reachProtectionThreshold).toBe(true)
})
