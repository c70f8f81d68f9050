/** The views of services for people and plugins: the catalog, the names, the subscribers. */
import { describe, expect, test } from 'vitest'
import { DIALECTS, type Dialect, serverForThisFile, unique, type Json, type Params } from './client.ts'
import { refusals } from './problem.ts'

const waypost = serverForThisFile()

async function registered(serviceName: string, extra: Params = {}): Promise<void> {
  const form = { serviceName, ip: '127.0.0.1', port: 80, ...extra }
  expect((await waypost.nacos.post('/ns/instance', form)).text).toBe('ok')
}

async function readOn(dialect: Dialect, path: string, query?: Params): Promise<Json> {
  const answer = await waypost[dialect].get(path, query)
  expect(answer.status, answer.text).toBe(200)
  return answer.json()
}

describe.each(DIALECTS)('/%s: the catalog', (dialect) => {
  const expectRefused = refusals(dialect)
  const read = (path: string, query: Params): Promise<Json> => readOn(dialect, path, query)

  async function catalogued() {
    const [serviceName, namespaceId] = [unique('shop'), unique('ns')]
    await registered(serviceName, { namespaceId, port: 1 })
    await registered(serviceName, { namespaceId, port: 2, clusterName: 'c2', healthy: false })
    await registered(serviceName, { namespaceId, port: 3, enabled: false })
    await registered(unique('other'), { namespaceId, groupName: 'G' })
    return { serviceName, namespaceId }
  }

  test('counts clusters and instances of each service', async () => {
    const { serviceName, namespaceId } = await catalogued()
    const all = await read('/ns/catalog/services', { namespaceId })
    expect(all.count).toBe(2)
    const entry = all.serviceList.find((one: Json) => one.name === serviceName)
    expect(entry).toMatchObject({
      groupName: 'DEFAULT_GROUP',
      clusterCount: 2,
      ipCount: 3,
      triggerFlag: 'false',
    })
    expect(entry.healthyInstanceCount).toBe(2)
    await waypost.nacos.post('/ns/service', { serviceName: 'guarded', namespaceId, protectThreshold: 0.9 })
    await registered('guarded', { namespaceId, healthy: false })
    const guarded = await read('/ns/catalog/services', { namespaceId, serviceNameParam: 'guarded' })
    expect(guarded).toMatchObject({
      count: 1,
      serviceList: [{ healthyInstanceCount: 0, triggerFlag: 'true' }],
    })
  })

  test('filters by parts of the names', async () => {
    const { serviceName, namespaceId } = await catalogued()
    const page = { pageNo: 1, pageSize: 10, namespaceId }
    const found = await read('/ns/catalog/services', { ...page, serviceNameParam: 'hop-' })
    expect(found.serviceList.map((one: Json) => one.name)).toEqual([serviceName])
    expect((await read('/ns/catalog/services', { ...page, groupNameParam: 'G' })).count).toBeGreaterThan(0)
    expect((await read('/ns/catalog/services', { ...page, serviceNameParam: 'nothing' })).count).toBe(0)
  })

  test('has the instances of services with withInstances=true', async () => {
    const { serviceName, namespaceId } = await catalogued()
    const query = { pageNo: 1, pageSize: 10, namespaceId, withInstances: true, serviceNameParam: serviceName }
    const [entry] = await read('/ns/catalog/services', query)
    expect(entry).toMatchObject({ serviceName, groupName: 'DEFAULT_GROUP' })
    expect(entry.clusterMap.c2.hosts).toMatchObject([{ ip: '127.0.0.1', port: 2, weight: 1, enabled: true }])
  })

  test('has pages of any length, which are written while they are read', async () => {
    const [serviceName, namespaceId] = [unique('shop'), unique('ns')]
    const metadata = JSON.stringify({ long: 'x'.repeat(8_000) })
    const ports = Array.from({ length: 80 }, (_, at) => at + 1)
    for (const port of ports)
      await registered(serviceName, { namespaceId, port, metadata, clusterName: `c${port % 2}` })
    const page = { pageNo: 1, pageSize: 1_000, namespaceId }
    const [entry, ...others] = await read('/ns/catalog/services', { ...page, withInstances: true })
    expect(others).toEqual([])
    const portsOf = (hosts: Json): number[] => hosts.map(({ port }: Json) => port)
    const { c0, c1 } = entry.clusterMap
    expect([...portsOf(c1.hosts), ...portsOf(c0.hosts)].sort((a, b) => a - b)).toEqual(ports)
    const { list, count } = await read('/ns/catalog/instances', { ...page, serviceName })
    expect([portsOf(list), count]).toEqual([ports, 80])
  })

  test('has a service with its clusters', async () => {
    const { serviceName, namespaceId } = await catalogued()
    const answer = await read('/ns/catalog/service', { serviceName, namespaceId })
    expect(answer.service).toMatchObject({
      name: serviceName,
      groupName: 'DEFAULT_GROUP',
      protectThreshold: 0,
    })
    expect(answer.clusters).toHaveLength(2)
    expect(answer.clusters.find((one: Json) => one.name === 'c2')).toMatchObject({
      healthChecker: { type: 'TCP' },
      defaultPort: 80,
      defaultCheckPort: 80,
      useIPPort4Check: true,
      metadata: {},
    })
  })

  test('has a page of the instances of a cluster, with disabled ones', async () => {
    const { serviceName, namespaceId } = await catalogued()
    const query = { serviceName, namespaceId, clusterName: 'DEFAULT', pageNo: 1, pageSize: 10 }
    const answer = await read('/ns/catalog/instances', query)
    expect(answer.count).toBe(2)
    expect(answer.list.map((one: Json) => [one.port, one.enabled]).sort()).toEqual([
      [1, true],
      [3, false],
    ])
  })

  test('has no instances of an unknown service: a 404', async () => {
    const query = { serviceName: unique('svc'), clusterName: 'DEFAULT', pageNo: 1, pageSize: 10 }
    for (const path of ['/ns/catalog/service', '/ns/catalog/instances'])
      expectRefused(await waypost[dialect].get(path, query), 404)
  })

  test('has no subscribers of a service that nobody watches', async () => {
    const serviceName = unique('svc')
    await registered(serviceName)
    const query = { serviceName, pageNo: 1, pageSize: 10 }
    expect(await read('/ns/service/subscribers', query)).toEqual({ subscribers: [], count: 0 })
  })
})

test.each(DIALECTS)('on /%s the views accept names of object properties', async (dialect) => {
  const namespaceId = unique('ns')
  const clusters = ['constructor', '__proto__']
  for (const clusterName of clusters) await registered('orders', { clusterName, namespaceId })
  const page = { namespaceId, withInstances: true }
  const [{ clusterMap }] = await readOn(dialect, '/ns/catalog/services', page)
  expect(Object.keys(clusterMap).sort()).toEqual(clusters.toSorted())
  const query = { namespaceId, serviceName: 'orders' }
  const names = (await readOn(dialect, '/ns/catalog/service', query)).clusters.map(({ name }: Json) => name)
  expect(names.sort()).toEqual(clusters.toSorted())
})

describe('the routes of the DNS plugin', () => {
  test('allDomNames has the services of all namespaces, or a plain list for old plugins', async () => {
    const serviceName = unique('svc')
    await registered(serviceName)
    await registered(serviceName, { namespaceId: '__proto__' })
    const answer = await readOn('nacos', '/ns/api/allDomNames')
    expect(Object.entries(answer.doms)).toContainEqual(['__proto__', [serviceName]])
    expect(answer.count).toEqual(expect.any(Number))
    expect(answer.doms.public).toContain(serviceName)
    const headers = { 'User-Agent': 'Nacos-DNS:v1.0.1' }
    const old = (await waypost.nacos.get('/ns/api/allDomNames', {}, headers)).json()
    expect(old.doms).toContain(serviceName)
  })

  test('srvIPXT has the list of a service', async () => {
    const serviceName = unique('svc')
    await registered(serviceName)
    const answer = await readOn('nacos', '/ns/api/srvIPXT', { dom: serviceName })
    expect(answer).toMatchObject({ hosts: [{ ip: '127.0.0.1', port: 80 }] })
  })
})

test('on /svc who reads the list of a service is a subscriber, and on /nacos only who gets pushes', async () => {
  const query = { serviceName: unique('s'), namespaceId: unique('ns') }
  await registered(query.serviceName, query)
  const headers = { 'User-Agent': 'reader/1' }
  for (const path of ['/ns/instance/list', '/ns/instance/list'])
    await waypost.svc.call('GET', path, { query, headers })
  expect(await readOn('svc', '/ns/service/subscribers', query)).toMatchObject({
    count: 1,
    subscribers: [{ ip: '127.0.0.1', port: 0, agent: 'reader/1', via: 'poll' }],
  })
  const pushed = await readOn('nacos', '/ns/service/subscribers', query)
  expect(pushed).toEqual({ count: 0, subscribers: [] })
})

test('on /svc the names of services are those of a namespace, and the checkers are listed', async () => {
  const [serviceName, namespaceId] = [unique('s'), unique('ns')]
  await registered(serviceName, { namespaceId })
  const names = await readOn('svc', '/ns/service/names', { namespaceId })
  expect(names).toEqual({ count: 1, services: { [namespaceId]: [serviceName] } })
  const checkers = await readOn('svc', '/ns/health/checkers')
  expect(Object.keys(checkers)).toEqual(['NONE', 'TCP', 'HTTP', 'MYSQL'])
})
