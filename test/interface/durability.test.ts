import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWaypost } from '../support/waypost.ts'
import { clientsOf, hostsOf, md5, sleep, until, type Client, type Json, type Waypost } from './client.ts'

/** Steps in order: write, kill -9, restart on the same data, check. */
let server: Waypost
let svc: Client
let nacos: Client
const before: Record<string, Json> = {}
const item = { dataId: 'survivor', group: 'G', tenant: 'blue' }
const page = { search: 'accurate', ...item }
const persistent = { serviceName: 'kept', ip: '127.0.0.1', port: 1, clusterName: 'c1' }
const ephemeral = { serviceName: 'beating', ip: '127.0.0.2', port: 2 }
const ofIPv6 = { serviceName: 'of-ipv6', ip: '[FD00::1]', port: 6 }
const disabled = { serviceName: 'disabled', ip: '127.0.0.4', port: 4 }
const silent = { serviceName: 'silent', ip: '127.0.0.5', port: 5 }
const returning = { serviceName: 'returning', ip: '127.0.0.3', port: 3 }

async function crashAndRestart(): Promise<void> {
  svc.close()
  nacos.close()
  await server.kill()
  server = await server.restart()
  ;({ svc, nacos } = clientsOf(server.url))
}

async function post(path: string, form: Record<string, string | number | boolean>): Promise<void> {
  const answer = await svc.post(path, form)
  expect([`200 ok`, `200 true`], answer.text).toContain(`${answer.status} ${answer.text}`)
}

async function turn(entry: string, value: string, debug: boolean): Promise<void> {
  expect((await svc.put('/ns/operator/switches', { entry, value, debug })).text).toBe('ok')
}

async function write(): Promise<void> {
  for (const content of ['one', 'zwei ü\r\n', 'three']) await post('/cs/configs', { ...item, content })
  await post('/cs/configs', { dataId: 'deleted', group: 'G', content: 'gone' })
  await svc.delete('/cs/configs', { dataId: 'deleted', group: 'G' })
  await post('/console/namespaces', { customNamespaceId: 'blue', namespaceName: 'Blau', namespaceDesc: 'd' })
  await post('/ns/service', { serviceName: 'kept', protectThreshold: 0.25, metadata: '{"a":"1"}' })
  await post('/ns/instance', { ...persistent, ephemeral: false, weight: 3, metadata: 'zone=a' })
  const checker = { checkPort: 80, useInstancePort4Check: true, healthChecker: '{"type":"NONE"}' }
  await svc.put('/ns/cluster', { serviceName: 'kept', clusterName: 'c1', ...checker })
  await svc.put('/ns/health/instance', { ...persistent, healthy: false })
  const times = '{"preserved.heart.beat.timeout":"6000","preserved.ip.delete.timeout":"8000"}'
  await post('/ns/instance', { ...ephemeral, metadata: times })
  await post('/ns/instance', { ...silent, weight: 5, metadata: times })
  await svc.put('/ns/instance', { ...silent, enabled: false })
  await post('/ns/instance', returning)
  await svc.put('/ns/instance', { ...returning, metadata: '{"k":"remembered"}' })
  await svc.delete('/ns/instance', returning)
  await post('/ns/instance', { ...ofIPv6, ephemeral: false })
  await svc.put('/ns/instance', { ...ofIPv6, ip: 'fd00::1', weight: 4 })
  await post('/ns/instance', { ...disabled, ephemeral: false })
  await svc.put('/ns/instance', { ...disabled, enabled: false })
  await turn('defaultCacheMillis', '4000', false)
  await turn('checkTimes', '7', true)
}

beforeAll(async () => {
  server = await startWaypost()
  ;({ svc, nacos } = clientsOf(server.url))
  await write()
  before['history'] = (await svc.get('/cs/history', page)).json()
  before['list'] = (await svc.get('/ns/instance/list', { serviceName: 'kept' })).json()
  before['beating'] = (await svc.get('/ns/instance/list', { serviceName: 'beating' })).json()
  before['namespaces'] = (await svc.get('/console/namespaces')).json()
  before['item'] = (await nacos.get('/cs/configs', { show: 'all', ...item })).json()
  await sleep(3_200)
  await crashAndRestart()
}, 60_000)

afterAll(async () => {
  svc?.close()
  nacos?.close()
  await server?.stop()
})

describe('after kill -9 and a restart', () => {
  test('it is known who has disabled an instance, and when', async () => {
    const { pageItems } = (await svc.get('/console/instances', { serviceName: 'disabled' })).json()
    expect(pageItems).toMatchObject([
      { enabled: false, disabled: { user: null, fromIp: '127.0.0.1', cause: 'operator' } },
    ])
    expect(Date.now() - pageItems[0].disabled.atMs).toBeGreaterThan(0)
  })

  test('an instance has the ip that was registered, and every spelling finds it', async () => {
    const { serviceName } = ofIPv6
    expect(await hostsOf(svc, { serviceName })).toMatchObject([{ ip: '[FD00::1]', weight: 4 }])
    await svc.delete('/ns/instance', { ...ofIPv6, ip: 'fd00:0::1', ephemeral: false })
    expect(await hostsOf(svc, { serviceName })).toEqual([])
  })

  test('an ephemeral instance is there, with a full timeout', async () => {
    expect(await hostsOf(svc, ephemeral)).toMatchObject([{ ip: '127.0.0.2', healthy: true }])
    await sleep(3_200)
    expect(await hostsOf(svc, ephemeral), '6.4 s after its last beat').toMatchObject([{ healthy: true }])
    await until(
      () => hostsOf(svc, ephemeral),
      (hosts) => hosts.length === 0,
    )
  })

  test('what silence has removed is remembered over one more crash, with who has disabled it', async () => {
    const shown = async () =>
      (await svc.get('/console/instances', { serviceName: 'silent' })).json().pageItems
    await until(shown, (found) => found.length === 0)
    await sleep(1_000)
    await crashAndRestart()
    const { serviceName, ...beat } = silent
    await svc.put('/ns/instance/beat', { serviceName, beat: JSON.stringify({ ...beat, weight: 1 }) })
    expect(await shown()).toMatchObject([
      {
        weight: 5,
        enabled: false,
        removedAfterMs: 8_000,
        disabled: { fromIp: '127.0.0.1', cause: 'operator' },
        overrides: [{ field: 'enabled', application: 'true', fromIp: '127.0.0.1' }],
      },
    ])
  })

  test('remembered metadata applies when its instance returns', async () => {
    await post('/ns/instance', returning)
    expect(await hostsOf(svc, returning)).toMatchObject([{ metadata: { k: 'remembered' } }])
  })

  test('configurations are there, with their md5 and time of change, and deleted ones are not', async () => {
    const answer = await svc.get('/cs/configs', item)
    expect(answer.text).toBe('three')
    expect(answer.headers['content-md5']).toBe(md5('three'))
    expect((await svc.get('/cs/configs', { dataId: 'deleted', group: 'G' })).status).toBe(404)
    const full = (await nacos.get('/cs/configs', { show: 'all', ...item })).json()
    expect(full).toEqual(before['item'])
  })

  test('the history is there, record by record', async () => {
    const history = (await svc.get('/cs/history', page)).json()
    expect(history).toEqual(before['history'])
    expect(history.totalCount).toBe(3)
    const nid = history.pageItems[0].id
    expect((await svc.get('/cs/history', { ...item, nid })).json().content).toBe('zwei ü\r\n')
    const ofDeleted = { search: 'accurate', dataId: 'deleted', group: 'G' }
    expect((await svc.get('/cs/history', ofDeleted)).json().totalCount).toBe(2)
  })

  test('new history ids are above the old ones', async () => {
    await post('/cs/configs', { ...item, content: 'after the crash' })
    const history = (await svc.get('/cs/history', page)).json()
    const [newest, older] = history.pageItems.map((record: Json) => BigInt(record.id))
    expect(newest > older).toBe(true)
  })

  test('namespaces are there', async () => {
    expect((await svc.get('/console/namespaces')).json()).toEqual(before['namespaces'])
    const shown = (await nacos.get('/console/namespaces', { show: 'all', namespaceId: 'blue' })).json()
    expect(shown).toMatchObject({ namespaceShowName: 'Blau', namespaceDesc: 'd' })
  })

  test('services, their clusters and persistent instances are there', async () => {
    const service = (await svc.get('/ns/service', { serviceName: 'kept' })).json()
    expect(service).toMatchObject({ protectThreshold: 0.25, metadata: { a: '1' } })
    expect(service.clusters).toMatchObject([{ name: 'c1', healthChecker: { type: 'NONE' } }])
    const hosts = await hostsOf(svc, persistent)
    expect(hosts).toMatchObject([{ ip: '127.0.0.1', weight: 3, metadata: { zone: 'a' }, ephemeral: false }])
    const list = (await svc.get('/ns/instance/list', { serviceName: 'kept' })).json()
    expect(list.checksum).toBe(before['list'].checksum)
  })

  test('lastRefTime has not gone back, and the next change is above all earlier values', async () => {
    const look = async (serviceName: string) =>
      (await svc.get('/ns/instance/list', { serviceName })).json().lastRefTime
    expect(await look('kept')).toBeGreaterThanOrEqual(before['list'].lastRefTime)
    await svc.put('/ns/instance', { ...persistent, weight: 4 })
    expect(await look('kept')).toBeGreaterThan(before['list'].lastRefTime)
    await post('/ns/instance', { ...ephemeral, port: 22 })
    expect(await look('beating')).toBeGreaterThan(before['beating'].lastRefTime)
  })

  test('a switch set with debug=false is kept, one with debug=true is forgotten', async () => {
    const switches = (await svc.get('/ns/operator/switches')).json()
    expect(switches.defaultCacheMillis).toBe(4_000)
    expect(switches.checkTimes).toBe(3)
  })

  test('a switch set without debug is forgotten too, because debug is true by default', async () => {
    await svc.put('/ns/operator/switches', { entry: 'checkTimes', value: '9' })
    expect((await svc.get('/ns/operator/switches')).json().checkTimes).toBe(9)
    await nacos.put('/ns/operator/switches', { entry: 'defaultPushCacheMillis', value: '12000' })
    await crashAndRestart()
    const switches = (await svc.get('/ns/operator/switches')).json()
    expect(switches.checkTimes).toBe(3)
    expect(switches.defaultPushCacheMillis, 'on the other dialect the default is false').toBe(12_000)
  })
})
