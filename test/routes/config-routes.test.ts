import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, test } from 'vitest'
import { configKey } from '../../src/core/config/state/config-item.ts'
import { startFixture } from './fixture.ts'

let at: ReturnType<typeof startFixture>
beforeEach(() => (at = startFixture()))

const item = { dataId: 'app.yaml', group: 'G' }
const md5 = (text: string) => createHash('md5').update(text).digest('hex')
const dialects = ['svc', 'nacos'] as const

async function publish(params: Record<string, string> = {}, headers: Record<string, string> = {}) {
  return at.nacos('POST', '/cs/configs', { params: { ...item, content: 'a: ü', ...params }, headers })
}

async function idOf(named: Record<string, string> = item): Promise<string> {
  return JSON.parse((await at.nacos('GET', '/cs/configs', { params: { ...named, show: 'all' } })).text).id
}

describe.each(dialects)('%s: one item', (dialect) => {
  test('is published, read byte for byte, and deleted', async () => {
    const content = ' \u00a0{"a": "ü世+%"}\r\n'
    const sent = { params: { ...item, content, type: 'json' } }
    const published = await at[dialect]('POST', '/cs/configs', sent)
    expect(published.text).toBe('true')
    const { answer } = await at[dialect]('GET', '/cs/configs', { params: item })
    expect(answer).toMatchObject({ status: 200, contentType: 'text/plain;charset=UTF-8' })
    expect(answer?.body).toEqual(Buffer.from(content))
    expect(answer?.headers).toMatchObject({
      'Content-MD5': md5(content),
      'Config-Type': 'json',
      'Last-Modified': 'Sat, 21 Nov 2026 11:31:18 GMT',
    })
    const deleted = await at[dialect]('DELETE', '/cs/configs', { params: item })
    expect(deleted.answer).toMatchObject({ status: 200, contentType: published.answer?.contentType })
    expect(deleted.text).toBe('true')
    expect((await at[dialect]('GET', '/cs/configs', { params: item })).answer?.status).toBe(404)
  })

  test('has one answer for each version of it', async () => {
    const read = async () => (await at[dialect]('GET', '/cs/configs', { params: item })).answer
    await publish()
    const first = await read()
    expect(await read()).toBe(first)
    await publish({ content: 'b' })
    expect(String((await read())?.body)).toBe('b')
  })

  test.each([
    ['an unknown one', { type: 'pdf' }, 'text'],
    ['none', {}, 'yaml'],
    ['an empty one', { type: '' }, 'yaml'],
  ])('of type yaml, published with %s, is %3$s', async (_, type, expected) => {
    await publish({ type: 'yaml' })
    await at[dialect]('POST', '/cs/configs', { params: { ...item, content: 'b', ...type } })
    const { answer } = await at[dialect]('GET', '/cs/configs', { params: item })
    expect(answer?.headers?.['Config-Type']).toBe(expected)
  })

  test('of the largest size is accepted, and one byte more is refused', async () => {
    const send = (content: string) => at[dialect]('POST', '/cs/configs', { params: { ...item, content } })
    expect((await send('世'.repeat(333))).answer?.status).toBe(200)
    expect((await send('世'.repeat(334))).answer?.status).toBe(400)
    expect((await send(' \r\n\t')).answer?.status).toBe(400)
  })

  test.each([{ dataId: '' }, { dataId: 'a b' }, { group: 'g/' }, { tenant: 'a.b' }])(
    '%j is a 400',
    async (wrong) => {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const asked = await at[dialect](method, '/cs/configs', {
          params: { ...item, content: 'x', ...wrong },
        })
        expect(asked.answer?.status).toBe(400)
        expect(asked.text).toContain(Object.keys(wrong)[0])
      }
    },
  )

  test('has its own small buffer, not a slice of a shared one', async () => {
    await publish()
    const { content } = at.state.config(configKey('public', item.group, item.dataId))!
    expect(content.buffer.byteLength).toBe(content.length)
  })
})

describe('/nacos reading', () => {
  test('forbids caching, and has the key of an encrypted content', async () => {
    await publish({ encryptedDataKey: 'k' })
    const read = async () => (await at.nacos('GET', '/cs/configs', { params: item })).answer?.headers
    expect(await read()).toMatchObject({
      Pragma: 'no-cache',
      Expires: 'Thu, 01 Jan 1970 00:00:00 GMT',
      'Cache-Control': 'no-cache,no-store',
      'Encrypted-Data-Key': 'k',
    })
    await publish({ content: 'plain again' })
    expect(await read()).toMatchObject({ 'Encrypted-Data-Key': '' })
  })

  test('of an unknown item has the text that clients know', async () => {
    expect((await at.nacos('GET', '/cs/configs', { params: item })).text).toBe('config data not exist\n')
  })

  test('with a tag finds nothing', async () => {
    await publish()
    const { answer } = await at.nacos('GET', '/cs/configs', { params: { ...item, tag: 't' } })
    expect(answer?.status).toBe(404)
  })

  test('with beta=true answers that there is none', async () => {
    await publish()
    const asked = await at.nacos('GET', '/cs/configs', { params: { ...item, beta: 'true' } })
    expect(asked.text).toBe('{"code":200,"message":"query beta ok","data":null}')
  })

  test('with show=all has all fields, null without a value', async () => {
    await publish({ tenant: 'public' })
    const all = JSON.parse((await at.nacos('GET', '/cs/configs', { params: { ...item, show: 'all' } })).text)
    const time = 1_795_260_678_579
    expect(Object.entries(all)).toEqual(
      Object.entries({
        id: expect.stringMatching(/^\d+[02468]$/),
        ...item,
        content: 'a: ü',
        md5: md5('a: ü'),
        tenant: '',
        appName: '',
        type: 'text',
        createTime: time,
        modifyTime: time,
        createUser: null,
        createIp: '10.9.9.9',
        desc: null,
        use: null,
        effect: null,
        schema: null,
        configTags: null,
        encryptedDataKey: '',
      }),
    )
    const catalog = JSON.parse((await at.nacos('GET', '/cs/configs/catalog', { params: item })).text)
    expect(Object.keys(catalog.data).sort()).toEqual([...Object.keys(all).slice(8, -1), 'type'].sort())
    const missing = { params: { ...item, dataId: 'other', show: 'all' } }
    expect((await at.nacos('GET', '/cs/configs', missing)).answer?.status).toBe(404)
  })

  test('with a search has a page of at most 500 items that match names, tags and types', async () => {
    for (const dataId of ['a.1', 'a.2', 'b.1']) await publish({ dataId, config_tags: `t,${dataId}` })
    const search = async (params: Record<string, string>) =>
      JSON.parse((await at.nacos('GET', '/cs/configs', { params: { search: 'blur', ...params } })).text)
    const page = await search({ dataId: 'a*', group: '', pageSize: '1000' })
    expect(page).toMatchObject({ totalCount: 2, pageNumber: 1, pagesAvailable: 1 })
    const fields = [
      'id',
      'dataId',
      'group',
      'content',
      'md5',
      'tenant',
      'appName',
      'type',
      'encryptedDataKey',
    ]
    expect(Object.keys(page.pageItems[0])).toEqual(fields)
    expect(await search({ config_tags: 't,b.1' })).toMatchObject({ pageItems: [{ dataId: 'b.1' }] })
    expect(await search({ types: 'json' })).toMatchObject({ totalCount: 0, pagesAvailable: 0, pageItems: [] })
    expect(await search({ pageNo: '9' })).toMatchObject({ totalCount: 3, pageNumber: 9, pageItems: [] })
  })

  test.each(['export', 'exportV2'])('%s gives a zip file, made while it is sent', async (name) => {
    const { answer } = await at.nacos('GET', '/cs/configs', { params: { [name]: 'true' } })
    expect(answer).toMatchObject({ status: 200, contentType: 'application/octet-stream' })
    expect(answer?.chunks).toBeDefined()
  })
})

describe('/nacos publishing', () => {
  test('keeps the fields that it does not name', async () => {
    const said = { appName: 'shop', desc: 'd', use: 'u', effect: 'e', schema: 's', config_tags: 't1,t2' }
    await publish(said)
    await publish({ content: 'b', appName: '', desc: '' })
    const all = JSON.parse((await at.nacos('GET', '/cs/configs', { params: { ...item, show: 'all' } })).text)
    const { config_tags: configTags, ...others } = said
    expect(all).toMatchObject({ ...others, configTags, content: 'b' })
  })

  test('depends on the md5 in its header or parameter', async () => {
    await publish()
    expect((await publish({ content: 'b' }, { casmd5: md5('other') })).text).toContain('Cas publish fail')
    expect((await publish({ content: 'b', casMd5: md5('other') })).text).toContain('Cas publish fail')
    expect((await publish({ content: 'b' }, { casmd5: md5('a: ü') })).text).toBe('true')
    expect((await publish({ content: 'c' }, { casmd5: '' })).text).toBe('true')
  })

  test.each([
    [{ import: 'true' }, {}],
    [{ clone: 'true' }, {}],
    [{}, { betaips: ' , ' }],
    [{ tag: 't t' }, {}],
  ])('%j with headers %j is refused and publishes nothing to everybody', async (params, headers) => {
    expect((await publish({ ...params }, { ...headers })).answer?.status).toBe(400)
    expect(at.state.configs.size).toBe(0)
  })
})

describe('/nacos deleting', () => {
  const remove = (params: Record<string, string>) => at.nacos('DELETE', '/cs/configs', { params })

  test('by ids removes those that exist', async () => {
    await publish()
    await publish({ dataId: 'b' })
    await publish({ dataId: 'c' })
    const asked = await remove({
      delType: 'ids',
      ids: `${await idOf()},999998,${await idOf({ ...item, dataId: 'c' })}`,
    })
    expect(asked.text).toBe('{"code":200,"message":null,"data":true}')
    expect([...at.state.configs.inNamespace('public')].map((each) => each.key.dataId)).toEqual(['b'])
  })

  test.each([{}, { ids: '' }, { ids: 'a' }, { ids: '1,' }, { ids: '1;2' }])(
    'by the ids %j is a 400',
    async (ids) => {
      const asked = await remove({ delType: 'ids', ...ids })
      expect(asked.answer?.status).toBe(400)
      expect(asked.text).toContain('ids')
    },
  )

  test('of a tag or of a beta does not change the item', async () => {
    await publish()
    expect((await remove({ ...item, tag: 't' })).text).toBe('true')
    expect((await remove({ ...item, beta: 'true' })).text).toBe(
      '{"code":200,"message":"stop beta ok","data":true}',
    )
    expect(at.state.configs.size).toBe(1)
  })
})
