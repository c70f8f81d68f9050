import { describe, expect, test } from 'vitest'
import { DIALECTS, md5, type Params, serverForThisFile, unique } from './client.ts'
import { expectProblem, refusals } from './problem.ts'

const waypost = serverForThisFile()
const configs = '/cs/configs'

describe.each(DIALECTS)('/%s:', (dialect) => {
  const expectRefused = refusals(dialect)
  describe('publishing and reading a configuration', () => {
    test('a publish answers true without quotes, and the value can be read at once', async () => {
      const item = { dataId: unique('app'), group: 'DEFAULT_GROUP' }
      const published = await waypost[dialect].post(configs, { ...item, content: 'a=1' })
      expect(published).toMatchObject({ status: 200, text: 'true' })
      expect(await waypost[dialect].get(configs, item)).toMatchObject({ status: 200, text: 'a=1' })
    })

    test('all parameters may be in the query string', async () => {
      const item = { dataId: unique('query'), group: 'G' }
      const published = await waypost[dialect].call('POST', configs, {
        query: { ...item, content: 'ü+' },
      })
      expect(published.text).toBe('true')
      expect((await waypost[dialect].get(configs, item)).text).toBe('ü+')
    })

    test('the query string overrides the form body', async () => {
      const item = { dataId: unique('both'), group: 'G' }
      const call = { query: { ...item, content: 'query' }, form: { content: 'form', group: 'other' } }
      expect((await waypost[dialect].call('POST', configs, call)).text).toBe('true')
      expect((await waypost[dialect].get(configs, item)).text).toBe('query')
      expect((await waypost[dialect].get(configs, { ...item, group: 'other' })).status).toBe(404)
    })

    test('an item is found at a path with a trailing slash', async () => {
      const item = { dataId: unique('slash'), group: 'G' }
      await waypost[dialect].post(configs, { ...item, content: 'a=1' })
      expect((await waypost[dialect].get(`${configs}/`, item)).text).toBe('a=1')
    })

    test('a second publish replaces the value', async () => {
      const item = { dataId: unique('twice'), group: 'G' }
      for (const content of ['one', 'two', 'three'])
        await waypost[dialect].post(configs, { ...item, content })
      expect((await waypost[dialect].get(configs, item)).text).toBe('three')
    })

    test('publishing the stored content again answers true', async () => {
      const item = { dataId: unique('same'), group: 'G', content: 'same' }
      expect((await waypost[dialect].post(configs, item)).text).toBe('true')
      expect((await waypost[dialect].post(configs, item)).text).toBe('true')
    })

    test('items of the same dataId in two groups are two items', async () => {
      const dataId = unique('grouped')
      await waypost[dialect].post(configs, { dataId, group: 'A', content: 'of a' })
      await waypost[dialect].post(configs, { dataId, group: 'B', content: 'of b' })
      expect((await waypost[dialect].get(configs, { dataId, group: 'A' })).text).toBe('of a')
      expect((await waypost[dialect].get(configs, { dataId, group: 'B' })).text).toBe('of b')
    })

    test('a hundred publishes at once all succeed and all are there', async () => {
      const prefix = unique('crowd')
      const names = Array.from({ length: 100 }, (_, n) => `${prefix}.${n}`)
      const publish = (dataId: string) =>
        waypost[dialect].post(configs, { dataId, group: 'G', content: dataId })
      const answers = await Promise.all(names.map(publish))
      expect(answers.map((answer) => answer.text)).toEqual(names.map(() => 'true'))
      const read = await Promise.all(
        names.map((dataId) => waypost[dialect].get(configs, { dataId, group: 'G' })),
      )
      expect(read.map((answer) => answer.text)).toEqual(names)
    })

    test('publishes of one new item at once all succeed and the item holds one of them', async () => {
      const item = { dataId: unique('race'), group: 'G' }
      const contents = Array.from({ length: 20 }, (_, n) => `value ${n}`)
      const answers = await Promise.all(
        contents.map((content) => waypost[dialect].post(configs, { ...item, content })),
      )
      expect(new Set(answers.map((answer) => `${answer.status} ${answer.text}`))).toEqual(
        new Set(['200 true']),
      )
      expect(contents).toContain((await waypost[dialect].get(configs, item)).text)
    })
  })

  describe('the answer with a content', () => {
    test('is byte for byte, with md5, type and time of change', async () => {
      const item = { dataId: unique('page'), group: 'G' }
      const content = ' \u00a0<script>alert("ü世+%")</script>\r\n'
      await waypost[dialect].post(configs, { ...item, content, type: 'html' })
      const { headers, bytes } = await waypost[dialect].get(configs, item)
      expect(bytes).toEqual(Buffer.from(content))
      expect(headers['content-md5']).toBe(md5(content))
      expect(headers['config-type']).toBe('html')
      expect(Math.abs(Date.parse(String(headers['last-modified'])) - Date.now())).toBeLessThan(5_000)
    })

    test.each(['properties', 'html', 'unset'])('has the type %s that was published', async (type) => {
      const item = { dataId: unique(type), group: 'G' }
      await waypost[dialect].post(configs, { ...item, content: 'x', type })
      expect((await waypost[dialect].get(configs, item)).headers['config-type']).toBe(type)
    })

    const typeOf = async (item: Params) => (await waypost[dialect].get(configs, item)).headers['config-type']

    test.each([
      ['text/x-yaml; charset=UTF-8', 'yaml'],
      ['html5', 'html'],
    ])('has the type that the spelling %s means', async (type, expected) => {
      const item = { dataId: unique('typed'), group: 'G' }
      expect((await waypost[dialect].post(configs, { ...item, content: 'x', type })).text).toBe('true')
      expect(await typeOf(item)).toBe(expected)
    })

    test('keeps its type where a publish names none, and where its type is unknown', async () => {
      const item = { dataId: unique('typed'), group: 'G' }
      await waypost[dialect].post(configs, { ...item, content: 'a', type: 'yaml' })
      await waypost[dialect].post(configs, { ...item, content: 'b' })
      await waypost[dialect].post(configs, { ...item, content: 'c', type: '' })
      expect(await typeOf(item)).toBe('yaml')
      const unknown = await waypost[dialect].post(configs, { ...item, content: 'd', type: 'pdf' })
      if (dialect === 'svc') expectProblem(unknown, 400, 'type must be one of properties, xml')
      else expect(unknown.text).toBe('true')
      const { text, headers } = await waypost[dialect].get(configs, item)
      expect([text, headers['config-type']]).toEqual([dialect === 'svc' ? 'c' : 'd', 'yaml'])
    })

    test.each([
      ['.json', 'json'],
      ['.YML', 'yaml'],
      ['', 'text'],
      ['.conf', 'text'],
    ])('new without a type and with the ending %j, is %s under /svc', async (ending, expected) => {
      const item = { dataId: unique('typed') + ending, group: 'G' }
      await waypost[dialect].post(configs, { ...item, content: 'x' })
      expect(await typeOf(item)).toBe(dialect === 'svc' ? expected : 'text')
      await waypost[dialect].post(configs, { ...item, content: 'y', type: 'xml' })
      await waypost[dialect].post(configs, { ...item, content: 'z' })
      expect(await typeOf(item)).toBe('xml')
    })

    test('has all 32 digits of an md5 that begins with zeros', async () => {
      let n = 0
      while (!md5(`zero ${n}`).startsWith('00')) n++
      const item = { dataId: unique('zeros'), group: 'G' }
      await waypost[dialect].post(configs, { ...item, content: `zero ${n}` })
      const digest = (await waypost[dialect].get(configs, item)).headers['content-md5']
      expect(digest).toMatch(/^00[0-9a-f]{30}$/)
      expect(digest).toBe(md5(`zero ${n}`))
    })
  })

  describe('deleting a configuration', () => {
    test('a delete answers true and the item is gone', async () => {
      const item = { dataId: unique('gone'), group: 'G' }
      await waypost[dialect].post(configs, { ...item, content: 'x' })
      expect(await waypost[dialect].delete(configs, item)).toMatchObject({ status: 200, text: 'true' })
      expectRefused(await waypost[dialect].get(configs, item), 404)
    })

    test('deleting an unknown item answers true', async () => {
      const answer = await waypost[dialect].delete(configs, { dataId: unique('never'), group: 'G' })
      expect(answer).toMatchObject({ status: 200, text: 'true' })
    })

    test('the parameters of a delete may be in a form body', async () => {
      const item = { dataId: unique('form'), group: 'G' }
      await waypost[dialect].post(configs, { ...item, content: 'x' })
      expect((await waypost[dialect].call('DELETE', configs, { form: item })).text).toBe('true')
      expect((await waypost[dialect].get(configs, item)).status).toBe(404)
    })

    test('an item that never existed is a 404', async () => {
      const answer = await waypost[dialect].get(configs, { dataId: unique('never'), group: 'G' })
      expectRefused(answer, 404)
      if (dialect === 'nacos') expect(answer.text).toBe('config data not exist\n')
    })
  })

  describe('tenants', () => {
    test('the same item in two tenants is two items', async () => {
      const item = { dataId: unique('shared'), group: 'G' }
      await waypost[dialect].post(configs, { ...item, tenant: 'blue', content: 'of blue' })
      await waypost[dialect].post(configs, { ...item, tenant: 'green', content: 'of green' })
      expect((await waypost[dialect].get(configs, { ...item, tenant: 'blue' })).text).toBe('of blue')
      expect((await waypost[dialect].get(configs, { ...item, tenant: 'green' })).text).toBe('of green')
      expect((await waypost[dialect].get(configs, item)).status).toBe(404)
      await waypost[dialect].delete(configs, { ...item, tenant: 'blue' })
      expect((await waypost[dialect].get(configs, { ...item, tenant: 'green' })).text).toBe('of green')
    })

    const spellings = [undefined, '', 'public']
    const pairs = spellings.flatMap((write) => spellings.map((read) => [write, read] as const))
    test.each(pairs)('what is written with tenant %j is read with tenant %j', async (write, read) => {
      const item = { dataId: unique('default'), group: 'G' }
      await waypost[dialect].post(configs, { ...item, tenant: write, content: 'one namespace' })
      expect((await waypost[dialect].get(configs, { ...item, tenant: read })).text).toBe('one namespace')
      expect((await waypost.nacos.get(configs, { ...item, tenant: read })).text).toBe('one namespace')
      await waypost[dialect].delete(configs, { ...item, tenant: read })
      expect((await waypost[dialect].get(configs, { ...item, tenant: write })).status).toBe(404)
    })
  })
})

describe('on /nacos', () => {
  const named = () => ({ dataId: unique('item'), group: 'G' })
  const publish = (item: Params, more: Params = {}, headers: Record<string, string> = {}) =>
    waypost.nacos.post(configs, { ...item, content: 'x', ...more }, headers)

  test('reading forbids caching, and has the key of an encrypted content', async () => {
    const item = named()
    await publish(item, { encryptedDataKey: 'k' })
    const { headers } = await waypost.nacos.get(configs, item)
    const times = { expires: 'Thu, 01 Jan 1970 00:00:00 GMT', 'cache-control': 'no-cache,no-store' }
    expect(headers).toMatchObject({ ...times, pragma: 'no-cache', 'encrypted-data-key': 'k' })
    await publish(item, { content: 'plain again' })
    expect((await waypost.nacos.get(configs, item)).headers).toMatchObject({ 'encrypted-data-key': '' })
  })

  test.each([
    [{ import: 'true' }, {}],
    [{ clone: 'true' }, {}],
    [{}, { betaips: ' , ' }],
    [{ tag: 't t' }, {}],
  ] as [Params, Record<string, string>][])(
    'publishing %j with headers %j is refused and publishes nothing to everybody',
    async (params, headers) => {
      const item = named()
      refusals('nacos')(await publish(item, params, headers), 400)
      expect((await waypost.nacos.get(configs, item)).status).toBe(404)
    },
  )

  test('a deletion by ids removes those that exist', async () => {
    const items = [named(), named(), named()]
    for (const item of items) await publish(item)
    const shown = items.map((item) => waypost.nacos.get(configs, { ...item, show: 'all' }))
    const [first, , last] = (await Promise.all(shown)).map((reply) => reply.json().id)
    const asked = await waypost.nacos.delete(configs, { delType: 'ids', ids: `${first},999998,${last}` })
    expect(asked.text).toBe(
      '{"code":200,"message":"not deleted, unknown or not permitted: 999998","data":true}',
    )
    const left = await Promise.all(items.map((item) => waypost.nacos.get(configs, item)))
    expect(left.map(({ status }) => status)).toEqual([404, 200, 404])
  })

  test.each([undefined, '', 'a', '1,', '1;2'])('a deletion by the ids %j is a 400', async (ids) => {
    refusals('nacos')(await waypost.nacos.delete(configs, { delType: 'ids', ids }), 400, 'ids')
  })

  test('a deletion of a tag or of a beta does not change the item', async () => {
    const item = named()
    await publish(item)
    expect((await waypost.nacos.delete(configs, { ...item, tag: 't' })).text).toBe('true')
    const stopped = await waypost.nacos.delete(configs, { ...item, beta: 'true' })
    expect(stopped.json()).toEqual({ code: 200, message: 'stop beta ok', data: true })
    expect((await waypost.nacos.get(configs, item)).text).toBe('x')
  })
})
