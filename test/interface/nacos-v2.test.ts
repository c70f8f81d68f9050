/** `/nacos/v2`: the same items, instances, services and namespaces in envelopes (grpc-compat.md section 7). */
import { expect, test } from 'vitest'
import { Client, serverForThisFile, unique, type Json } from './client.ts'

const waypost = serverForThisFile()
const v2 = (): Client => new Client(`${waypost.server.url}/nacos/v2`)

const dataOf = (reply: { status: number; json(): Json }): Json => {
  expect(reply).toMatchObject({ status: 200 })
  const { code, message, data } = reply.json()
  expect([code, message]).toEqual([0, 'success'])
  return data
}

test('an item is published, read, changed by its md5 and deleted; v1 sees the same', async () => {
  const item = { dataId: unique('item'), group: 'G' }
  const named = { ...item, type: 'json', srcUser: 'ann', configTags: 'a,b', desc: 'about' }
  expect(dataOf(await v2().post('/cs/config', { ...named, content: '{"a":"中文"}' }))).toBe(true)
  expect(dataOf(await v2().get('/cs/config', item))).toBe('{"a":"中文"}')
  const all = (await waypost.nacos.get('/cs/configs', { ...item, show: 'all' })).json()
  expect(all).toMatchObject({ type: 'json', configTags: 'a,b', desc: 'about', createUser: 'ann' })

  const publish = async (content: string, casMd5: string) =>
    v2().post('/cs/config', { ...item, content }, { casMd5 })
  expect((await publish('2', '0'.repeat(32))).json()).toMatchObject({
    code: 20005,
    message: 'resource conflict',
  })
  expect((await publish('2', '0')).json()).toMatchObject({ code: 20005 })
  expect(dataOf(await publish('2', all.md5))).toBe(true)

  const page = dataOf(await v2().get('/cs/history/list', { ...item, pageSize: 10 }))
  expect(page).toMatchObject({ totalCount: 2, pageItems: [{ opType: 'U ' }, { opType: 'I ' }] })
  const nid = page.pageItems[0].id
  expect(dataOf(await v2().get('/cs/history', { ...item, nid }))).toMatchObject({ content: '{"a":"中文"}' })

  expect(dataOf(await v2().delete('/cs/config', item))).toBe(true)
  const missing = await v2().get('/cs/config', item)
  expect(missing.status).toBe(404)
  expect(missing.json()).toMatchObject({ code: 20004, message: 'resource not found' })
})

test('namespaces keep items apart', async () => {
  const namespaceId = unique('ns')
  const item = { dataId: 'd', group: 'G', namespaceId }
  await v2().post('/cs/config', { ...item, content: 'x' })
  expect(
    (await waypost.nacos.get('/cs/configs', { dataId: 'd', group: 'G', tenant: namespaceId })).text,
  ).toBe('x')
})

test('a content for addresses that are none is refused', async () => {
  const form = { dataId: unique('beta'), group: 'G', content: 'x' }
  const reply = await v2().post('/cs/config', form, { betaIps: ' , ' })
  expect(reply.json()).toMatchObject({ code: 20011 })
})

test('an instance is registered, listed, changed, read and deregistered', async () => {
  const serviceName = unique('service')
  const instance = { serviceName, ip: '10.0.0.1', port: 80, clusterName: 'c1' }
  const registered = { ...instance, weight: 2, metadata: '{"zone":"a"}' }
  expect(dataOf(await v2().post('/ns/instance', registered))).toBe('ok')
  const detail = dataOf(await v2().get('/ns/instance', instance))
  expect(detail).toEqual({
    serviceName: `DEFAULT_GROUP@@${serviceName}`,
    ip: '10.0.0.1',
    port: 80,
    clusterName: 'c1',
    weight: 2,
    healthy: true,
    instanceId: `10.0.0.1#80#c1#DEFAULT_GROUP@@${serviceName}`,
    metadata: { zone: 'a' },
  })
  const list = dataOf(
    await v2().get('/ns/instance/list', { serviceName, clusterName: 'c1', healthyOnly: true }),
  )
  expect(list).toMatchObject({
    name: `DEFAULT_GROUP@@${serviceName}`,
    clusters: 'c1',
    hosts: [{ ip: '10.0.0.1' }],
  })
  expect(dataOf(await v2().get('/ns/instance/list', { serviceName, clusterName: 'other' })).hosts).toEqual([])

  expect(dataOf(await v2().put('/ns/instance', { ...instance, weight: 5 }))).toBe('ok')
  expect((await waypost.nacos.get('/ns/instance', instance)).json()).toMatchObject({ weight: 5 })
  expect((await v2().put('/ns/instance/beat', instance)).json()).toMatchObject({ code: 10200 })
  expect(dataOf(await v2().delete('/ns/instance', instance))).toBe('ok')
  const gone = await v2().get('/ns/instance', instance)
  expect([gone.status, gone.json().code]).toEqual([404, 21003])
  // A beat that comes after it is late.
  expect((await v2().put('/ns/instance/beat', instance)).json()).toMatchObject({ code: 10200 })
  const unknown = { ...instance, port: 1 }
  expect((await v2().put('/ns/instance/beat', unknown)).json()).toMatchObject({ code: 20404 })
})

test('a service is created once, listed, shown and deleted', async () => {
  const serviceName = unique('service')
  const groupName = unique('group')
  const service = { serviceName, groupName }
  const made = await v2().post('/ns/service', { ...service, protectThreshold: 0.5, metadata: '{"k":"v"}' })
  expect(dataOf(made)).toBe('ok')
  expect((await v2().post('/ns/service', service)).json()).toMatchObject({ code: 21007 })
  expect(dataOf(await v2().get('/ns/service', service))).toEqual({
    namespace: 'public',
    serviceName,
    groupName,
    protectThreshold: 0.5,
    metadata: { k: 'v' },
    selector: { type: 'none', contextType: 'NONE' },
    ephemeral: false,
    clusterMap: {},
  })
  expect(dataOf(await v2().get('/ns/service/list', { groupName }))).toEqual({
    count: 1,
    services: [serviceName],
  })
  expect(dataOf(await v2().put('/ns/service', { ...service, protectThreshold: 0.1 }))).toBe('ok')
  expect(dataOf(await v2().delete('/ns/service', service))).toBe('ok')
  const gone = await v2().get('/ns/service', service)
  expect([gone.status, gone.json().code]).toEqual([404, 21008])
})

test('a namespace is made once, shown, renamed and removed', async () => {
  const namespaceId = unique('ns')
  const path = '/console/namespace'
  expect(dataOf(await v2().post(path, { namespaceId, namespaceName: 'Shown' }))).toBe(true)
  expect((await v2().post(path, { namespaceId, namespaceName: 'Again' })).json()).toMatchObject({
    code: 22002,
  })
  expect(dataOf(await v2().get(path, { namespaceId }))).toMatchObject({ namespaceShowName: 'Shown', type: 2 })
  expect(dataOf(await v2().put(path, { namespaceId, namespaceName: 'Other' }))).toBe(true)
  const listed = dataOf(await v2().get(`${path}/list`)).map((each: Json) => each.namespaceShowName)
  expect(listed).toContain('Other')
  expect(dataOf(await v2().delete(path, { namespaceId }))).toBe(true)
  const gone = await v2().get(path, { namespaceId })
  expect([gone.status, gone.json().code]).toEqual([404, 22001])
})

test('what is wrong is said: a missing parameter, a wrong one, a path that is not there', async () => {
  const missing = await v2().get('/cs/config', { group: 'G' })
  expect(missing.status).toBe(400)
  expect(missing.json()).toMatchObject({ code: 10000, data: expect.stringContaining('dataId') })
  const wrong = await v2().post('/ns/instance', { serviceName: 's', ip: '10.0.0.1', port: 99_999 })
  expect(wrong.json()).toMatchObject({ code: 20002, data: expect.stringContaining('port') })
  for (const version of ['v2', 'v3']) {
    const unknown = await new Client(`${waypost.server.url}/nacos/${version}`).get('/core/loader/current')
    expect(unknown.status).toBe(404)
    expect(unknown.json()).toMatchObject({
      code: 20004,
      data: expect.stringContaining('docs/compatibility.md'),
    })
  }
})

test('probes are answered', async () => {
  for (const state of ['liveness', 'readiness'])
    expect(dataOf(await v2().get(`/console/health/${state}`))).toBe('ok')
})
