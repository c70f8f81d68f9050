import { describe, expect, test } from 'vitest'
import { serverForThisFile, unique } from '../interface/client.ts'

const waypost = serverForThisFile()

const KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__']

describe.each(KEYS)('%s is a name like any other', (key) => {
  test('of an item, its group and its namespace', async () => {
    const item = { dataId: key, group: key, tenant: key }
    expect((await waypost.svc.get('/cs/configs', item)).status).toBe(404)
    const content = `of ${key}`
    expect((await waypost.svc.post('/cs/configs', { ...item, content, type: key })).status).toBe(400)
    await waypost.nacos.post('/cs/configs', { ...item, content, type: key })
    expect((await waypost.svc.get('/cs/configs', item)).text).toBe(`of ${key}`)
    const watchers = await waypost.nacos.get('/cs/configs/listener', item)
    expect(watchers.json()).toEqual({ collectStatus: 200, lisentersGroupkeyStatus: {} })
    await waypost.svc.delete('/cs/configs', item)
    expect((await waypost.svc.get('/cs/configs', item)).status).toBe(404)
  })

  test('of a namespace on the list', async () => {
    const made = await waypost.svc.post('/console/namespaces', { customNamespaceId: key, namespaceName: key })
    expect(made.text).toBe('true')
    const list = (await waypost.svc.get('/console/namespaces')).json().data
    expect(list).toContainEqual(expect.objectContaining({ namespace: key, namespaceShowName: key }))
    expect((await waypost.svc.delete('/console/namespaces', { namespaceId: key })).text).toBe('true')
  })

  test('of a service, its group, its cluster, and in metadata; also after a restart', async () => {
    const service = { serviceName: key, groupName: key, namespaceId: key }
    const metadata = `{${JSON.stringify(key)}:"mine"}`
    const instance = { ...service, ip: '127.0.0.9', port: 9, clusterName: key, ephemeral: false, metadata }
    const cluster = { ...service, clusterName: key, checkPort: 1, useInstancePort4Check: true, metadata }
    expect((await waypost.svc.post('/ns/service', { ...service, metadata })).text).toBe('ok')
    expect(
      (await waypost.svc.put('/ns/cluster', { ...cluster, healthChecker: '{"type":"NONE"}' })).text,
    ).toBe('ok')
    expect((await waypost.svc.post('/ns/instance', instance)).text).toBe('ok')
    const batch = { ...service, consistencyType: 'persist', metadata: `{${JSON.stringify(key)}:"batch"}` }
    expect((await waypost.svc.put('/ns/instance/metadata/batch', batch)).status).toBe(200)
    for (const round of ['at once', 'after a restart']) {
      if (round === 'after a restart') waypost.server = await waypost.server.restart()
      const { hosts } = (await waypost.svc.get('/ns/instance/list', { ...service, clusters: key })).json()
      expect(hosts).toHaveLength(1)
      expect(Object.entries(hosts[0].metadata), round).toEqual([[key, 'batch']])
      const known = (await waypost.svc.get('/ns/service', service)).json()
      expect(Object.entries(known.metadata), round).toEqual([[key, 'mine']])
      expect(known.clusters.map((each: { name: string }) => each.name)).toEqual([key])
      expect(Object.entries(known.clusters[0].metadata), round).toEqual([[key, 'mine']])
      expect(known.clusters[0].healthChecker).toEqual({ type: 'NONE' })
    }
    const catalog = await waypost.nacos.get('/ns/catalog/services', { namespaceId: key, withInstances: true })
    expect(Object.keys(catalog.json()[0].clusterMap)).toEqual([key])
  })

  test('and is no parameter, no switch and no member of a beat', async () => {
    const dataId = unique('plain')
    const query = `${key}=x&${key}[a]=b&dataId=${dataId}&group=G&content=c`
    expect((await waypost.svc.call('POST', '/cs/configs', { query })).text).toBe('true')
    const set = await waypost.svc.put('/ns/operator/switches', { entry: key, value: 'true' })
    expect(set.json()).toMatchObject({ type: 'urn:waypost:problem:switch-unknown' })
    const value = `{${JSON.stringify(key)}:true}`
    expect((await waypost.svc.put('/ns/operator/switches', { entry: 'batch', value })).status).toBe(400)
    const beat = `{${JSON.stringify(key)}:{"ip":"127.0.0.1","port":1}}`
    expect((await waypost.svc.put('/ns/instance/beat', { serviceName: dataId, beat })).status).toBe(400)
    const checker = `{${JSON.stringify(key)}:{"type":"NONE"}}`
    const cluster = { serviceName: dataId, clusterName: 'c', checkPort: 1, useInstancePort4Check: true }
    expect((await waypost.svc.put('/ns/cluster', { ...cluster, healthChecker: checker })).status).toBe(400)
  })
})

test('what others have is untouched by all that', async () => {
  const service = { serviceName: unique('clean') }
  await waypost.svc.post('/ns/instance', { ...service, ip: '127.0.0.9', port: 9 })
  const { hosts } = (await waypost.svc.get('/ns/instance/list', service)).json()
  expect(hosts[0].metadata).toEqual({})
  expect((await waypost.svc.get('/ns/operator/switches')).text).not.toContain('polluted')
})
