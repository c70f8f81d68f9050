import { describe, expect, test } from 'vitest'
import { serverForThisFile, until, unique, type Json, type Params } from './client.ts'

const waypost = serverForThisFile()
const java = { 'User-Agent': 'Nacos-Java-Client:v1.4.8' }
const LARGEST = 2_147_483_647

async function registered(serviceName: string, extra: Params = {}): Promise<void> {
  const form = { serviceName, ip: '127.0.0.1', port: 80, ...extra }
  const answer = await waypost.nacos.post('/ns/instance', form)
  expect(answer, answer.text).toMatchObject({ status: 200, text: 'ok' })
}

const read = async (path: string, query: Params, headers?: Record<string, string>): Promise<Json> => {
  const answer = await waypost.nacos.get(path, query, headers)
  expect(answer.status, answer.text).toBe(200)
  return answer.json()
}

describe('the size of a page', () => {
  const paged: [string, Params][] = [
    ['/ns/service/list', {}],
    ['/ns/catalog/services', {}],
    ['/ns/catalog/instances', {}],
    ['/ns/service/subscribers', {}],
    ['/cs/configs', { search: 'accurate' }],
    ['/cs/configs', { search: 'blur' }],
    ['/cs/history', { search: 'accurate' }],
  ]
  test.each(paged)('may be the largest integer of Java at %s %j', async (path, extra) => {
    const serviceName = unique('svc')
    await registered(serviceName)
    const query = { ...extra, serviceName, dataId: 'd', group: 'g', pageNo: 1, pageSize: LARGEST }
    await read(path, query)
    const tooLarge = await waypost.nacos.get(path, { ...query, pageSize: LARGEST + 1 })
    expect(tooLarge.status).toBe(400)
  })

  const counted: [string, string][] = [
    ['/ns/service/list', 'doms'],
    ['/ns/catalog/services', 'serviceList'],
    ['/ns/catalog/instances', 'list'],
    ['/ns/service/subscribers', 'subscribers'],
  ]
  test.each(counted)('0 asks for the count alone at %s', async (path, list) => {
    const [serviceName, namespaceId] = [unique('svc'), unique('ns')]
    await registered(serviceName, { namespaceId })
    const udpPort = 30_000
    await read('/ns/instance/list', { serviceName, namespaceId, udpPort }, java)
    const query = { serviceName, namespaceId, pageNo: 1, pageSize: 0 }
    expect(await read(path, query)).toEqual({ [list]: [], count: 1 })
  })

  const refused: [string, Params][] = [
    ['/cs/configs', { search: 'accurate' }],
    ['/cs/configs', { search: 'blur' }],
    ['/cs/history', { search: 'accurate' }],
  ]
  test.each(refused)('0 is refused at %s %j', async (path, extra) => {
    const answer = await waypost.nacos.get(path, {
      ...extra,
      dataId: 'd',
      group: 'g',
      pageNo: 1,
      pageSize: 0,
    })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('pageNo and pageSize must be greater than zero')
  })

  test('on /svc may be the largest integer, and not 0', async () => {
    const query = { dataId: 'd', group: 'g', search: 'accurate', pageNo: 1 }
    for (const path of ['/ns/service/list', '/cs/history']) {
      expect((await waypost.svc.get(path, { ...query, pageSize: LARGEST })).status).toBe(200)
      expect((await waypost.svc.get(path, { ...query, pageSize: 0 })).status).toBe(400)
    }
  })
})

describe('the list of services', () => {
  async function catalogued(): Promise<string> {
    const namespaceId = unique('ns')
    await registered('a', { namespaceId, metadata: 'zone=1,rack=x' })
    await registered('b', { namespaceId, metadata: 'zone=2' })
    await registered('c', { namespaceId, groupName: 'G', metadata: 'zone=1' })
    await waypost.nacos.post('/ns/service', { serviceName: 'd', namespaceId, metadata: 'team=shop' })
    return namespaceId
  }
  const labelled = (expression: string) => JSON.stringify({ type: 'label', expression })
  const page = { pageNo: 1, pageSize: 10 }

  test('has the services of all groups under their grouped names for groupName=*', async () => {
    const namespaceId = await catalogued()
    const all = await read('/ns/service/list', { ...page, namespaceId, groupName: '*' })
    const doms = ['DEFAULT_GROUP@@a', 'DEFAULT_GROUP@@b', 'DEFAULT_GROUP@@d', 'G@@c']
    expect(all).toEqual({ doms, count: 4 })
    const second = await read('/ns/service/list', { ...page, namespaceId, groupName: '*', pageNo: 2 })
    expect(second).toEqual({ doms: [], count: 4 })
    expect((await waypost.svc.get('/ns/service/list', { ...page, namespaceId, groupName: '*' })).status).toBe(
      400,
    )
  })

  test.each([
    ["INSTANCE.metadata.zone = '1'", ['a']],
    ["INSTANCE.metadata.zone = '1' & INSTANCE.metadata.rack = 'x'", ['a']],
    ["INSTANCE.metadata.zone = '2' & INSTANCE.metadata.rack = 'x'", []],
    ["SERVICE.metadata.team = 'shop'", ['d']],
    // Whatever is between the first word and the last does not count, and what cannot be read is ignored.
    ["INSTANCE.label.zone = '1'", ['a']],
    ["SERVICE.any.words.team = 'shop'", ['d']],
    ['zone = 1', ['a', 'b', 'd']],
    ['', ['a', 'b', 'd']],
  ])('is filtered by the label expression %j', async (expression, doms) => {
    const namespaceId = await catalogued()
    const answer = await read('/ns/service/list', { ...page, namespaceId, selector: labelled(expression) })
    expect(answer).toEqual({ doms, count: doms.length })
  })

  test('is not filtered by a selector of the type none, nor by any selector on /svc', async () => {
    const namespaceId = await catalogued()
    const none = await read('/ns/service/list', { ...page, namespaceId, selector: '{"type":"none"}' })
    expect(none.count).toBe(3)
    const selector = labelled("INSTANCE.metadata.zone = '1'")
    expect((await waypost.svc.get('/ns/service/list', { ...page, namespaceId, selector })).json().count).toBe(
      3,
    )
  })

  test.each(['{', '{"type":"other"}'])('is refused for the selector %s', async (selector) => {
    const answer = await waypost.nacos.get('/ns/service/list', { ...page, selector })
    expect(answer.status, answer.text).toBe(400)
    expect(answer.text).toContain('selector')
  })
})

test('the names of services are bare names, listed and counted by namespace', async () => {
  const [one, two] = [unique('ns'), unique('ns')]
  await registered('s', { namespaceId: one })
  await registered('s', { namespaceId: one, groupName: 'G' })
  await registered('other', { namespaceId: one })
  await registered('s', { namespaceId: two })
  const path = '/ns/service/names'
  expect(await read(path, { namespaceId: one })).toEqual({
    services: { [one]: ['other', 's'] },
    'META-INF/services': { [one]: ['DEFAULT_GROUP@@other', 'DEFAULT_GROUP@@s', 'G@@s'] },
    count: 1,
  })
  expect(await read(path, { namespaceId: one, expr: 'oth' })).toEqual({
    services: { [one]: ['other'] },
    'META-INF/services': { [one]: ['DEFAULT_GROUP@@other'] },
    count: 1,
  })
  expect(await read(path, { namespaceId: 'none' })).toMatchObject({ services: { none: [] }, count: 1 })
  const all = await read(path, {})
  expect(all.services).toMatchObject({ [two]: ['s'] })
  expect(all.count).toBe(Object.keys(all.services).length)
})

describe('an instance list', () => {
  async function listed(headers: Record<string, string>) {
    const serviceName = unique('svc')
    await waypost.nacos.post('/ns/service', { serviceName, metadata: 'team=shop' })
    await registered(serviceName, { port: 1 })
    await registered(serviceName, { port: 2, healthy: false, ephemeral: false })
    const list = await read('/ns/instance/list', { serviceName }, headers)
    return { serviceName, list }
  }

  const agents: [string, Record<string, string>, string][] = [
    ['the Java client', java, 'DEFAULT_GROUP@@'],
    ['a Java client of 2.x', { 'User-Agent': 'Nacos-Java-Client:v2.5.1' }, 'DEFAULT_GROUP@@'],
    ['the npm client', { 'User-Agent': 'Nacos-Java-Client:v1.0.0' }, 'DEFAULT_GROUP@@'],
    ['Client-Version', { 'Client-Version': 'Nacos-Java-Client:v1.4.8' }, 'DEFAULT_GROUP@@'],
    ['an old Java client', { 'User-Agent': 'Nacos-Java-Client:v0.9.1' }, ''],
    ['the Go client', { 'User-Agent': 'Nacos-Go-Client:v1.1.6' }, ''],
    ['a client without a name', {}, ''],
  ]
  test.each(agents)('has the fields of 1.4 for %s', async (_client, headers, prefix) => {
    const { serviceName, list } = await listed(headers)
    expect(list).toMatchObject({
      name: `DEFAULT_GROUP@@${serviceName}`,
      dom: `${prefix}${serviceName}`,
      env: '',
      useSpecifiedURL: false,
      metadata: { team: 'shop' },
      hosts: [
        { port: 1, healthy: true, valid: true, marked: false, serviceName: `${prefix}${serviceName}` },
        { port: 2, healthy: false, valid: false, marked: false, serviceName: `${prefix}${serviceName}` },
      ],
    })
    expect(list.hosts[0].instanceId).toBe(`127.0.0.1#1#DEFAULT#DEFAULT_GROUP@@${serviceName}`)
  })

  test('of an unknown service has these fields too', async () => {
    const serviceName = unique('svc')
    const more = { dom: serviceName, env: '', useSpecifiedURL: false, metadata: {}, hosts: [] }
    expect(await read('/ns/instance/list', { serviceName })).toMatchObject(more)
  })

  test('on /svc has none of these fields, also after a list of the other dialect', async () => {
    const { serviceName } = await listed(java)
    const list = (await waypost.svc.get('/ns/instance/list', { serviceName }, java)).json()
    for (const field of ['dom', 'env', 'useSpecifiedURL', 'metadata']) expect(list).not.toHaveProperty(field)
    for (const field of ['valid', 'marked']) expect(list.hosts[0]).not.toHaveProperty(field)
    expect(list.hosts[0].serviceName).toBe(`DEFAULT_GROUP@@${serviceName}`)
  })
})

describe('metadata=null', () => {
  test.each(['svc', 'nacos'] as const)('means no metadata on /%s', async (dialect) => {
    const serviceName = unique('svc')
    const form = { serviceName, ip: '127.0.0.1', port: 80, metadata: 'null' }
    expect((await waypost[dialect].post('/ns/instance', form)).text).toBe('ok')
    const [host] = (await waypost[dialect].get('/ns/instance/list', { serviceName })).json().hosts
    expect(host.metadata).toEqual({})
    const other = { serviceName: unique('svc'), metadata: 'null' }
    expect((await waypost[dialect].post('/ns/service', other)).text).toBe('ok')
    expect((await waypost[dialect].get('/ns/service', other)).json().metadata).toEqual({})
    expect((await waypost[dialect].put('/ns/service', { ...other, protectThreshold: 0 })).text).toBe('ok')
  })

  test('in a modification changes no metadata', async () => {
    const serviceName = unique('svc')
    await registered(serviceName, { metadata: 'a=1' })
    const key = { serviceName, ip: '127.0.0.1', port: 80 }
    expect((await waypost.nacos.put('/ns/instance', { ...key, metadata: 'null' })).text).toBe('ok')
    const [host] = (await read('/ns/instance/list', { serviceName })).hosts
    expect(host.metadata).toEqual({ a: '1' })
  })

  test('lets an instance that said goodbye return by its registration, and not by a late beat', async () => {
    const serviceName = unique('svc')
    const beat = JSON.stringify({ ip: '127.0.0.1', port: 80, cluster: 'DEFAULT', metadata: null })
    const count = async () => (await read('/ns/instance/list', { serviceName })).hosts.length
    expect((await waypost.nacos.put('/ns/instance/beat', { serviceName, beat })).json().code).toBe(10_200)
    expect(await count()).toBe(1)
    await waypost.nacos.delete('/ns/instance', { serviceName, ip: '127.0.0.1', port: 80 })
    const light = { serviceName, ip: '127.0.0.1', port: 80, clusterName: 'DEFAULT' }
    expect((await waypost.nacos.put('/ns/instance/beat', light)).json().code).toBe(10_200)
    expect(await count()).toBe(0)
    await registered(serviceName, { metadata: 'null' })
    await until(count, (hosts) => hosts === 1)
    const [host] = (await read('/ns/instance/list', { serviceName })).hosts
    expect(host.metadata).toEqual({})
  })
})
