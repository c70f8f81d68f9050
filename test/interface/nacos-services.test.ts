import { describe, expect, test } from 'vitest'
import { serverForThisFile, unique, type Json, type Params } from './client.ts'

const waypost = serverForThisFile()
const service = '/ns/service'

async function registered(serviceName: string, extra: Params = {}): Promise<void> {
  const answer = await waypost.nacos.post('/ns/instance', {
    serviceName,
    ip: '127.0.0.1',
    port: 80,
    ...extra,
  })
  expect(answer.text).toBe('ok')
}

const read = async (path: string, query?: Params): Promise<Json> => {
  const answer = await waypost.nacos.get(path, query)
  expect(answer.status, answer.text).toBe(200)
  return answer.json()
}

describe('services', () => {
  test('are created, read, updated, listed and deleted', async () => {
    const serviceName = unique('svc')
    const namespaceId = unique('ns')
    const key = { serviceName, namespaceId }
    expect((await waypost.nacos.post(service, { ...key, protectThreshold: 0.5 })).text).toBe('ok')
    expect(await read(service, key)).toMatchObject({
      name: serviceName,
      namespaceId,
      groupName: 'DEFAULT_GROUP',
      protectThreshold: 0.5,
      metadata: {},
      selector: { type: 'none' },
      clusters: [],
    })
    expect((await waypost.nacos.put(service, { ...key, protectThreshold: 0.7 })).text).toBe('ok')
    expect(await read(service, key)).toMatchObject({ protectThreshold: 0.7 })
    const page = { pageNo: 1, pageSize: 10, namespaceId }
    expect(await read(`${service}/list`, page)).toEqual({ doms: [serviceName], count: 1 })
    expect(await waypost.nacos.delete(service, key)).toMatchObject({ status: 200, text: 'ok' })
    expect((await waypost.nacos.get(service, key)).status).toBe(404)
  })

  test('are refused in text if they exist already, are not empty or are missing', async () => {
    const serviceName = unique('svc')
    await waypost.nacos.post(service, { serviceName })
    const twice = await waypost.nacos.post(service, { serviceName })
    expect(twice.status).toBe(400)
    expect(twice.text).toContain('already exists')
    await registered(serviceName)
    const full = await waypost.nacos.delete(service, { serviceName })
    expect(full.status).toBe(400)
    expect(full.text).toContain('is not empty')
    for (const method of ['GET', 'PUT', 'DELETE']) {
      const query = { serviceName: unique('absent'), protectThreshold: 0 }
      const missing = await waypost.nacos.call(method, service, { query })
      expect(missing.status).toBe(404)
      expect(missing.headers['content-type'] ?? '').not.toMatch(/problem/)
      expect(missing.text).toMatch(/not found|not exist/)
    }
  })

  test('have no subscribers if nobody watches them', async () => {
    const serviceName = unique('svc')
    await registered(serviceName)
    const query = { serviceName, pageNo: 1, pageSize: 10 }
    expect(await read(`${service}/subscribers`, query)).toEqual({ subscribers: [], count: 0 })
  })
})

describe('the catalog', () => {
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
    const page = { pageNo: 1, pageSize: 10, namespaceId }
    const all = await read('/ns/catalog/services', page)
    expect(all.count).toBe(2)
    const entry = all.serviceList.find((one: Json) => one.name === serviceName)
    expect(entry).toMatchObject({
      groupName: 'DEFAULT_GROUP',
      clusterCount: 2,
      ipCount: 3,
      triggerFlag: 'false',
    })
    expect(entry.healthyInstanceCount).toBe(2)
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

  test('answers 404 for an unknown service', async () => {
    expect((await waypost.nacos.get('/ns/catalog/service', { serviceName: unique('svc') })).status).toBe(404)
    const query = { serviceName: unique('svc'), clusterName: 'DEFAULT', pageNo: 1, pageSize: 10 }
    expect((await waypost.nacos.get('/ns/catalog/instances', query)).status).toBe(404)
  })
})

describe('the routes of the DNS plugin', () => {
  test('allDomNames has the services of all namespaces, or a plain list for old plugins', async () => {
    const serviceName = unique('svc')
    await registered(serviceName)
    const answer = await read('/ns/api/allDomNames')
    expect(answer.count).toEqual(expect.any(Number))
    expect(answer.doms.public).toContain(serviceName)
    const headers = { 'User-Agent': 'Nacos-DNS:v1.0.1' }
    const old = (await waypost.nacos.get('/ns/api/allDomNames', {}, headers)).json()
    expect(old.doms).toContain(serviceName)
  })

  test('srvIPXT has the list of a service', async () => {
    const serviceName = unique('svc')
    await registered(serviceName)
    const answer = await read('/ns/api/srvIPXT', { dom: serviceName })
    expect(answer).toMatchObject({ hosts: [{ ip: '127.0.0.1', port: 80 }] })
  })
})
