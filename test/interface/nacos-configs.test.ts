import { describe, expect, test } from 'vitest'
import { md5, serverForThisFile, sleep, unique, type Params } from './client.ts'

const waypost = serverForThisFile()
const configs = '/cs/configs'

async function published(extra: Params = {}): Promise<{ dataId: string; group: string }> {
  const item = { dataId: unique('app'), group: 'DEFAULT_GROUP' }
  const answer = await waypost.nacos.post(configs, { ...item, content: 'a=1', ...extra })
  expect(answer, answer.text).toMatchObject({ status: 200, text: 'true' })
  return { dataId: item.dataId, group: String(extra['group'] ?? item.group) }
}

describe('configurations', () => {
  test('are published, read and deleted, with answers that have no newline', async () => {
    const item = await published()
    const read = await waypost.nacos.get(configs, item)
    expect(read).toMatchObject({ status: 200, text: 'a=1' })
    expect(read.headers).toMatchObject({
      'content-type': 'text/plain;charset=UTF-8',
      'content-md5': md5('a=1'),
      'config-type': 'text',
      'x-content-type-options': 'nosniff',
    })
    expect(await waypost.nacos.delete(configs, item)).toMatchObject({ status: 200, text: 'true' })
    expect(await waypost.nacos.delete(configs, item)).toMatchObject({ status: 200, text: 'true' })
  })

  test('that do not exist are a 404 with the text that clients know', async () => {
    const answer = await waypost.nacos.get(configs, { dataId: unique('never'), group: 'G' })
    expect(answer.status).toBe(404)
    expect(answer.text.trim()).toBe('config data not exist')
  })

  test('are the same in both dialects', async () => {
    const item = await published({ content: 'shared' })
    expect((await waypost.svc.get(configs, item)).text).toBe('shared')
  })

  test('are published from the query string, as one client does', async () => {
    const item = { dataId: unique('query'), group: 'G' }
    const answer = await waypost.nacos.call('POST', configs, { query: { ...item, content: 'ü+' } })
    expect(answer.text).toBe('true')
    expect((await waypost.nacos.get(configs, item)).text).toBe('ü+')
  })

  test('are found at a path with a trailing slash', async () => {
    const item = await published()
    expect((await waypost.nacos.get(`${configs}/`, item)).text).toBe('a=1')
  })

  const wrong: [string, Params][] = [
    ['dataId', { dataId: undefined }],
    ['group', { group: undefined }],
    ['content', { content: undefined }],
    ['content', { content: '  ' }],
    ['dataId', { dataId: 'a b' }],
    ['tenant', { tenant: 'a b' }],
  ]
  test.each(wrong)('a bad %s is a 400 in text that names it', async (name, extra) => {
    const form = { dataId: unique('bad'), group: 'G', content: 'x', ...extra }
    const answer = await waypost.nacos.post(configs, form)
    expect(answer.status).toBe(400)
    expect(answer.headers['content-type'] ?? '').not.toMatch(/problem/)
    expect(answer.text).toContain(name)
  })
})

describe('casMd5', () => {
  const publish = (item: Params, content: string, casMd5: string) =>
    waypost.nacos.post(configs, { ...item, content }, { casMd5 })

  test('publishes if the md5 is the current one', async () => {
    const item = await published({ content: 'one' })
    expect((await publish(item, 'two', md5('one'))).text).toBe('true')
    expect((await waypost.nacos.get(configs, item)).text).toBe('two')
  })

  test('refuses with a 4xx and changes nothing if the md5 is another one', async () => {
    const item = await published({ content: 'one' })
    const answer = await publish(item, 'two', md5('other'))
    expect(answer.status).toBeGreaterThanOrEqual(400)
    expect(answer.status).toBeLessThan(500)
    expect(answer.text).toContain('Cas publish fail, server md5 may have changed.')
    expect((await waypost.nacos.get(configs, item)).text).toBe('one')
  })

  test('of twenty concurrent publishes exactly one succeeds', async () => {
    const item = await published({ content: 'zero' })
    const all = Array.from({ length: 20 }, (_, n) => publish(item, `writer ${n}`, md5('zero')))
    const answers = await Promise.all(all)
    expect(answers.filter((answer) => answer.text === 'true')).toHaveLength(1)
  })

  test('of an unknown item is refused', async () => {
    const item = { dataId: unique('never'), group: 'G' }
    expect((await publish(item, 'x', md5('something'))).status).toBeGreaterThanOrEqual(400)
    expect((await waypost.nacos.get(configs, item)).status).toBe(404)
  })

  test('0 creates an item, and changes none', async () => {
    const item = { dataId: unique('first'), group: 'mapping' }
    expect((await publish(item, 'one', '0')).text).toBe('true')
    expect((await publish(item, 'two', '0')).status).toBe(409)
    expect((await waypost.nacos.get(configs, item)).text).toBe('one')
  })
})

describe('show=all', () => {
  test('has all fields of an item', async () => {
    const given = { appName: 'shop', desc: 'about', use: 'u', effect: 'e', schema: 's', type: 'yaml' }
    const item = await published({ ...given, config_tags: 't1,t2', src_user: 'ann', tenant: 'blue' })
    const answer = (await waypost.nacos.get(configs, { show: 'all', ...item, tenant: 'blue' })).json()
    expect(answer).toMatchObject({
      id: expect.stringMatching(/^\d+$/),
      ...item,
      ...given,
      content: 'a=1',
      md5: md5('a=1'),
      tenant: 'blue',
      configTags: 't1,t2',
      createIp: '127.0.0.1',
    })
    expect(Math.abs(answer.createTime - Date.now())).toBeLessThan(10_000)
    expect(answer.modifyTime).toBeGreaterThanOrEqual(answer.createTime)
  })

  test('an update keeps id and createTime, and appName and tags if it does not name them', async () => {
    const item = await published({ appName: 'shop', config_tags: 't1' })
    const look = async () => (await waypost.nacos.get(configs, { show: 'all', ...item })).json()
    const before = await look()
    await sleep(20)
    await waypost.nacos.post(configs, { ...item, content: 'a=2' })
    const after = await look()
    const { id, createTime } = before
    expect(after).toMatchObject({ id, createTime, appName: 'shop', configTags: 't1', content: 'a=2' })
    expect(after.modifyTime).toBeGreaterThan(before.modifyTime)
  })

  test('src_user is the user of the history record', async () => {
    const item = await published({ src_user: 'ann' })
    const history = (await waypost.nacos.get('/cs/history', { search: 'accurate', ...item })).json()
    expect(history.pageItems).toMatchObject([{ srcUser: 'ann', srcIp: '127.0.0.1' }])
  })

  test('the catalog has the same fields without the content', async () => {
    const item = await published({ config_tags: 't1', type: 'yaml' })
    const answer = (await waypost.nacos.get(`${configs}/catalog`, item)).json()
    expect(answer).toMatchObject({
      code: 200,
      message: null,
      data: { configTags: 't1', createTime: expect.any(Number), type: 'yaml' },
    })
  })
})
