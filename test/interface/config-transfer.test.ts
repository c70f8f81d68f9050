/** Exports and clones of configurations, and imports under `/svc`; nacos-import has the imports under `/nacos`. */
import { createHash, randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import {
  DIALECTS,
  type Dialect,
  serverForThisFile,
  unique,
  until,
  type Json,
  type Params,
  type Reply,
} from './client.ts'
import { expectProblem, refusals } from './problem.ts'
import { configs, filesIn, items, raw, transferOn } from './transfer-support.ts'

const waypost = serverForThisFile()
const { contentOf, exported, newNamespace, publish } = transferOn(waypost)

async function show(tenant: string, dataId: string, group = 'G'): Promise<Json> {
  return (await waypost.svc.get(configs, { tenant, dataId, group, show: 'all' })).json()
}

function cloneOn(dialect: Dialect, selection: unknown, query: Params): Promise<Reply> {
  return waypost[dialect].call('POST', configs, {
    query: { clone: true, ...query },
    body: typeof selection === 'string' ? selection : JSON.stringify(selection),
    headers: { 'content-type': 'application/json' },
  })
}

const codeOf = (reply: Reply): string => reply.json().type.split(':').at(-1)

describe.each(DIALECTS)('/%s: an export', (dialect) => {
  const expectRefused = refusals(dialect)
  const get = (query: Params) => waypost[dialect].get(configs, query)

  test('of the second layout has contents, types, descriptions and applications', async () => {
    const tenant = await newNamespace()
    await publish(tenant, 'a.yml', { type: 'yaml', desc: 'what for', appName: 'shop' })
    await publish(tenant, 'b', { content: 'ключ: ⚙\r\n' })
    const reply = await get({ exportV2: true, tenant, ids: '' })
    expect(reply.status).toBe(200)
    expect(reply.headers['content-type']).toBe('application/octet-stream')
    expect(await filesIn(reply.bytes)).toEqual({
      'G/a.yml': 'content of a.yml',
      'G/b': 'ключ: ⚙\r\n',
      '.metadata.yml':
        'metadata:\n- appName: shop\n  dataId: a.yml\n  desc: "what for"\n  group: G\n  type: yaml\n' +
        '- appName: ""\n  dataId: b\n  desc: null\n  group: G\n  type: text\n',
    })
  })

  test('of the first layout has only the application, if there is one', async () => {
    const tenant = await newNamespace()
    await publish(tenant, 'c')
    const query = { export: true, tenant, ids: '', group: '', appName: '' }
    const files = { 'G/c': 'content of c' }
    expect(await filesIn((await get(query)).bytes)).toEqual(files)
    await publish(tenant, 'a.b.yml', { appName: 'shop' })
    const more = { 'G/a.b.yml': 'content of a.b.yml', '.meta.yml': 'G.a.b~yml.app=shop\r\n' }
    expect(await filesIn((await get(query)).bytes)).toEqual({ ...files, ...more })
  })

  test('is called by its time, and on /svc by its namespace', async () => {
    const tenant = await newNamespace()
    for (const [query, name] of [
      [{ tenant }, tenant],
      [{ tenant: '' }, 'public'],
    ] as const) {
      const { headers } = await get({ export: true, ...query })
      const file = dialect === 'svc' ? `waypost_${name}` : 'nacos_config_export'
      expect(headers['content-disposition']).toMatch(
        new RegExp(`^attachment;filename=${file}_\\d{14}\\.zip$`),
      )
    }
  })

  test('has the items that names, group, application and ids select, of its namespace alone', async () => {
    const [tenant, other] = [await newNamespace(), await newNamespace()]
    await publish(tenant, 'web.a', { appName: 'shop' })
    await publish(tenant, 'web.b', { group: 'H' })
    await publish(other, 'secret')
    const ids = [await show(tenant, 'web.b', 'H'), await show(other, 'secret')].map(({ id }) => id)
    const rows: [Params, string[]][] = [
      [{}, ['G/web.a', 'H/web.b']],
      [{ group: 'H' }, ['H/web.b']],
      [{ appName: 'shop' }, ['G/web.a']],
      [{ dataId: '*.b' }, ['H/web.b']],
      [{ ids: `${ids.join(',')},99999999` }, ['H/web.b']],
      [{ tenant: unique('unknown') }, []],
    ]
    for (const [query, names] of rows) {
      const files = await filesIn((await get({ export: true, tenant, ...query })).bytes)
      const found = Object.keys(files).filter((name) => name !== '.meta.yml')
      expect(found, JSON.stringify(query)).toEqual(names)
    }
    expectRefused(await get({ exportV2: true, tenant, ids: 'x' }), 400)
  })
})

test('/svc: an export may have its ids in a form: thousands are too long for an address', async () => {
  const [tenant, other] = [await newNamespace(), await newNamespace()]
  await publish(tenant, 'one')
  await publish(tenant, 'two')
  await publish(other, 'secret')
  const known = [(await show(tenant, 'two')).id, (await show(other, 'secret')).id].join(',')
  const unknown = Array.from({ length: 9_000 }, (_, index) => 9_000_000_000_000_000 + index)
  const reply = await waypost.svc.post(`${configs}/export`, { tenant, ids: `${unknown.join(',')},${known}` })
  expect(Object.keys(await filesIn(reply.bytes))).toEqual(['G/two', '.metadata.yml'])
  const whole = await waypost.svc.post(`${configs}/export`, { tenant })
  expect(Object.keys(await filesIn(whole.bytes))).toEqual(['G/one', 'G/two', '.metadata.yml'])
  expectProblem(await waypost.svc.post(`${configs}/export`, { tenant, ids: 'x' }), 400)
  const tooMany = await waypost.svc.post(`${configs}/export`, {
    tenant,
    ids: Array(10_001).fill(1).join(','),
  })
  expectProblem(tooMany, 400, 'at most 10000 ids')
})

test('on /svc another word for an export is refused', async () => {
  expectProblem(await waypost.svc.get(configs, { export: 'yes' }), 400)
})

test('a client that disconnects during an export does not affect the server', async () => {
  const tenant = await newNamespace()
  for (const dataId of ['a', 'b', 'c'])
    await publish(tenant, dataId, { content: randomBytes(3_000_000).toString('base64') })
  const url = `${waypost.server.url}/nacos/v1${configs}?exportV2=true&tenant=${tenant}`
  await new Promise<void>((resolve, reject) => {
    const asked = request(url, (reply) => reply.once('data', () => reply.destroy()).once('close', resolve))
    asked.on('error', reject).end()
  })
  const whole = await exported({ tenant })
  expect(Object.keys(await filesIn(whole.bytes))).toEqual(['G/a', 'G/b', 'G/c', '.metadata.yml'])
  expect(waypost.server.output()).not.toMatch(/cut in the middle|"level":50/)
})

describe('/svc: an import', () => {
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

  test('says before what is new, changed and equal, and how many listen', async () => {
    const namespace = await newNamespace()
    await publish(namespace, 'changed', { content: 'old' })
    await publish(namespace, 'equal', { content: 'new equal' })
    const item = { group: 'G', type: 'text' }
    const zip = await items(['changed', 'equal', 'new'].map((dataId) => ({ ...item, dataId })))
    const known = `changed\u0002G\u0002${createHash('md5').update('old').digest('hex')}\u0002${namespace}\u0001`
    const listening = waypost.svc.post(
      `${configs}/listener`,
      { 'Listening-Configs': known },
      { 'Long-Pulling-Timeout': '20000' },
    )
    const ahead = async (): Promise<Json[]> =>
      (await upload(zip, { namespace, policy: 'OVERWRITE', dryRun: true })).json().succData
    const seen = await until(ahead, (found) => found[0].watcherCount === 1)
    expect(seen).toEqual([
      { dataId: 'changed', group: 'G', change: 'changed', watcherCount: 1 },
      { dataId: 'equal', group: 'G', change: 'equal', watcherCount: 0 },
      { dataId: 'new', group: 'G', change: 'new', watcherCount: 0 },
    ])
    const done = await upload(zip, { namespace, policy: 'OVERWRITE' })
    expect(done.json().succData[0]).toEqual({ dataId: 'changed', group: 'G' })
    await listening
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
    expect(codeOf(await upload(undefined, { namespace }))).toBe('bad-archive')
    const broken = await raw({ 'G/a': 'x', '.metadata.yml': 'metadata: 5' })
    expect(codeOf(await upload(broken, { namespace }))).toBe('bad-archive')
  })
})

describe.each(DIALECTS)('/%s: a clone', (dialect) => {
  const clone = (selection: unknown, query: Params) => cloneOn(dialect, selection, query)
  /** The outcome for the items: under /nacos it is in an envelope. */
  const outcomeOf = (reply: Reply): Json => (dialect === 'svc' ? reply.json() : reply.json().data)

  test('copies items with all their fields, under other names if these are given', async () => {
    const [from, to] = [await newNamespace(), await newNamespace()]
    await publish(from, 'a', { type: 'json', desc: 'd', config_tags: 't' })
    await publish(from, 'b')
    const [a, b] = [(await show(from, 'a')).id, (await show(from, 'b')).id]
    const dry = await clone([{ cfgId: b }], { tenant: to, dryRun: true })
    expect(outcomeOf(dry)).toMatchObject({ succCount: 1 })
    if (dialect === 'svc') expect(dry.json()).toMatchObject({ dryRun: true })
    else expect(dry.json()).toMatchObject({ message: expect.stringContaining('dry run') })
    expect(await contentOf(to, 'b')).toBeUndefined()
    const selection = [
      { cfgId: Number(a), dataId: 'a', group: 'G' },
      { cfgId: b, dataId: 'b2', group: 'H' },
    ]
    const reply = await clone(selection, { tenant: to, policy: 'SKIP' })
    expect(outcomeOf(reply)).toMatchObject({ succCount: 2, skipCount: 0 })
    const said =
      dialect === 'svc' ? { dryRun: false } : { code: 200, message: 'Clone Completed Successfully' }
    expect(reply.json()).toMatchObject(said)
    const notes = { content: 'content of a', type: 'json', desc: 'd', configTags: 't' }
    expect(await show(to, 'a')).toMatchObject(notes)
    expect(await contentOf(to, 'b2', 'H')).toBe('content of b')
    const again = await clone([{ cfgId: a }], { tenant: to, policy: 'ABORT' })
    expect(outcomeOf(again)).toMatchObject({ succCount: 0, failData: [{ dataId: 'a', group: 'G' }] })
  })

  test('of nothing, of what is not there, to nowhere, or without a sense is refused', async () => {
    const tenant = await newNamespace()
    await publish(tenant, 'a')
    const { id: cfgId } = await show(tenant, 'a')
    const refused: [selection: unknown, to: string, svc: string, nacos: number][] = [
      [[], tenant, 'malformed-request', 100006],
      ['', tenant, 'malformed-request', 100006],
      [[{ cfgId }], 'no-such', 'namespace-not-found', 100001],
      [[{ cfgId: 987654321 }], tenant, 'config-not-found', 100005],
    ]
    for (const [selection, to, svc, nacos] of refused) {
      const reply = await clone(selection, { tenant: to })
      expect(dialect === 'svc' ? codeOf(reply) : reply.json().code).toBe(dialect === 'svc' ? svc : nacos)
    }
    const wrong = [
      '{',
      '{}',
      '[1]',
      [{ cfgId: 'x' }],
      [{ cfgId, dataId: 'a b' }],
      [{ cfgId, group: 5 }],
      [{ cfgId }, { cfgId }],
    ]
    for (const selection of wrong)
      expect([selection, (await clone(selection, { tenant })).status]).toEqual([selection, 400])
  })
})

test('/svc: a clone is refused where somebody has changed something since the dry run', async () => {
  const clone = (selection: unknown, query: Params) => cloneOn('svc', selection, query)
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
