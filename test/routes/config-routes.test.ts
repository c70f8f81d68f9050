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

  test('of the largest size is accepted, and one byte more is refused', async () => {
    const send = (content: string) => at[dialect]('POST', '/cs/configs', { params: { ...item, content } })
    expect((await send('世'.repeat(333))).answer?.status).toBe(200)
    expect((await send('世'.repeat(334))).answer?.status).toBe(400)
    expect((await send(' \r\n\t')).answer?.status).toBe(400)
  })

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

  test.each(['export', 'exportV2'])('%s gives a zip file, made while it is sent', async (name) => {
    const { answer } = await at.nacos('GET', '/cs/configs', { params: { [name]: 'true' } })
    expect(answer).toMatchObject({ status: 200, contentType: 'application/octet-stream' })
    expect(answer?.chunks).toBeDefined()
  })
})

describe('/nacos publishing', () => {
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
