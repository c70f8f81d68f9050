/** The operations of /svc that tools of /nacos have too: searches, exports, imports, clones, casMd5, notes, and who watches. */
import { describe, expect, test } from 'vitest'
import { md5, serverForThisFile, unique, type Json, type Params, type Reply } from './client.ts'
import { configs, filesIn, items, raw } from './transfer-support.ts'

const waypost = serverForThisFile()

async function newNamespace(): Promise<string> {
  const id = unique('ns')
  const form = { customNamespaceId: id, namespaceName: id }
  expect((await waypost.svc.post('/console/namespaces', form)).text).toBe('true')
  return id
}

async function publish(tenant: string, dataId: string, more: Params = {}): Promise<Reply> {
  return waypost.svc.post(configs, { tenant, dataId, group: 'G', content: `content of ${dataId}`, ...more })
}

async function show(tenant: string, dataId: string): Promise<Json> {
  return (await waypost.svc.get(configs, { tenant, dataId, group: 'G', show: 'all' })).json()
}

const codeOf = (reply: Reply): string => reply.json().type.split(':').at(-1)

describe('reading', () => {
  test('show=all has all fields of an item', async () => {
    const tenant = unique('ns')
    const said = { appName: 'shop', desc: 'd', use: 'u', effect: 'e', schema: 's', type: 'yaml' }
    await publish(tenant, 'a', { ...said, config_tags: 't1,t2', src_user: 'ann' })
    const content = 'content of a'
    expect(await show(tenant, 'a')).toMatchObject({ ...said, content, md5: md5(content), createUser: 'ann' })
    const about = await waypost.svc.get(`${configs}/catalog`, { tenant, dataId: 'a', group: 'G' })
    expect(about.json()).toMatchObject({ desc: 'd', configTags: 't1,t2' })
    expect(about.json()).not.toHaveProperty('content')
  })

  test('search gives a page of items with their md5', async () => {
    const tenant = unique('ns')
    for (const dataId of ['web.a', 'web.b', 'other']) await publish(tenant, dataId)
    const found = await waypost.svc.get(configs, { tenant, search: 'blur', dataId: 'web*', pageSize: 1 })
    expect(found.json()).toMatchObject({
      totalCount: 2,
      pagesAvailable: 2,
      pageItems: [{ dataId: 'web.a', md5: md5('content of web.a'), desc: null }],
    })
    const exact = await waypost.svc.get(configs, { tenant, search: 'accurate', dataId: 'web' })
    expect(exact.json()).toMatchObject({ totalCount: 0 })
  })

  test('without one of these words the names are needed as before', async () => {
    expect((await waypost.svc.get(configs, { search: 'other' })).status).toBe(400)
    expect((await waypost.svc.get(configs, { export: 'yes' })).status).toBe(400)
  })

  test('export gives a zip in both layouts', async () => {
    const tenant = unique('ns')
    await publish(tenant, 'a', { type: 'yaml' })
    const first = await waypost.svc.get(configs, { tenant, export: true })
    expect(await filesIn(first.bytes)).toEqual({ 'G/a': 'content of a' })
    const second = await waypost.svc.get(configs, { tenant, exportV2: true })
    expect(Object.keys(await filesIn(second.bytes))).toEqual(['G/a', '.metadata.yml'])
  })
})

describe('casMd5', () => {
  test('publishes only over the version that it names', async () => {
    const tenant = unique('ns')
    await publish(tenant, 'a', { content: 'one' })
    const lost = await publish(tenant, 'a', { content: 'two', casMd5: md5('other') })
    expect([lost.status, codeOf(lost)]).toEqual([409, 'config-changed'])
    expect((await publish(tenant, 'a', { content: 'two', casMd5: md5('one') })).text).toBe('true')
  })

  test('that is empty publishes only what is new', async () => {
    const tenant = unique('ns')
    expect((await publish(tenant, 'a', { casMd5: '' })).text).toBe('true')
    expect((await publish(tenant, 'a', { content: 'two', casMd5: '' })).status).toBe(409)
  })

  test('in the header goes before the parameter', async () => {
    const tenant = unique('ns')
    await publish(tenant, 'a', { content: 'one' })
    const form = { tenant, dataId: 'a', group: 'G', content: 'two', casMd5: md5('one') }
    expect((await waypost.svc.post(configs, form, { casMd5: md5('other') })).status).toBe(409)
    expect((await waypost.svc.post(configs, form, { casMd5: md5('one') })).text).toBe('true')
  })

  test('deletes only the version that it names', async () => {
    const tenant = unique('ns')
    const item = { tenant, dataId: 'a', group: 'G' }
    await publish(tenant, 'a', { content: 'one' })
    for (const casMd5 of [md5('other'), ''])
      expect((await waypost.svc.delete(configs, { ...item, casMd5 })).status).toBe(409)
    expect((await waypost.svc.delete(configs, { ...item, casMd5: md5('one') })).text).toBe('true')
    expect((await waypost.svc.delete(configs, { ...item, casMd5: md5('one') })).status).toBe(409)
    expect((await waypost.svc.delete(configs, { ...item, casMd5: '' })).text).toBe('true')
  })
})

test('an empty description or tag clears it, and one that is not named stays', async () => {
  const tenant = unique('ns')
  await publish(tenant, 'a', { desc: 'd', config_tags: 't', appName: 'shop' })
  await publish(tenant, 'a', { desc: '', config_tags: '' })
  expect(await show(tenant, 'a')).toMatchObject({ desc: null, configTags: null, appName: 'shop' })
})

test('an export is called by its namespace', async () => {
  const tenant = unique('ns')
  await publish(tenant, 'a', {})
  const named = async (id: string): Promise<unknown> => {
    const reply = await waypost.svc.get(configs, { export: true, tenant: id })
    return reply.headers['content-disposition']
  }
  expect(await named(tenant)).toMatch(new RegExp(`^attachment;filename=waypost_${tenant}_\\d{14}\\.zip$`))
  expect(await named('')).toMatch(/^attachment;filename=waypost_public_\d{14}\.zip$/)
})

describe('import', () => {
  function upload(zip: Buffer | undefined, query: Params): Promise<Reply> {
    const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="f.zip"\r\n\r\n'
    const part = zip === undefined ? [] : [Buffer.from(head), zip, Buffer.from('\r\n')]
    const body = Buffer.concat([...part, Buffer.from('--b--\r\n')])
    const headers = { 'content-type': 'multipart/form-data; boundary=b' }
    return waypost.svc.call('POST', configs, { query: { import: true, ...query }, body, headers })
  }

  test('publishes the items of a zip, and says what became of each', async () => {
    const namespace = await newNamespace()
    const zip = await items([{ group: 'G', dataId: 'a', type: 'yaml', desc: 'd' }])
    const counts = { succCount: 1, skipCount: 0, succData: [{ dataId: 'a', group: 'G' }], failData: [] }
    expect((await upload(zip, { namespace, dryRun: true })).json()).toMatchObject({ dryRun: true, ...counts })
    expect((await upload(zip, { namespace })).json()).toMatchObject({ dryRun: false, ...counts })
    expect(await show(namespace, 'a')).toMatchObject({ content: 'new a', desc: 'd', type: 'yaml' })
    expect((await upload(zip, { namespace, policy: 'SKIP' })).json()).toMatchObject({
      succCount: 0,
      skipData: [{ dataId: 'a', group: 'G' }],
    })
  })

  test('replaces only what a dry run has seen', async () => {
    const namespace = await newNamespace()
    await publish(namespace, 'a', { content: 'one' })
    const zip = await items([
      { group: 'G', dataId: 'a', type: 'yaml' },
      { group: 'G', dataId: 'b', type: 'yaml' },
    ])
    const look = async (): Promise<string> =>
      (await upload(zip, { namespace, policy: 'OVERWRITE', dryRun: true })).json().state
    const seenState = await look()
    expect(await look()).toBe(seenState)
    await publish(namespace, 'a', { content: 'two' })
    const late = await upload(zip, { namespace, policy: 'OVERWRITE', seenState })
    expect([late.status, codeOf(late)]).toEqual([409, 'config-changed'])
    expect(await show(namespace, 'a')).toMatchObject({ content: 'two' })
    const seen = await upload(zip, { namespace, policy: 'OVERWRITE', seenState: await look() })
    expect(seen.json()).toMatchObject({ succCount: 2, state: expect.any(String) })
    expect(await show(namespace, 'a')).toMatchObject({ content: 'new a' })
    const skipping = { namespace, policy: 'SKIP', seenState: await look() }
    expect((await upload(zip, skipping)).json()).toMatchObject({ succCount: 0, skipCount: 2 })
  })

  test('of what cannot be read is a problem', async () => {
    const namespace = await newNamespace()
    const zip = await items([{ group: 'G', dataId: 'a', type: 'yaml' }])
    expect(codeOf(await upload(zip, { namespace: 'no-such' }))).toBe('namespace-not-found')
    expect(codeOf(await upload(undefined, { namespace }))).toBe('config-not-found')
    const broken = await raw({ 'G/a': 'x', '.metadata.yml': 'metadata: 5' })
    expect(codeOf(await upload(broken, { namespace }))).toBe('malformed-request')
  })
})

describe('clone', () => {
  const clone = (selection: unknown, query: Params): Promise<Reply> =>
    waypost.svc.call('POST', configs, {
      query: { clone: true, ...query },
      body: JSON.stringify(selection),
      headers: { 'content-type': 'application/json' },
    })

  test('copies items, and says what became of each', async () => {
    const [from, to] = [await newNamespace(), await newNamespace()]
    await publish(from, 'a')
    const { id } = await show(from, 'a')
    const dry = await clone([{ cfgId: id }], { tenant: to, dryRun: true })
    expect(dry.json()).toMatchObject({ dryRun: true, succCount: 1 })
    const copied = await clone([{ cfgId: id, dataId: 'b' }], { tenant: to })
    expect(copied.json()).toMatchObject({ dryRun: false, succData: [{ dataId: 'b', group: 'G' }] })
    expect(await show(to, 'b')).toMatchObject({ content: 'content of a' })
  })

  test('is refused where somebody has changed something since the dry run', async () => {
    const [from, to] = [await newNamespace(), await newNamespace()]
    await publish(from, 'a')
    const { id, md5 } = await show(from, 'a')
    const look = async (): Promise<string> =>
      (await clone([{ cfgId: id }], { tenant: to, policy: 'OVERWRITE', dryRun: true })).json().state
    const late = async (seenState: string) =>
      codeOf(await clone([{ cfgId: id }], { tenant: to, policy: 'OVERWRITE', seenState }))
    const before = await look()
    await publish(to, 'a', { content: 'theirs' })
    expect(await late(before)).toBe('config-changed')
    const then = await look()
    await publish(from, 'a', { content: 'of the original' })
    expect(await late(then)).toBe('config-changed')
    const outdated = [{ cfgId: id, fromMd5: md5 }]
    expect((await clone(outdated, { tenant: to, policy: 'SKIP' })).json()).toMatchObject({
      succCount: 0,
      skipData: [{ dataId: 'a', group: 'G' }],
    })
    const seen = await clone([{ cfgId: id }], { tenant: to, policy: 'OVERWRITE', seenState: await look() })
    expect(seen.json()).toMatchObject({ succCount: 1 })
    expect(await show(to, 'a')).toMatchObject({ content: 'of the original' })
  })

  test('of nothing, of what is not there, or to nowhere is a problem', async () => {
    const tenant = await newNamespace()
    await publish(tenant, 'a')
    const { id } = await show(tenant, 'a')
    expect(codeOf(await clone([], { tenant }))).toBe('malformed-request')
    expect(codeOf(await clone([{ cfgId: 987654321 }], { tenant }))).toBe('config-not-found')
    expect(codeOf(await clone([{ cfgId: id }], { tenant: 'no-such' }))).toBe('namespace-not-found')
  })
})

test('who watches an item, and what an address watches', async () => {
  const tenant = unique('ns')
  await publish(tenant, 'a')
  const held = md5('content of a')
  const poll = waypost.svc.post(
    `${configs}/listener`,
    { 'Listening-Configs': `a\u0002G\u0002${held}\u0002${tenant}\u0001` },
    { 'Long-Pulling-Timeout': '10000' },
  )
  const watchers = async () =>
    (await waypost.svc.get(`${configs}/listener`, { tenant, dataId: 'a', group: 'G' })).json()
  await expect.poll(watchers).toEqual({ collectStatus: 200, lisentersGroupkeyStatus: { '127.0.0.1': held } })
  const watched = await waypost.svc.get('/cs/listener', { ip: '127.0.0.1', tenant })
  expect(watched.json().lisentersGroupkeyStatus).toEqual({ [`a+G+${tenant}`]: held })
  await publish(tenant, 'a', { content: 'two' })
  await poll
})

test('the views of services', async () => {
  const [serviceName, namespaceId] = [unique('s'), unique('ns')]
  await waypost.svc.post('/ns/instance', { serviceName, namespaceId, ip: '10.0.0.1', port: 80 })
  const services = await waypost.svc.get('/ns/catalog/services', { namespaceId })
  expect(services.json()).toMatchObject({ count: 1, serviceList: [{ name: serviceName, ipCount: 1 }] })
  const instances = await waypost.svc.get('/ns/catalog/instances', { namespaceId, serviceName })
  expect(instances.json()).toMatchObject({ count: 1, list: [{ ip: '10.0.0.1', healthy: true }] })
  const service = await waypost.svc.get('/ns/catalog/service', { namespaceId, serviceName })
  expect(service.json()).toMatchObject({ service: { name: serviceName }, clusters: [{ name: 'DEFAULT' }] })
  const names = await waypost.svc.get('/ns/service/names', { namespaceId })
  expect(names.json()).toEqual({ count: 1, services: { [namespaceId]: [serviceName] } })
  const subscribers = await waypost.svc.get('/ns/service/subscribers', { namespaceId, serviceName })
  expect(subscribers.json()).toEqual({ count: 0, subscribers: [] })
  const agent = { 'User-Agent': 'reader/1' }
  for (const path of ['/ns/instance/list', '/ns/instance/list'])
    await waypost.svc.call('GET', path, { query: { namespaceId, serviceName }, headers: agent })
  const readers = await waypost.svc.get('/ns/service/subscribers', { namespaceId, serviceName })
  expect(readers.json()).toMatchObject({
    count: 1,
    subscribers: [{ ip: '127.0.0.1', port: 0, agent: 'reader/1', via: 'poll' }],
  })
  // There only those are subscribers who get pushes.
  const pushed = await waypost.nacos.get('/ns/service/subscribers', { namespaceId, serviceName })
  expect(pushed.json()).toEqual({ count: 0, subscribers: [] })
  const checkers = await waypost.svc.get('/ns/health/checkers')
  expect(Object.keys(checkers.json())).toEqual(['NONE', 'TCP', 'HTTP', 'MYSQL'])
})
