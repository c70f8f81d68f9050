import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { archiveFiles } from '../../src/archive/config-archive.ts'
import type { ItemMetadata } from '../../src/archive/config-metadata.ts'
import { openZip } from '../../src/archive/zip-reader.ts'
import { zipChunks, type ZipFile } from '../../src/archive/zip-writer.ts'
import { serverForThisFile, unique, type Json, type Params, type Reply } from './client.ts'

const waypost = serverForThisFile({ settings: { 'max-import': '1MiB', 'max-import-content': '4MiB' } })
const configs = '/cs/configs'
const LIMITS = { maxEntries: 1e6, maxEntryBytes: 1e9, maxTotalBytes: 1e9 }

async function newNamespace(): Promise<string> {
  const id = unique('ns')
  const form = { customNamespaceId: id, namespaceName: id, namespaceDesc: '' }
  expect((await waypost.nacos.post('/console/namespaces', form)).text).toBe('true')
  return id
}

async function publish(tenant: string, dataId: string, more: Params = {}): Promise<void> {
  const form = { tenant, dataId, group: 'G', content: `content of ${dataId}`, ...more }
  expect((await waypost.nacos.post(configs, form)).text).toBe('true')
}

async function contentOf(tenant: string, dataId: string, group = 'G'): Promise<string | undefined> {
  const reply = await waypost.nacos.get(configs, { tenant, dataId, group })
  return reply.status === 200 ? reply.text : undefined
}

const exported = (query: Params): Promise<Reply> =>
  waypost.nacos.get(configs, { exportV2: true, ids: '', ...query })

async function filesIn(zip: Buffer): Promise<Record<string, string>> {
  const files = openZip(zip, LIMITS).map(async (one) => [one.name, (await one.read()).toString('utf8')])
  return Object.fromEntries(await Promise.all(files)) as Record<string, string>
}

function upload(zip: Buffer | undefined, query: Params, fields: Record<string, string> = {}): Promise<Reply> {
  const part = (head: string, content: Buffer | string): Buffer[] => [
    Buffer.from(`--boundary\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
    Buffer.from(content as string),
    Buffer.from('\r\n'),
  ]
  const body = Buffer.concat([
    ...Object.entries(fields).flatMap(([name, value]) => part(`name="${name}"`, value)),
    ...(zip === undefined ? [] : part('name="file"; filename="../../x.zip"', zip)),
    Buffer.from('--boundary--\r\n'),
  ])
  const headers = { 'content-type': 'multipart/form-data; boundary=boundary' }
  return waypost.nacos.call('POST', configs, { query: { import: true, ...query }, body, headers })
}

async function zipOf(files: Iterable<ZipFile>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of zipChunks(files)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const raw = (files: Record<string, string | Buffer>): Promise<Buffer> =>
  zipOf(
    Object.entries(files).map(([name, content]) => ({
      name,
      content: Buffer.from(content as string),
      modifiedMs: 0,
    })),
  )

const items = (list: readonly (ItemMetadata & { content?: string })[], version: 1 | 2 = 2): Promise<Buffer> =>
  zipOf(
    archiveFiles(
      list.map(({ content, ...metadata }) => ({
        metadata,
        content: Buffer.from(content ?? `new ${metadata.dataId}`),
        modifiedMs: 0,
      })),
      version,
    ),
  )

const G = (dataId: string): ItemMetadata => ({ group: 'G', dataId, type: 'text' })

async function imported(zip: Buffer, query: Params): Promise<Json> {
  const reply = await upload(zip, query)
  expect(reply.status, reply.text).toBe(200)
  expect(reply.headers['content-type']).toBe('application/json;charset=UTF-8')
  return reply.json()
}

describe('export', () => {
  test('the second layout holds contents, types, descriptions and applications', async () => {
    const tenant = await newNamespace()
    await publish(tenant, 'a.yml', { type: 'yaml', desc: 'what for', appName: 'shop' })
    await publish(tenant, 'b', { content: 'ключ: ⚙\r\n' })
    const reply = await exported({ tenant })
    expect(reply.status).toBe(200)
    expect(reply.headers['content-type']).toBe('application/octet-stream')
    expect(reply.headers['content-disposition']).toMatch(
      /^attachment;filename=nacos_config_export_\d{14}\.zip$/,
    )
    expect(await filesIn(reply.bytes)).toEqual({
      'G/a.yml': 'content of a.yml',
      'G/b': 'ключ: ⚙\r\n',
      '.metadata.yml':
        'metadata:\n- appName: shop\n  dataId: a.yml\n  desc: "what for"\n  group: G\n  type: yaml\n' +
        '- appName: ""\n  dataId: b\n  desc: null\n  group: G\n  type: text\n',
    })
  })

  test('the first layout tells the application alone, and only where there is one', async () => {
    const tenant = await newNamespace()
    await publish(tenant, 'a.b.yml', { appName: 'shop' })
    await publish(tenant, 'c')
    const reply = await waypost.nacos.get(configs, { export: true, tenant, ids: '', group: '', appName: '' })
    expect(await filesIn(reply.bytes)).toEqual({
      'G/a.b.yml': 'content of a.b.yml',
      'G/c': 'content of c',
      '.meta.yml': 'G.a.b~yml.app=shop\r\n',
    })
  })

  test('names, group, application and ids choose items, and ids only those of the namespace', async () => {
    const [tenant, other] = [await newNamespace(), await newNamespace()]
    await publish(tenant, 'web.a', { appName: 'shop' })
    await publish(tenant, 'web.b', { group: 'H' })
    await publish(other, 'secret')
    const names = async (query: Params): Promise<string[]> =>
      Object.keys(
        await filesIn((await waypost.nacos.get(configs, { export: true, tenant, ...query })).bytes),
      ).filter((name) => name !== '.meta.yml')
    expect(await names({})).toEqual(['G/web.a', 'H/web.b'])
    expect(await names({ group: 'H' })).toEqual(['H/web.b'])
    expect(await names({ appName: 'shop' })).toEqual(['G/web.a'])
    expect(await names({ dataId: '*.b' })).toEqual(['H/web.b'])
    const idOf = async (ns: string, dataId: string, group = 'G'): Promise<string> =>
      (await waypost.nacos.get(configs, { show: 'all', tenant: ns, dataId, group })).json().id
    const ids = `${await idOf(tenant, 'web.b', 'H')},${await idOf(other, 'secret')},99999999`
    expect(await names({ ids })).toEqual(['H/web.b'])
    expect(await names({ tenant: unique('unknown') })).toEqual([])
    expect((await exported({ tenant, ids: 'x' })).status).toBe(400)
  })
})

test('who leaves in the middle of an export harms nobody', async () => {
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

describe('import', () => {
  test('brings everything back, Unicode names and contents as well, with history and for those who watch', async () => {
    const [from, to] = [await newNamespace(), await newNamespace()]
    const notes = {
      type: 'json',
      desc: 'wofür: "das" #1',
      appName: 'shop',
      config_tags: 'x,y',
      use: 'u',
      effect: 'e',
    }
    await publish(from, '日本語.json', { group: 'Größe', content: '{"a":"⚙\\u0000"}\n', ...notes })
    await publish(from, 'plain', { content: ' \ttext with\r\nlines ' })
    const watching = waypost.nacos.post(
      `${configs}/listener`,
      { 'Listening-Configs': `plain\u0002G\u0002\u0002${to}\u0001` },
      { 'Long-Pulling-Timeout': '20000' },
    )
    const answer = await imported((await exported({ tenant: from })).bytes, { namespace: to })
    expect(answer).toEqual({
      code: 200,
      message: 'import success',
      data: {
        succCount: 2,
        skipCount: 0,
        failData: [],
        skipData: [],
        unrecognizedCount: 0,
        unrecognizedData: [],
      },
    })
    expect((await watching).text).toContain('plain')
    const show = async (tenant: string): Promise<Json> =>
      (
        await waypost.nacos.get(configs, { show: 'all', tenant, dataId: '日本語.json', group: 'Größe' })
      ).json()
    const { id, tenant, createTime, modifyTime, ...same } = await show(from)
    expect([id, tenant, createTime, modifyTime]).not.toContain(undefined)
    expect(await show(to)).toMatchObject({ ...same, tenant: to, configTags: 'x,y', type: 'json' })
    expect(await contentOf(to, 'plain')).toBe(' \ttext with\r\nlines ')
    const history = (
      await waypost.nacos.get('/cs/history', { search: 'accurate', tenant: to, dataId: 'plain', group: 'G' })
    ).json()
    expect(history.pageItems).toMatchObject([{ opType: expect.stringMatching(/^I/), srcIp: '127.0.0.1' }])
  })

  test('the first layout takes the type from the extension', async () => {
    const to = await newNamespace()
    const zip = await items(
      [
        { group: 'G', dataId: 'a.yml', appName: 'shop' },
        { group: 'G', dataId: 'b' },
      ],
      1,
    )
    expect((await imported(zip, { namespace: to })).data.succCount).toBe(2)
    const show = await waypost.nacos.get(configs, { show: 'all', tenant: to, dataId: 'a.yml', group: 'G' })
    expect(show.json()).toMatchObject({ type: 'yaml', appName: 'shop' })
  })

  const three = (): Promise<Buffer> => items([G('a'), G('b'), G('c')])

  test('ABORT, which is the default, stops at the first that exists', async () => {
    const to = await newNamespace()
    await publish(to, 'b')
    const { data } = await imported(await three(), { namespace: to })
    expect(data).toMatchObject({
      succCount: 1,
      failData: [{ dataId: 'b', group: 'G' }],
      skipData: [{ dataId: 'c', group: 'G' }],
      skipCount: 1,
    })
    expect([await contentOf(to, 'a'), await contentOf(to, 'b'), await contentOf(to, 'c')]).toEqual([
      'new a',
      'content of b',
      undefined,
    ])
  })

  test('SKIP leaves what exists', async () => {
    const to = await newNamespace()
    await publish(to, 'b')
    const { data } = await imported(await three(), { namespace: to, policy: 'SKIP' })
    expect(data).toMatchObject({
      succCount: 2,
      skipCount: 1,
      skipData: [{ dataId: 'b', group: 'G' }],
      failData: [],
    })
    expect([await contentOf(to, 'b'), await contentOf(to, 'c')]).toEqual(['content of b', 'new c'])
  })

  test('OVERWRITE replaces it', async () => {
    const to = await newNamespace()
    await publish(to, 'b', { desc: 'old', config_tags: 'kept' })
    const { data } = await imported(await three(), { namespace: to, policy: 'OVERWRITE' })
    expect(data).toMatchObject({ succCount: 3, skipCount: 0 })
    expect(await contentOf(to, 'b')).toBe('new b')
  })

  test.each(['ABORT', 'SKIP', 'OVERWRITE'])(
    'a dry run of %s tells the same and changes nothing',
    async (policy) => {
      const to = await newNamespace()
      await publish(to, 'b')
      const dry = await imported(await three(), { namespace: to, policy, dryRun: true })
      expect(dry.message).toMatch(/dry run/)
      expect([await contentOf(to, 'a'), await contentOf(to, 'b'), await contentOf(to, 'c')]).toEqual([
        undefined,
        'content of b',
        undefined,
      ])
      expect((await imported(await three(), { namespace: to, policy })).data).toEqual(dry.data)
    },
  )

  test('the default namespace needs no name, and parameters may be fields of the upload', async () => {
    const dataId = unique('item')
    const zip = await items([G(dataId)])
    expect((await upload(zip, {})).json()).toMatchObject({ code: 200, data: { succCount: 1 } })
    const again = await upload(zip, {}, { policy: 'SKIP', namespace: 'public' })
    expect(again.json()).toMatchObject({ code: 200, data: { skipCount: 1 } })
    expect(await contentOf('', dataId)).toBe(`new ${dataId}`)
  })

  test('what is no item is named and left out: strange paths, what lacks metadata, what lacks a content', async () => {
    const to = await newNamespace()
    const zip = await raw({
      '../../etc/passwd': 'x',
      '/G/a': 'x',
      'G/with space': 'x',
      top: 'x',
      'C:\\x': 'x',
      'G/ok': 'fine',
    })
    const { data } = await imported(zip, { namespace: to })
    expect(data).toMatchObject({ succCount: 1, unrecognizedCount: 5 })
    expect(data.unrecognizedData).toContainEqual({ itemName: '../../etc/passwd' })
    const described = await raw({
      '.metadata.yml':
        'metadata:\n- {}\n'.replace('{}', 'dataId: a\n  group: G\n  type: text') +
        '- dataId: gone\n  group: G\n',
      'G/a': 'x',
      'G/extra': 'x',
    })
    const more = await imported(described, { namespace: to, policy: 'SKIP' })
    expect(more.data).toMatchObject({
      succCount: 1,
      unrecognizedData: [{ itemName: 'G/extra' }, { itemName: 'G/gone' }],
    })
  })

  test.each([
    [100001, 'an unknown namespace', { 'G/a': 'x' }, { namespace: 'no-such-namespace' }],
    [100002, 'metadata of another shape', { '.metadata.yml': 'a: b\n', 'G/a': 'x' }, {}],
    [100002, 'a line of the first layout without =', { '.meta.yml': 'abc\n', 'G/a': 'x' }, {}],
    [
      100002,
      'a description that is too long',
      { '.metadata.yml': `metadata:\n- dataId: a\n  group: G\n  desc: ${'x'.repeat(129)}\n`, 'G/a': 'x' },
      {},
    ],
    [100005, 'a zip without items', { top: 'x' }, {}],
    [100005, 'an empty zip', {}, {}],
  ])('%i is %s', async (...[code, , files, query]) => {
    const answer = await imported(await raw(files as Record<string, string>), query)
    expect(answer).toMatchObject({ code, data: { succCount: 0 } })
    expect(answer.message).toMatch(/./)
  })

  test('100005 is no file', async () => {
    expect((await upload(undefined, {})).json()).toMatchObject({ code: 100005 })
    const empty = await waypost.nacos.call('POST', configs, { query: { import: true } })
    expect(empty.json()).toMatchObject({ code: 100005 })
  })

  test('a bad zip is refused, and nothing of it is published', async () => {
    const to = await newNamespace()
    const good = await items([G('a'), { ...G('b'), content: 'x'.repeat(1000) }])
    const second = Buffer.from(good)
    second[good.indexOf('G/b') + 3]! ^= 0xff
    const cases: [string, Buffer, number][] = [
      ['no zip', Buffer.from('hello'), 400],
      ['a cut zip', good.subarray(0, -20), 400],
      ['damage in the second item', second, 400],
      ['a content that is not UTF-8', await raw({ 'G/a': 'fine', 'G/b': Buffer.from([0x41, 0xff]) }), 400],
      ['a blank content', await raw({ 'G/a': 'fine', 'G/b': ' \n' }), 400],
      ['a bomb', await raw({ 'G/a': 'fine', 'G/b': Buffer.alloc(5_000_000, 97) }), 413],
    ]
    for (const [name, zip, status] of cases) {
      const reply = await upload(zip, { namespace: to })
      expect([name, reply.status, reply.text]).toEqual([name, status, expect.stringMatching(/^caused: /)])
    }
    expect(await contentOf(to, 'a')).toBeUndefined()
  })

  test('a body that is too large, or no upload, is refused', async () => {
    expect((await upload(Buffer.alloc(1_100_000), {})).status).toBe(413)
    const query = { import: true }
    expect((await waypost.nacos.call('POST', configs, { query, body: 'x' })).status).toBe(400)
    expect((await upload(await raw({ 'G/a': 'x' }), { policy: 'MERGE' })).status).toBe(400)
    const form = { import: true, dataId: 'a', group: 'G', content: 'x' }
    expect((await waypost.nacos.post(configs, form)).status).toBe(400)
  })
})

describe('clone', () => {
  async function idsOf(tenant: string): Promise<number[]> {
    const query = { search: 'accurate', dataId: '', group: '', pageNo: 1, pageSize: 10, tenant }
    const page = (await waypost.nacos.get(configs, query)).json()
    return page.pageItems.map((item: Json) => Number(item.id))
  }

  const clone = (selection: unknown, query: Params): Promise<Reply> =>
    waypost.nacos.call('POST', configs, {
      query: { clone: true, ...query },
      body: typeof selection === 'string' ? selection : JSON.stringify(selection),
      headers: { 'content-type': 'application/json' },
    })

  test('copies items with all that is known of them, under other names where they are given', async () => {
    const [from, to] = [await newNamespace(), await newNamespace()]
    await publish(from, 'a', { type: 'json', desc: 'd', config_tags: 't' })
    await publish(from, 'b')
    const [a, b] = await idsOf(from)
    const reply = await clone(
      [
        { cfgId: a, dataId: 'a', group: 'G' },
        { cfgId: String(b), dataId: 'b2', group: 'H' },
      ],
      { tenant: to, policy: 'SKIP' },
    )
    expect(reply.json()).toMatchObject({
      code: 200,
      message: 'Clone Completed Successfully',
      data: { succCount: 2, skipCount: 0 },
    })
    const show = await waypost.nacos.get(configs, { show: 'all', tenant: to, dataId: 'a', group: 'G' })
    expect(show.json()).toMatchObject({ content: 'content of a', type: 'json', desc: 'd', configTags: 't' })
    expect(await contentOf(to, 'b2', 'H')).toBe('content of b')
    const again = await clone([{ cfgId: a }], { tenant: to, policy: 'ABORT' })
    expect(again.json().data).toMatchObject({ succCount: 0, failData: [{ dataId: 'a', group: 'G' }] })
    const dry = await clone([{ cfgId: b }], { tenant: to, dryRun: true })
    expect(dry.json()).toMatchObject({ message: expect.stringContaining('dry run'), data: { succCount: 1 } })
    expect(await contentOf(to, 'b')).toBeUndefined()
  })

  test('its codes', async () => {
    const tenant = await newNamespace()
    await publish(tenant, 'a')
    const [id] = await idsOf(tenant)
    expect((await clone([], { tenant })).json().code).toBe(100006)
    expect((await clone('', { tenant })).json().code).toBe(100006)
    expect((await clone([{ cfgId: id }], { tenant: 'no-such' })).json().code).toBe(100001)
    expect((await clone([{ cfgId: 987654321 }], { tenant })).json().code).toBe(100005)
    for (const wrong of [
      '{',
      '{}',
      '[1]',
      [{ cfgId: 'x' }],
      [{ cfgId: id, dataId: 'a b' }],
      [{ cfgId: id, group: 5 }],
      [{ cfgId: id }, { cfgId: id }],
    ])
      expect([wrong, (await clone(wrong, { tenant })).status]).toEqual([wrong, 400])
  })
})
