import { describe, expect, test } from 'vitest'
import { serverForThisFile, unique, type Json } from './client.ts'
import { configs, G, items, raw, transferOn } from './transfer-support.ts'

const waypost = serverForThisFile({ settings: { 'max-import': '1MiB', 'max-import-content': '4MiB' } })
const { contentOf, exported, imported, newNamespace, publish, upload } = transferOn(waypost)

describe('import', () => {
  test('restores all items, also Unicode names and contents, adds history and answers polls', async () => {
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

  test('ABORT, the default, stops at the first item that exists', async () => {
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

  test('SKIP leaves items that exist', async () => {
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

  test('OVERWRITE replaces items that exist', async () => {
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

  test('the namespace may be absent, and parameters may be fields of the upload', async () => {
    const dataId = unique('item')
    const zip = await items([G(dataId)])
    expect((await upload(zip, {})).json()).toMatchObject({ code: 200, data: { succCount: 1 } })
    const again = await upload(zip, {}, { policy: 'SKIP', namespace: 'public' })
    expect(again.json()).toMatchObject({ code: 200, data: { skipCount: 1 } })
    expect(await contentOf('', dataId)).toBe(`new ${dataId}`)
  })

  test('entries that are no items are listed and left out: unknown paths, no metadata, no content', async () => {
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
      'no-group': 'x',
    })
    const more = await imported(described, { namespace: to, policy: 'SKIP' })
    expect(more.data).toMatchObject({
      succCount: 1,
      unrecognizedData: [
        { itemName: '未在元数据中找到: G/extra' },
        { itemName: 'no-group' },
        { itemName: '未在文件中找到: G/gone' },
      ],
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

  test('100002 has the message that clients compare, and the reason beside it', async () => {
    const zip = await raw({ '.metadata.yml': 'metadata:\n- dataId: a\n', 'G/a': 'x' })
    expect(await imported(zip, {})).toEqual({
      code: 100002,
      message: '导入的元数据非法',
      data: { succCount: 0, reason: 'item 1: group and dataId are required' },
    })
  })

  test('metadata may have block scalars, flows and aliases, and lines that end with a lone CR', async () => {
    const to = await newNamespace()
    const described = await raw({
      '.metadata.yml':
        'metadata:\n- dataId: a\n  group: &g G\n  desc: >-\n    two\n    words\n- {dataId: b, group: *g}\n',
      'G/a': 'x',
      'G/b': 'x',
    })
    expect((await imported(described, { namespace: to })).data.succCount).toBe(2)
    const apps = await raw({ '.meta.yml': 'G.c.app=shop\rG.d~yml.app=other\r', 'G/c': 'x', 'G/d.yml': 'x' })
    expect((await imported(apps, { namespace: to })).data.succCount).toBe(2)
    const show = async (dataId: string): Promise<Json> =>
      (await waypost.nacos.get(configs, { show: 'all', tenant: to, dataId, group: 'G' })).json()
    expect((await show('a')).desc).toBe('two words')
    expect([(await show('c')).appName, (await show('d.yml')).appName]).toEqual(['shop', 'other'])
  })

  test('100005 is the code without a file', async () => {
    expect((await upload(undefined, {})).json()).toMatchObject({ code: 100005 })
    const empty = await waypost.nacos.call('POST', configs, { query: { import: true } })
    expect(empty.json()).toMatchObject({ code: 100005 })
  })

  test('an invalid zip is refused, and nothing of it is published', async () => {
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

  test('a body that is too large or is no upload is refused', async () => {
    expect((await upload(Buffer.alloc(1_100_000), {})).status).toBe(413)
    const query = { import: true }
    expect((await waypost.nacos.call('POST', configs, { query, body: 'x' })).status).toBe(400)
    expect((await upload(await raw({ 'G/a': 'x' }), { policy: 'MERGE' })).status).toBe(400)
    const form = { import: true, dataId: 'a', group: 'G', content: 'x' }
    expect((await waypost.nacos.post(configs, form)).status).toBe(400)
  })
})
