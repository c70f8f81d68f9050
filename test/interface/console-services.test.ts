/** The requests of the console about services: the list, the instances and their reasons, changes of many. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { serverForThisFile, unique, type Json, type Params, type Reply } from './client.ts'

const waypost = serverForThisFile()

const register = (namespaceId: string, serviceName: string, more: Params = {}): Promise<Reply> =>
  waypost.svc.post('/ns/instance', { namespaceId, serviceName, ip: '10.0.0.1', port: 80, ...more })

async function ask(path: string, query: Params): Promise<Json> {
  const reply = await waypost.svc.get(`/console/${path}`, query)
  expect(reply.status, reply.text).toBe(200)
  return reply.json()
}

describe('the list of services', () => {
  const names = async (query: Params): Promise<string[]> =>
    (await ask('services', query)).pageItems.map(({ name }: Json) => name)

  test('has figures, and finds what needs attention', async () => {
    const namespaceId = unique('ns')
    await register(namespaceId, 'fine')
    await register(namespaceId, 'disabled', { enabled: false })
    await waypost.svc.post('/ns/service', { namespaceId, serviceName: 'few', protectThreshold: 0.5 })
    await register(namespaceId, 'few', { healthy: false })
    await register(namespaceId, 'few', { port: 81, healthy: true, metadata: 'zone=a' })
    await waypost.svc.post('/ns/service', { namespaceId, serviceName: 'empty' })
    const page = await ask('services', { namespaceId })
    expect(page).toMatchObject({ totalCount: 4, truncated: false })
    expect(page.pageItems.map(({ name }: Json) => name)).toEqual(['disabled', 'empty', 'few', 'fine'])
    expect(page.pageItems[2]).toMatchObject({
      namespaceId,
      groupName: 'DEFAULT_GROUP',
      ipCount: 2,
      healthyInstanceCount: 1,
      disabledCount: 0,
      protectThreshold: 0.5,
      protecting: true,
      subscriberCount: 0,
    })
    expect(Math.abs(page.pageItems[2].lastChangeMs - Date.now())).toBeLessThan(10_000)
    expect(await names({ namespaceId, health: 'unhealthy' })).toEqual(['few'])
    expect(await names({ namespaceId, health: 'protecting' })).toEqual(['few'])
    expect(await names({ namespaceId, health: 'disabled' })).toEqual(['disabled'])
    expect(await names({ namespaceId, health: 'empty' })).toEqual(['empty'])
    expect(await names({ namespaceId, ip: '10.0.0.1:81' })).toEqual(['few'])
    expect(await names({ namespaceId, metadata: 'zone=a' })).toEqual(['few'])
    expect(await names({ namespaceId, metadata: 'zone=b' })).toEqual([])
    expect(await names({ namespaceId, sort: 'ipCount', pageSize: 1 })).toEqual(['few'])
  })

  test('is over all namespaces for *', async () => {
    const [one, two, name] = [unique('ns'), unique('ns'), unique('s')]
    await register(one, name)
    await register(two, name, { groupName: 'G' })
    expect(await names({ namespaceId: '*', text: name.toUpperCase() })).toEqual([name, name])
    expect(await names({ namespaceId: '*', text: name, groupName: 'G' })).toEqual([name])
  })
})

describe('explain', () => {
  test('says what a client gets, which is what the list gives', async () => {
    const namespaceId = unique('ns')
    await register(namespaceId, 's', { metadata: 'zone=a' })
    await register(namespaceId, 's', { port: 81, healthy: false, clusterName: 'c' })
    await register(namespaceId, 's', { port: 82, enabled: false })
    await register(namespaceId, 's', { port: 83, ip: '10.0.0.2', metadata: 'zone=b' })
    const expression = 'CONSUMER.label.zone = PROVIDER.label.zone'
    await waypost.svc.put('/ns/service', {
      namespaceId,
      serviceName: 's',
      protectThreshold: 0.3,
      selector: JSON.stringify({ type: 'label', expression }),
    })
    for (const ip of ['10.0.0.1', '10.0.0.2', '10.9.9.9'])
      for (const clusters of ['', 'c', 'DEFAULT', 'c,DEFAULT'])
        for (const healthyOnly of [true, false]) {
          const asked = { namespaceId, serviceName: 's', clusters, healthyOnly }
          const explained = await ask('explain', { ...asked, ip })
          const list = (await waypost.svc.get('/ns/instance/list', { ...asked, clientIP: ip })).json()
          const portsOf = (all: Json[]): number[] => all.map(({ port }) => port)
          const listed = explained.pageItems.filter((one: Json) => one.listed)
          expect(portsOf(listed), JSON.stringify(asked)).toEqual(portsOf(list.hosts))
          expect(explained.protecting).toBe(list.reachProtectionThreshold)
          expect(explained).toMatchObject({ totalCount: 4, listedCount: listed.length })
        }
    const page = await ask('explain', { namespaceId, serviceName: 's', ip: '10.0.0.1', pageSize: 2 })
    expect(page).toMatchObject({ selector: 'applied', pagesAvailable: 2, protectThreshold: 0.3 })
    expect(page.pageItems[0]).toMatchObject({ port: 80, listed: true, reasons: ['healthy'] })
    const missing = await waypost.svc.get('/console/explain', { namespaceId, serviceName: 'none' })
    expect(missing.status).toBe(404)
  })
})

/** Between both is more than a busy machine stops: nobody is removed who was not unhealthy before. */
const SHORT_LIVED = '{"preserved.heart.beat.timeout":"1000","preserved.ip.delete.timeout":"4000"}'

describe('the timeline', () => {
  test('says what has happened to instances, and who asked for it', async () => {
    const namespaceId = unique('ns')
    const service = { namespaceId, serviceName: 's' }
    const instance = { ...service, ip: '10.0.0.1', port: 80 }
    const beganMs = Date.now()
    await register(namespaceId, 's')
    await register(namespaceId, 's', { port: 81, metadata: SHORT_LIVED })
    await waypost.svc.put('/ns/instance', { ...instance, enabled: false, weight: 3 })
    await waypost.svc.put('/ns/instance', { ...instance, metadata: 'a=b' })
    const instances = JSON.stringify([{ ip: '10.0.0.1', port: 80, ephemeral: true, clusterName: 'DEFAULT' }])
    await waypost.svc.put('/ns/instance/batch', { ...service, instances, enabled: true })
    const kinds = async (query: Params = {}): Promise<string[]> =>
      (await ask('timeline', { ...service, ...query })).entries.map(
        ({ port, kind, cause, text }: Json) => `${port} ${kind} ${cause} ${text}`,
      )
    await expect.poll(() => kinds({ ip: ':81' })).toContain('81 removed silence ')
    expect(await kinds({ ip: ':81' })).toEqual([
      '81 removed silence ',
      '81 unhealthy silence ',
      '81 registered registration ',
    ])
    await waypost.svc.delete('/ns/instance', instance)
    const all = await kinds({ ip: ':80' })
    expect(all.toReversed().slice(0, 1)).toEqual(['80 registered registration '])
    expect(all.toSorted()).toEqual([
      '80 disabled operator ',
      '80 enabled operator ',
      '80 metadata operator ',
      '80 registered registration ',
      '80 removed deregistration ',
      '80 weight operator 1 → 3',
    ])
    const { fromMs, truncated, entries, missingServers } = await ask('timeline', service)
    expect([truncated, missingServers, fromMs <= beganMs]).toEqual([false, [], true])
    for (const { atMs } of entries) expect(Math.abs(atMs - Date.now())).toBeLessThan(60_000)
    const disabled = entries.find(({ kind }: Json) => kind === 'disabled')
    expect(disabled).toMatchObject({ user: null, fromIp: '127.0.0.1', clusterName: 'DEFAULT' })
  })

  test('tells of an instance who has disabled it', async () => {
    const namespaceId = unique('ns')
    await register(namespaceId, 's', { ephemeral: false })
    await waypost.svc.put('/ns/instance', {
      namespaceId,
      serviceName: 's',
      ip: '10.0.0.1',
      port: 80,
      enabled: false,
    })
    const [one] = (await ask('instances', { namespaceId, serviceName: 's' })).pageItems
    expect(one.disabled).toMatchObject({ user: null, fromIp: '127.0.0.1', cause: 'operator' })
  })
})

describe('the search', () => {
  const find = (text: string, more: Params = {}): Promise<Json> => ask('search', { text, ...more })

  test('finds names, contents, services and addresses over namespaces', async () => {
    const [one, two] = [unique('ns'), unique('ns')]
    const word = unique('Needle')
    const publish = (tenant: string, dataId: string, content: string): Promise<Reply> =>
      waypost.svc.post('/cs/configs', { tenant, group: 'G', dataId, content, type: 'yaml' })
    await publish(one, `${word}.yaml`, 'x')
    await publish(two, `a-${word}`, 'y')
    await publish(two, word, 'z')
    await publish(one, unique('other'), `key: |\n  first\n  has ${word.toUpperCase()}`)
    await register(two, `${word}-service`, { groupName: 'G', ip: `10.1.2.3`, port: 4321 })
    const found = await find(word.toLowerCase())
    expect(found).toMatchObject({ configCount: 3, serviceCount: 1, instanceCount: 0, truncated: false })
    expect(found.configs.map(({ dataId }: Json) => dataId)).toEqual([word, `${word}.yaml`, `a-${word}`])
    expect(found.contents).toMatchObject([{ namespaceId: one, hits: [{ line: 3, covered: [] }] }])
    expect(found.services).toEqual([
      { namespaceId: two, groupName: 'G', serviceName: `${word}-service`, ipCount: 1 },
    ])
    expect((await find('.2.3:4321')).instances).toMatchObject([{ namespaceId: two, ip: '10.1.2.3' }])
    expect((await find(word, { most: 1 })).configs).toHaveLength(1)
    expect((await waypost.svc.get('/console/search', { text: '' })).status).toBe(400)
  })
})

describe('namespaces', () => {
  const all = async (): Promise<Json[]> => (await ask('namespaces/all', {})).namespaces
  const setLook = (query: Params): Promise<Reply> => waypost.svc.put('/console/namespaces/look', query)

  test('have a colour, and are protected, also the default one', async () => {
    const id = unique('ns')
    await waypost.svc.post('/console/namespaces', { customNamespaceId: id, namespaceName: 'Shown' })
    for (const namespaceId of [id, 'public']) {
      expect((await setLook({ namespaceId, color: 'red' })).text).toBe('true')
      expect((await setLook({ namespaceId, protected: true })).text).toBe('true')
      expect(await all()).toContainEqual(
        expect.objectContaining({ namespaceId, listed: true, color: 'red', protected: true }),
      )
    }
    await setLook({ namespaceId: 'public', color: 'none', protected: false })
    expect((await all())[0]).toMatchObject({ namespaceId: 'public', color: 'none', protected: false })
    expect((await setLook({ namespaceId: id, color: '#f00' })).status).toBe(400)
  })

  test('that were taken off the list are there as long as they hold something', async () => {
    const id = unique('ns')
    await waypost.svc.post('/console/namespaces', { customNamespaceId: id, namespaceName: 'n' })
    const item = { tenant: id, dataId: 'a', group: 'G' }
    await waypost.svc.post('/cs/configs', { ...item, content: 'x' })
    await waypost.svc.delete('/console/namespaces', { namespaceId: id })
    const mine = async () => (await all()).find(({ namespaceId }) => namespaceId === id)
    expect(await mine()).toMatchObject({ name: id, listed: false, empty: false })
    await waypost.svc.delete('/cs/configs', item)
    expect(await mine()).toBeUndefined()
  })
})

test('the overview counts what there is, and names what needs attention', async () => {
  const namespaceId = unique('ns')
  await register(namespaceId, 'fine')
  await register(namespaceId, 'bad', { healthy: false })
  await register(namespaceId, 'bad', { port: 81, enabled: false })
  await waypost.svc.post('/ns/service', { namespaceId, serviceName: 'empty' })
  await waypost.svc.post('/cs/configs', { tenant: namespaceId, dataId: 'a', group: 'G', content: 'x' })
  const overview = await ask('overview', { namespaceId })
  expect(overview).toMatchObject({
    version: expect.any(String),
    configCount: 1,
    serviceCount: 3,
    instanceCount: 3,
    healthyInstanceCount: 2,
    disabledInstanceCount: 1,
    notReady: [],
    warnings: [],
    members: [{ alive: true }],
    truncated: false,
  })
  const attention = overview.attention.map(({ kind, serviceName }: Json) => [kind, serviceName])
  expect(attention).toEqual([
    ['service-unhealthy', 'bad'],
    ['service-empty', 'empty'],
  ])
  expect((await ask('overview', { namespaceId: '*' })).serviceCount).toBeGreaterThan(3)
})

test('the overview names items that clients have not got', async () => {
  const [namespaceId, dataId] = [unique('ns'), unique('item')]
  await waypost.svc.post('/cs/configs', { tenant: namespaceId, dataId, group: 'G', content: 'x' })
  const form = { 'Listening-Configs': `${dataId}\u0002G\u0002${'0'.repeat(32)}\u0002${namespaceId}\u0001` }
  const poll = () => waypost.svc.post('/cs/configs/listener', form, { 'Long-Pulling-Timeout': '30000' })
  await poll()
  expect((await ask('overview', { namespaceId })).behind).toEqual([])
  const behind = async () => {
    // It asks with the old md5 again and again.
    await poll()
    return (await ask('overview', { namespaceId })).behind
  }
  await expect
    .poll(behind, { interval: 500 })
    .toMatchObject([{ namespaceId, group: 'G', dataId, clientCount: 1, clients: [{ ip: '127.0.0.1' }] }])
  expect((await ask('overview', { namespaceId: unique('other') })).behind).toEqual([])
})

describe('instances', () => {
  test('of a client say when they last beat, and when they are removed', async () => {
    const [namespaceId, serviceName] = [unique('ns'), unique('s')]
    await register(namespaceId, serviceName, { metadata: '{"preserved.ip.delete.timeout":"60000"}' })
    await register(namespaceId, serviceName, { port: 81, healthy: false })
    const { pageItems } = await ask('instances', { namespaceId, serviceName })
    const [beating, set] = pageItems
    expect(beating).toMatchObject({
      instanceId: `10.0.0.1#80#DEFAULT#DEFAULT_GROUP@@${serviceName}`,
      healthy: true,
      unhealthyAfterMs: 15_000,
      removedAfterMs: 60_000,
      health: { reason: 'beat', check: null },
      remembered: {},
    })
    expect(beating.lastBeatAgoMs).toBeLessThan(10_000)
    expect(beating.lastBeatAgoMs + beating.expiresInMs).toBe(60_000)
    expect(set).toMatchObject({ healthy: false, health: { reason: 'operator' } })
  })

  test('that fell silent say so', async () => {
    const [namespaceId, serviceName] = [unique('ns'), unique('s')]
    await register(namespaceId, serviceName, { metadata: '{"preserved.heart.beat.timeout":"1000"}' })
    const reason = async () =>
      (await ask('instances', { namespaceId, serviceName })).pageItems[0].health.reason
    await expect.poll(reason).toBe('beat-timeout')
  })

  test('that are probed say what was found', async () => {
    const server = createServer((_, response) => response.writeHead(503).end())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const { port } = server.address() as AddressInfo
      const [namespaceId, serviceName] = [unique('ns'), unique('s')]
      const healthChecker = JSON.stringify({
        type: 'HTTP',
        path: '/',
        headers: '',
        expectedResponseCode: 200,
      })
      const cluster = { clusterName: 'DEFAULT', checkPort: 80, useInstancePort4Check: true, healthChecker }
      await waypost.svc.post('/ns/service', { namespaceId, serviceName })
      await waypost.svc.put('/ns/cluster', { namespaceId, serviceName, ...cluster })
      await register(namespaceId, serviceName, { ip: '127.0.0.1', port, ephemeral: false })
      const first = async () => (await ask('instances', { namespaceId, serviceName })).pageItems[0]
      await expect.poll(async () => (await first()).health.reason).toBe('probe')
      expect(await first()).toMatchObject({
        lastBeatAgoMs: null,
        expiresInMs: null,
        health: { check: { type: 'HTTP', up: false, text: expect.stringContaining('503') } },
      })
    } finally {
      server.close()
    }
  })

  test('are found by cluster, address, health and metadata', async () => {
    const [namespaceId, serviceName] = [unique('ns'), unique('s')]
    await register(namespaceId, serviceName, { metadata: 'zone=a' })
    await register(namespaceId, serviceName, { port: 81, enabled: false, clusterName: 'c' })
    const ports = async (query: Params) =>
      (await ask('instances', { namespaceId, serviceName, ...query })).pageItems.map(({ port }: Json) => port)
    expect(await ports({ clusterName: 'c' })).toEqual([81])
    expect(await ports({ ip: ':80' })).toEqual([80])
    expect(await ports({ enabled: false })).toEqual([81])
    expect(await ports({ healthy: false })).toEqual([])
    expect(await ports({ metadata: 'zone' })).toEqual([80])
    expect((await waypost.svc.get('/console/instances', { serviceName: unique('no') })).status).toBe(404)
  })

  test('are changed together, and those that are not there are named', async () => {
    const [namespaceId, serviceName] = [unique('ns'), unique('s')]
    for (const port of [80, 81]) await register(namespaceId, serviceName, { port })
    const instances = [80, 81, 82].map((port) => ({ ip: '10.0.0.1', port, ephemeral: true }))
    const query = { namespaceId, serviceName, instances: JSON.stringify(instances) }
    const idOf = (port: number) => `10.0.0.1#${port}#DEFAULT#DEFAULT_GROUP@@${serviceName}`
    const changed = await waypost.svc.put('/ns/instance/batch', { ...query, enabled: false, weight: 5 })
    expect(changed.json()).toEqual({ updated: [idOf(80), idOf(81)], notFound: [idOf(82)] })
    const { pageItems } = await ask('instances', { namespaceId, serviceName, enabled: false })
    expect(pageItems.map(({ weight }: Json) => weight)).toEqual([5, 5])
    expect((await waypost.svc.put('/ns/instance/batch', query)).status).toBe(400)
  })
})
