/** The notes of a configuration, conditions on its md5, and searches: for tools and the console. */
import { describe, expect, test } from 'vitest'
import { DIALECTS, md5, serverForThisFile, sleep, unique, type Json, type Params } from './client.ts'
import { refusals } from './problem.ts'

const waypost = serverForThisFile()
const configs = '/cs/configs'
const SAID = { appName: 'shop', desc: 'about', use: 'u', effect: 'e', schema: 's', type: 'yaml' }
/** The fields of an item in the order in which /nacos writes them. */
const FIELDS = ['id', 'dataId', 'group', 'content', 'md5', 'tenant', 'appName', 'type', 'createTime']
FIELDS.push('modifyTime', 'createUser', 'createIp', 'desc', 'use', 'effect', 'schema', 'configTags')
FIELDS.push('encryptedDataKey')

describe.each(DIALECTS)('/%s:', (dialect) => {
  const expectRefused = refusals(dialect)
  /** An item of its own namespace. */
  const named = (): Params => ({ dataId: 'a', group: 'G', tenant: unique('ns') })
  const send = (item: Params, more: Params = {}, headers: Record<string, string> = {}) =>
    waypost[dialect].post(configs, { ...item, content: 'one', ...more }, headers)
  const read = async (item: Params) => (await waypost[dialect].get(configs, item)).text
  const show = async (item: Params): Promise<Json> =>
    (await waypost[dialect].get(configs, { ...item, show: 'all' })).json()

  async function published(more: Params = {}): Promise<Params> {
    const item = named()
    const answer = await send(item, more)
    expect(answer, answer.text).toMatchObject({ status: 200, text: 'true' })
    return item
  }

  describe('casMd5', () => {
    const inHeader = (item: Params, content: string, casMd5: string) => send(item, { content }, { casMd5 })
    const inForm = (item: Params, content: string, casMd5: string) => send(item, { content, casMd5 })
    const why = dialect === 'svc' ? 'config-changed' : 'Cas publish fail, server md5 may have changed.'

    test.each([
      ['header', inHeader],
      ['form', inForm],
    ])('in the %s publishes only over the version that it names', async (_where, publish) => {
      const item = await published()
      const refused = await publish(item, 'two', md5('other'))
      expectRefused(refused, 409)
      expect(refused.text).toContain(why)
      expect(await read(item)).toBe('one')
      expect((await publish(item, 'two', md5('one'))).text).toBe('true')
      expect(await read(item)).toBe('two')
    })

    test('in the header goes before the parameter', async () => {
      const item = await published()
      const form = { content: 'two', casMd5: md5('one') }
      expectRefused(await send(item, form, { casMd5: md5('other') }), 409)
      expect((await send(item, form, { casMd5: md5('one') })).text).toBe('true')
    })

    test('of twenty concurrent publishes exactly one succeeds', async () => {
      const item = await published()
      const all = Array.from({ length: 20 }, (_, n) => inHeader(item, `writer ${n}`, md5('one')))
      expect((await Promise.all(all)).filter(({ text }) => text === 'true')).toHaveLength(1)
    })

    test('of an unknown item is refused', async () => {
      const item = named()
      expectRefused(await inHeader(item, 'x', md5('something')), 409)
      expectRefused(await waypost[dialect].get(configs, item), 404)
    })
  })

  test('show=all has all fields of an item', async () => {
    const item = await published({ ...SAID, config_tags: 't1,t2', src_user: 'ann' })
    const all = await show(item)
    const known = { content: 'one', md5: md5('one'), configTags: 't1,t2', createIp: '127.0.0.1' }
    expect(all).toMatchObject({ id: expect.stringMatching(/^\d+[02468]$/), ...item, ...SAID, ...known })
    expect(all.createUser).toBe('ann')
    expect(Math.abs(all.createTime - Date.now())).toBeLessThan(10_000)
    expect(all.modifyTime).toBeGreaterThanOrEqual(all.createTime)
    if (dialect === 'nacos') expect(Object.keys(all)).toEqual(FIELDS)
    expectRefused(await waypost[dialect].get(configs, { ...item, dataId: 'b', show: 'all' }), 404)
  })

  test('show=all has null for what has no value', async () => {
    const all = await show(await published())
    const none = { desc: null, use: null, effect: null, schema: null, configTags: null, createUser: null }
    expect(all).toMatchObject({ appName: '', type: 'text', ...none })
    if (dialect === 'nacos') expect(all.encryptedDataKey).toBe('')
    const ofPublic = { dataId: unique('a'), group: 'G', tenant: 'public' }
    await send(ofPublic)
    expect(await show(ofPublic)).toMatchObject({ tenant: '' })
  })

  test('the catalog has the same fields without the content', async () => {
    const item = await published({ ...SAID, config_tags: 't1' })
    const answer = (await waypost[dialect].get(`${configs}/catalog`, item)).json()
    const { data, ...envelope } = dialect === 'svc' ? { data: answer } : answer
    expect(envelope).toEqual(dialect === 'svc' ? {} : { code: 200, message: null })
    const notes = { desc: 'about', configTags: 't1', createTime: expect.any(Number), type: 'yaml' }
    expect(data).toMatchObject(notes)
    expect(data).not.toHaveProperty('content')
    const fields = [...FIELDS.slice(8, -1), 'type'].sort()
    if (dialect === 'nacos') expect(Object.keys(data).sort()).toEqual(fields)
  })

  test('an update keeps id, time of creation and the fields that it does not name', async () => {
    const item = await published({ ...SAID, config_tags: 't1' })
    const { id, createTime, modifyTime } = await show(item)
    await sleep(20)
    await send(item, { content: 'two' })
    const after = await show(item)
    expect(after).toMatchObject({ ...SAID, id, createTime, configTags: 't1', content: 'two' })
    expect(after.modifyTime).toBeGreaterThan(modifyTime)
  })

  test('an empty description or tag clears it on /svc, and keeps it on /nacos', async () => {
    const item = await published({ desc: 'd', config_tags: 't', appName: 'shop' })
    await send(item, { content: 'two', desc: '', config_tags: '' })
    const notes = dialect === 'svc' ? { desc: null, configTags: null } : { desc: 'd', configTags: 't' }
    expect(await show(item)).toMatchObject({ ...notes, appName: 'shop' })
  })

  test('src_user is the user of the history record', async () => {
    const item = await published({ src_user: 'ann' })
    const history = (await waypost[dialect].get('/cs/history', { search: 'accurate', ...item })).json()
    expect(history.pageItems).toMatchObject([{ srcUser: 'ann', srcIp: '127.0.0.1' }])
  })

  describe('search', () => {
    /** A namespace with web.a and web.b of group G, and other.c of group H. */
    async function threeItems(): Promise<string> {
      const tenant = unique('ns')
      const more = { tenant, type: 'json', appName: 'shop' }
      await send({ ...more, dataId: 'web.a', group: 'G', config_tags: 't,u' }, { content: 'web.a' })
      await send({ ...more, dataId: 'web.b', group: 'G' })
      await send({ ...more, dataId: 'other.c', group: 'H' })
      return tenant
    }

    async function search(query: Params): Promise<Json> {
      const full = { search: 'accurate', dataId: '', group: '', pageNo: 1, pageSize: 10, ...query }
      const answer = await waypost[dialect].get(configs, full)
      expect(answer.status, answer.text).toBe(200)
      return answer.json()
    }

    const blur = 'blur'
    const rows: [Params, string[]][] = [
      [{}, ['other.c', 'web.a', 'web.b']],
      [{ dataId: 'web.a' }, ['web.a']],
      [{ group: 'H' }, ['other.c']],
      [{ dataId: 'web' }, []],
      [{ appName: 'shop' }, ['other.c', 'web.a', 'web.b']],
      [{ appName: 'other' }, []],
      [{ search: blur, dataId: 'web*' }, ['web.a', 'web.b']],
      [{ search: blur, dataId: '*c' }, ['other.c']],
      [{ search: blur, dataId: '*e*', group: 'G*' }, ['web.a', 'web.b']],
      [{ search: blur, dataId: 'web' }, []],
      [{ search: blur, dataId: 'web_a' }, []],
      [{ search: blur, config_tags: 't,u' }, ['web.a']],
      [{ search: blur, types: 'json' }, ['other.c', 'web.a', 'web.b']],
      [{ search: blur, types: 'xml' }, []],
    ]
    test('finds items by exact names, by patterns with a star, and by their notes', async () => {
      const tenant = await threeItems()
      for (const [query, names] of rows) {
        const { pageItems } = await search({ tenant, ...query })
        const found = pageItems.map((item: Json) => item.dataId).sort()
        expect(found, JSON.stringify(query)).toEqual(names)
      }
    })

    test('has pages of the requested size, and none past the end', async () => {
      const tenant = await threeItems()
      const pages = await Promise.all([1, 2, 9].map((pageNo) => search({ tenant, pageSize: 2, pageNo })))
      for (const page of pages) expect(page).toMatchObject({ totalCount: 3, pagesAvailable: 2 })
      expect(pages.map((page) => page.pageItems.length)).toEqual([2, 1, 0])
      const names = pages.flatMap((page) => page.pageItems.map((item: Json) => item.dataId))
      expect(names.sort()).toEqual(['other.c', 'web.a', 'web.b'])
    })

    test('has all fields of an item; only /svc has its md5', async () => {
      const tenant = await threeItems()
      const page = await search({ tenant, dataId: 'web.a' })
      expect(page).toMatchObject({ totalCount: 1, pageNumber: 1, pagesAvailable: 1 })
      const item = { dataId: 'web.a', group: 'G', content: 'web.a', tenant, appName: 'shop', type: 'json' }
      const more = dialect === 'svc' ? { md5: md5('web.a'), desc: null } : { md5: null }
      expect(page.pageItems).toMatchObject([{ id: expect.stringMatching(/^\d+$/), ...item, ...more }])
      const fields = [...FIELDS.slice(0, 8), 'encryptedDataKey']
      if (dialect === 'nacos') expect(Object.keys(page.pageItems[0])).toEqual(fields)
    })
  })

  test('another word for a search is refused', async () => {
    expectRefused(await waypost[dialect].get(configs, { search: 'other' }), 400)
  })
})

describe('casMd5 on /svc', () => {
  const item = () => ({ dataId: unique('a'), group: 'G' })

  test('that is empty publishes only what is new', async () => {
    const form = { ...item(), casMd5: '' }
    expect((await waypost.svc.post(configs, { ...form, content: 'one' })).text).toBe('true')
    refusals('svc')(await waypost.svc.post(configs, { ...form, content: 'two' }), 409)
  })

  test('deletes only the version that it names', async () => {
    const named = item()
    await waypost.svc.post(configs, { ...named, content: 'one' })
    const remove = (casMd5: string) => waypost.svc.delete(configs, { ...named, casMd5 })
    for (const casMd5 of [md5('other'), '']) refusals('svc')(await remove(casMd5), 409)
    expect((await remove(md5('one'))).text).toBe('true')
    refusals('svc')(await remove(md5('one')), 409)
    expect((await remove('')).text).toBe('true')
  })
})

test('casMd5 on /nacos: 0 publishes only what is new, and an empty header says nothing', async () => {
  const item = { dataId: unique('first'), group: 'mapping' }
  const publish = (content: string, casMd5: string) =>
    waypost.nacos.post(configs, { ...item, content }, { casMd5 })
  expect((await publish('one', '0')).text).toBe('true')
  refusals('nacos')(await publish('two', '0'), 409)
  expect((await waypost.nacos.get(configs, item)).text).toBe('one')
  expect((await publish('two', '')).text).toBe('true')
})

test('who watches an item, and what an address watches', async () => {
  const item = { tenant: unique('ns'), dataId: 'a', group: 'G' }
  await waypost.svc.post(configs, { ...item, content: 'one' })
  const held = md5('one')
  const poll = waypost.svc.post(
    `${configs}/listener`,
    { 'Listening-Configs': `a\u0002G\u0002${held}\u0002${item.tenant}\u0001` },
    { 'Long-Pulling-Timeout': '10000' },
  )
  for (const dialect of DIALECTS) {
    const watchers = async () => (await waypost[dialect].get(`${configs}/listener`, item)).json()
    const status = { collectStatus: 200, lisentersGroupkeyStatus: { '127.0.0.1': held } }
    await expect.poll(watchers).toEqual(status)
    const watched = await waypost[dialect].get('/cs/listener', { ip: '127.0.0.1', tenant: item.tenant })
    expect(watched.json().lisentersGroupkeyStatus).toEqual({ [`a+G+${item.tenant}`]: held })
  }
  await waypost.svc.post(configs, { ...item, content: 'two' })
  await poll
})
