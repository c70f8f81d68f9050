import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SmallDisk, needSmallDisk } from '../faults/disks/small-disk.ts'
import { startWaypost, temporaryDirectory, type Waypost } from '../support/waypost.ts'
import { Client, until } from './client.ts'

const needed = needSmallDisk()
const note = needed.skip ? ` (${needed.reason})` : ''
const DISK_MB = 96
const MIB = 1024 * 1024
const ITEM = { dataId: 'a', group: 'G' }
const SERVICE = { serviceName: 'S' }
const INSTANCE = { ...SERVICE, ip: '10.0.0.1', port: 80 }

describe.skipIf(needed.skip)(`a disk with less room than store-reserve${note}`, { timeout: 60_000 }, () => {
  let disk: SmallDisk
  let server: Waypost
  let svc: Client
  let nacos: Client

  const publish = (content: string) => svc.post('/cs/configs', { ...ITEM, content })
  const full = () =>
    until(
      () => publish(`${Math.random()}`),
      ({ status }) => status === 507,
    )

  beforeAll(async () => {
    disk = new SmallDisk(temporaryDirectory('store-full-'), DISK_MB)
    server = await startWaypost({
      dataDir: join(disk.directory, 'data'),
      settings: { 'store-reserve': '40MiB' },
    })
    svc = new Client(`${server.url}/svc/v1`)
    nacos = new Client(`${server.url}/nacos/v1`)
    expect((await publish('before')).status).toBe(200)
    expect((await svc.post('/ns/instance', { ...INSTANCE, ephemeral: false })).status).toBe(200)
    disk.fillUpTo(30 * MIB)
  }, 60_000)
  afterAll(async () => {
    svc?.close()
    nacos?.close()
    await server?.kill()
    disk?.close()
  })

  test('publishes, namespaces and metadata are refused with what to do', async () => {
    const refused = await full()
    expect(refused.json()).toMatchObject({ type: expect.stringContaining('store-full'), status: 507 })
    expect(refused.text).toMatch(
      /The disk of the data directory .* has .* left, of which 40 ?MiB must stay free .*Free some space/,
    )
    const old = await nacos.post('/cs/configs', { ...ITEM, content: 'b' })
    expect([old.status, old.text]).toEqual([507, expect.stringContaining('Free some space')])
    for (const answer of [
      await svc.post('/ns/service', { serviceName: 'T' }),
      await svc.put('/ns/instance', { ...INSTANCE, ephemeral: false, metadata: '{"a":"1"}' }),
      await svc.post('/console/namespaces', {
        customNamespaceId: 'n',
        namespaceName: 'n',
        namespaceDesc: '',
      }),
    ])
      expect(answer.status, answer.text).toBe(507)
  })

  test('a clone is refused as a whole', async () => {
    await full()
    const [{ id }] = (
      await svc.get('/cs/configs', { search: 'accurate', ...ITEM, pageNo: 1, pageSize: 1 })
    ).json().pageItems as [{ id: string }]
    const clone = await nacos.call('POST', '/cs/configs', {
      query: { clone: 'true', tenant: '', policy: 'OVERWRITE' },
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{ cfgId: id, dataId: 'copy', group: 'G' }]),
    })
    expect([clone.status, clone.text]).toEqual([507, expect.stringContaining('Free some')])
  })

  test('registrations, weights, deletions and reads go on', async () => {
    await full()
    for (const answer of [
      await svc.post('/ns/instance', { ...INSTANCE, port: 81, ephemeral: false }),
      await svc.post('/ns/instance', { ...INSTANCE, port: 82 }),
      await svc.put('/ns/instance', { ...INSTANCE, ephemeral: false, weight: 2 }),
      await svc.get('/cs/configs', ITEM),
      await svc.delete('/cs/configs', ITEM),
    ])
      expect(answer.status, answer.text).toBe(200)
    expect((await svc.get('/cs/configs', ITEM)).status).toBe(404)
  })

  test('the server stays ready and says it, and takes publishes again when there is room', async () => {
    await full()
    const ready = await new Client(server.url).get('/readyz')
    expect(ready.status).toBe(200)
    expect(ready.json()).toMatchObject({ ready: true, warnings: [{ code: 'store-full' }] })
    const metrics = await new Client(server.url).get('/metrics')
    expect(metrics.text).toMatch(/^waypost_store_full 1$/m)
    disk.free()
    await until(
      () => publish('after'),
      ({ status }) => status === 200,
    )
    expect((await new Client(server.url).get('/readyz')).json()).toEqual({ ready: true })
    expect(server.output()).toContain('the store has room again')
  })
})
