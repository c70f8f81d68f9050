/** The requests of the console about configurations: the list, versions, the bin. */
import { describe, expect, test } from 'vitest'
import { md5, serverForThisFile, unique, type Json, type Params, type Reply } from './client.ts'

const waypost = serverForThisFile()

/** Publishes a content, or one with more parameters. */
function publish(tenant: string, dataId: string, sent: string | Params): Promise<Reply> {
  const form = typeof sent === 'string' ? { content: sent } : sent
  return waypost.svc.post('/cs/configs', { tenant, dataId, group: 'G', ...form })
}

const remove = (tenant: string, dataId: string, more: Params = {}): Promise<Reply> =>
  waypost.svc.delete('/cs/configs', { tenant, dataId, group: 'G', ...more })

async function read(tenant: string, dataId: string): Promise<string | number> {
  const reply = await waypost.svc.get('/cs/configs', { tenant, dataId, group: 'G' })
  return reply.status === 200 ? reply.text : reply.status
}

const show = async (tenant: string, dataId: string): Promise<Json> =>
  (await waypost.svc.get('/cs/configs', { tenant, dataId, group: 'G', show: 'all' })).json()

describe('the list', () => {
  const list = async (query: Params): Promise<Json> => {
    const reply = await waypost.svc.get('/console/configs', query)
    expect(reply.status, reply.text).toBe(200)
    return reply.json()
  }
  const names = (page: Json): string[] => page.pageItems.map((item: Json) => item.dataId)

  test('shows the last changed first, with who changed it and who watches it', async () => {
    const namespaceId = unique('ns')
    await publish(namespaceId, 'a', { content: 'one', src_user: 'ann', desc: 'first', config_tags: 't' })
    await publish(namespaceId, 'b', 'two')
    await publish(namespaceId, 'a', { content: 'three', src_user: 'bob' })
    const page = await list({ namespaceId })
    expect(page).toMatchObject({ totalCount: 2, pagesAvailable: 1, truncated: false })
    expect(names(page)).toEqual(['a', 'b'])
    expect(page.pageItems[0]).toMatchObject({
      namespaceId,
      group: 'G',
      desc: 'first',
      configTags: 't',
      size: 5,
      md5: md5('three'),
      modifyUser: 'bob',
      watcherCount: 0,
      hits: [],
    })
    expect(page.pageItems[0]).not.toHaveProperty('content')
  })

  test('names the items that have gray versions only, where their names match', async () => {
    const namespaceId = unique('ns')
    await publish(namespaceId, 'formal', 'one')
    const gray = { tenant: namespaceId, group: 'G', content: 'x', grayType: 'tag' }
    for (const [dataId, grayMatchRuleExp] of [
      ['new', 'blue'],
      ['new', 'green'],
      ['formal', 'blue'],
    ] as const)
      await waypost.svc.post('/cs/configs/gray', { ...gray, dataId, grayMatchRuleExp })
    const found = [{ namespaceId, group: 'G', dataId: 'new', grayNames: ['tag_blue', 'tag_green'] }]
    const all = await list({ namespaceId })
    expect([names(all), all.totalCount]).toEqual([['formal'], 1])
    expect(all.grayOnly).toEqual(found.map((one) => expect.objectContaining(one) as unknown))
    expect((await list({ namespaceId, text: 'NE', group: 'G' })).grayOnly).toHaveLength(1)
    expect((await list({ namespaceId, pageSize: 1 })).grayOnlyCount).toBe(1)
    for (const other of [{ text: 'old' }, { group: 'H' }, { types: 'yaml' }, { content: 'x' }, { pageNo: 2 }])
      expect((await list({ namespaceId, ...other })).grayOnly, JSON.stringify(other)).toEqual([])
  })

  test('is sorted by what is asked for, page by page', async () => {
    const namespaceId = unique('ns')
    for (const dataId of ['b', 'c', 'a']) await publish(namespaceId, dataId, dataId.repeat(3))
    expect(names(await list({ namespaceId, sort: 'dataId' }))).toEqual(['a', 'b', 'c'])
    expect(names(await list({ namespaceId, sort: 'dataId', order: 'desc' }))).toEqual(['c', 'b', 'a'])
    expect(names(await list({ namespaceId, sort: 'dataId', pageSize: 2, pageNo: 2 }))).toEqual(['c'])
    expect(await list({ namespaceId, pageNo: 9 })).toMatchObject({ totalCount: 3, pageItems: [] })
  })

  test('of all namespaces finds names, groups, descriptions and tags in any case', async () => {
    const [one, two, word] = [unique('ns'), unique('ns'), unique('Word')]
    await publish(one, `${word}.yaml`, 'x')
    await publish(two, 'other', { content: 'x', desc: `about ${word}` })
    await publish(two, 'tagged', { content: 'x', config_tags: `a,${word}` })
    const found = await list({ namespaceId: '*', text: word.toLowerCase(), sort: 'dataId' })
    expect(names(found)).toEqual([`${word}.yaml`, 'other', 'tagged'])
    expect(names(await list({ namespaceId: two, text: word, config_tags: word }))).toEqual(['tagged'])
    expect(names(await list({ namespaceId: two, text: word, types: 'yaml' }))).toEqual([])
    expect(names(await list({ namespaceId: two, text: word, group: 'H' }))).toEqual([])
  })

  test('finds lines of contents, and keys by their path', async () => {
    const namespaceId = unique('ns')
    await publish(namespaceId, 'a.yaml', 'server:\n  # port\n  port: 80\nclient:\n  port: 81\n')
    await publish(namespaceId, 'b.properties', 'server.port=82\nname=Server')
    await publish(namespaceId, 'c.json', '{\n  "server": {\n    "port": 83\n  }\n}')
    const hits = async (query: Params) =>
      (await list({ namespaceId, sort: 'dataId', ...query })).pageItems.map((item: Json) => [
        item.dataId,
        ...item.hits.map((hit: Json) => hit.line),
      ])
    expect(await hits({ content: 'SERVER' })).toEqual([
      ['a.yaml', 1],
      ['b.properties', 1, 2],
      ['c.json', 2],
    ])
    expect(await hits({ key: 'server.port' })).toEqual([
      ['a.yaml', 3],
      ['b.properties', 1],
      ['c.json', 3],
    ])
    expect(await hits({ key: 'port', content: '81' })).toEqual([['a.yaml', 5]])
    expect(await hits({ content: 'nowhere' })).toEqual([])
  })
})

describe('versions', () => {
  const versions = async (tenant: string, dataId: string, query: Params = {}): Promise<Json> =>
    (await waypost.svc.get('/console/config/versions', { tenant, dataId, group: 'G', ...query })).json()
  const restore = (tenant: string, dataId: string, query: Params): Promise<Reply> =>
    waypost.svc.post('/console/config/restore', { tenant, dataId, group: 'G', ...query })

  test('have the changes of gray versions among them, and say what was promoted', async () => {
    const tenant = unique('ns')
    const item = { tenant, dataId: 'a', group: 'G' }
    const rule = { grayType: 'beta', grayMatchRuleExp: '10.0.0.7' }
    await publish(tenant, 'a', 'one')
    await waypost.svc.post('/cs/configs/gray', { ...item, ...rule, content: 'canary', comment: 'try it' })
    await waypost.svc.post('/cs/configs/gray', { ...item, ...rule, content: 'canary 2' })
    await waypost.svc.post('/cs/configs/gray/promote', { ...item, grayName: 'beta' })
    const gray = { grayName: 'beta', ...rule, current: false }
    const formal = [
      { op: 'U', md5: md5('canary 2'), current: true, promotedFrom: 'beta' },
      { op: 'I', md5: md5('one'), current: false },
    ]
    const all = await versions(tenant, 'a', { withGray: true })
    expect(all.totalCount).toBe(5)
    expect(all.pageItems).toMatchObject([
      { op: 'D', md5: null, ...gray },
      formal[0],
      { op: 'U', md5: md5('canary 2'), size: 8, ...gray },
      { op: 'I', md5: md5('canary'), comment: 'try it', ...gray },
      formal[1],
    ])
    expect(all.pageItems[4]).not.toHaveProperty('grayName')
    expect((await versions(tenant, 'a')).pageItems).toMatchObject(formal)
    const second = await versions(tenant, 'a', { withGray: true, pageNo: 2, pageSize: 1 })
    expect(second.pageItems).toMatchObject([formal[0]])
    // The text of this change is on the page before, and is not searched for.
    const third = await versions(tenant, 'a', { withGray: true, pageNo: 3, pageSize: 1 })
    expect(third.pageItems).toMatchObject([{ op: 'U', md5: null, ...gray }])
  })

  test('are the texts AFTER each change, with who made it and why', async () => {
    const tenant = unique('ns')
    await publish(tenant, 'a', { content: 'one', src_user: 'ann', comment: 'it begins', type: 'yaml' })
    await publish(tenant, 'a', { content: 'second', src_user: 'bob', type: 'json' })
    await remove(tenant, 'a', { comment: 'not needed' })
    await publish(tenant, 'a', 'three')
    const page = await versions(tenant, 'a')
    expect(page.totalCount).toBe(4)
    expect(page.pageItems).toMatchObject([
      { op: 'I', md5: md5('three'), current: true, comment: '' },
      { op: 'D', md5: null, size: null, type: null, current: false, comment: 'not needed' },
      { op: 'U', md5: md5('second'), size: 6, type: 'json', user: 'bob', comment: '' },
      { op: 'I', md5: md5('one'), size: 3, type: 'yaml', user: 'ann', comment: 'it begins' },
    ])
    for (const pageNo of [1, 2, 3, 4])
      expect((await versions(tenant, 'a', { pageNo, pageSize: 1 })).pageItems).toEqual([
        page.pageItems[pageNo - 1],
      ])
    const contents = await Promise.all(
      page.pageItems.map(async ({ historyId }: Json) => {
        const query = { tenant, dataId: 'a', group: 'G', historyId }
        return (await waypost.svc.get('/console/config/version', query)).json().content
      }),
    )
    expect(contents).toEqual(['three', 'second', 'second', 'one'])
  })

  test('are consistent while the item changes', async () => {
    const tenant = unique('ns')
    await publish(tenant, 'a', '0')
    const publishing = (async () => {
      for (let n = 1; n <= 100; n++) await publish(tenant, 'a', String(n))
    })()
    for (let n = 0; n < 20; n++) {
      const { pageItems, totalCount } = await versions(tenant, 'a', { pageSize: 5, pageNo: 1 + (n % 2) })
      for (const [at, { md5: digest }] of pageItems.entries()) {
        const skipped = n % 2 === 0 ? 0 : 5
        const content = totalCount - 1 - skipped - at
        expect([content - 1, content, content + 1].map((one) => md5(String(one)))).toContain(digest)
      }
    }
    await publishing
  })

  test('restoring publishes the chosen text, and never deletes', async () => {
    const tenant = unique('ns')
    await publish(tenant, 'a', { content: 'one', type: 'yaml' })
    await publish(tenant, 'a', { content: 'two', type: 'json', desc: 'stays' })
    const [, first] = (await versions(tenant, 'a')).pageItems
    const casMd5 = md5('two')
    const restored = await restore(tenant, 'a', { historyId: first.historyId, casMd5, comment: 'back' })
    expect(restored.status, restored.text).toBe(200)
    const [current] = (await versions(tenant, 'a')).pageItems
    expect(restored.json()).toEqual({ md5: md5('one'), historyId: current.historyId })
    expect(current).toMatchObject({ op: 'U', md5: md5('one'), comment: 'back', current: true })
    expect(await show(tenant, 'a')).toMatchObject({ content: 'one', type: 'yaml', desc: 'stays' })
  })

  test('restoring needs the md5 of what is there', async () => {
    const tenant = unique('ns')
    await publish(tenant, 'a', 'one')
    await publish(tenant, 'a', 'two')
    const [, { historyId }] = (await versions(tenant, 'a')).pageItems
    expect((await restore(tenant, 'a', { historyId, casMd5: md5('one') })).status).toBe(409)
    expect((await restore(tenant, 'a', { historyId, casMd5: '' })).status).toBe(409)
    expect((await restore(tenant, 'a', { historyId })).status).toBe(400)
    expect((await restore(tenant, 'b', { historyId, casMd5: '' })).status).toBe(403)
    expect(await read(tenant, 'a')).toBe('two')
  })
})

describe('two namespaces', () => {
  const compare = async (query: Params): Promise<Json> =>
    (await waypost.svc.get('/console/compare', query)).json()
  const newNamespace = async (): Promise<string> => {
    const id = unique('ns')
    await waypost.svc.post('/console/namespaces', { customNamespaceId: id, namespaceName: id })
    return id
  }
  const promote = async (selection: unknown, query: Params): Promise<Json> => {
    const body = JSON.stringify(selection)
    const headers = { 'content-type': 'application/json' }
    const reply = await waypost.svc.call('POST', '/cs/configs', {
      query: { clone: true, policy: 'SKIP', ...query },
      body,
      headers,
    })
    expect(reply.status, reply.text).toBe(200)
    return reply.json()
  }

  test('are compared by what is in them', async () => {
    const [from, to] = [unique('ns'), unique('ns')]
    for (const dataId of ['same', 'other', 'only']) await publish(from, dataId, dataId)
    await publish(to, 'same', 'same')
    await publish(to, 'other', 'changed')
    await publish(to, 'more', 'more')
    const compared = await compare({ from, to })
    expect(compared).toMatchObject({
      equal: 1,
      onlyInFrom: [{ dataId: 'only', group: 'G', md5: md5('only') }],
      onlyInTo: [{ dataId: 'more', group: 'G', md5: md5('more') }],
      different: [{ dataId: 'other', fromMd5: md5('other'), toMd5: md5('changed') }],
      truncated: false,
    })
    expect(await compare({ from, to, dataId: 'o*' })).toMatchObject({ equal: 0, onlyInTo: [] })
    expect((await waypost.svc.get('/console/compare', { from })).status).toBe(400)
  })

  test('are made equal, but for what has changed since they were compared', async () => {
    const [from, to] = [await newNamespace(), await newNamespace()]
    for (const dataId of ['a', 'b', 'c']) await publish(from, dataId, `new ${dataId}`)
    for (const dataId of ['a', 'b']) await publish(to, dataId, `old ${dataId}`)
    const { different, onlyInFrom } = await compare({ from, to })
    const selection = [
      ...different.map(({ id, toMd5 }: Json) => ({ cfgId: id, casMd5: toMd5 })),
      ...onlyInFrom.map(({ id }: Json) => ({ cfgId: id, casMd5: '' })),
    ]
    const dry = await promote(selection, { tenant: to, dryRun: true })
    expect(dry).toMatchObject({ dryRun: true, succCount: 3, skipCount: 0 })
    await publish(to, 'b', 'changed meanwhile')
    expect(await promote(selection, { tenant: to, dryRun: true })).toMatchObject({ succCount: 2 })
    const done = await promote(selection, { tenant: to, comment: 'release 7' })
    expect(done).toMatchObject({ succCount: 2, skipData: [{ dataId: 'b', group: 'G' }] })
    expect([await read(to, 'a'), await read(to, 'b'), await read(to, 'c')]).toEqual([
      'new a',
      'changed meanwhile',
      'new c',
    ])
    const query = { tenant: to, dataId: 'a', group: 'G' }
    const versions = (await waypost.svc.get('/console/config/versions', query)).json()
    expect(versions.pageItems[0]).toMatchObject({ comment: 'release 7', md5: md5('new a') })
  })
})

describe('who has an item', () => {
  const watchers = async (tenant: string): Promise<Json> =>
    (await waypost.svc.get('/console/config/watchers', { tenant, dataId: 'a', group: 'G' })).json()

  /** Polls once, as a client that has this content. */
  const poll = (tenant: string, content: string, agent: string) =>
    waypost.nacos.post(
      '/cs/configs/listener',
      { 'Listening-Configs': `a\u0002G\u0002${md5(content)}\u0002${tenant}\u0001` },
      { 'Long-Pulling-Timeout': '20000', 'User-Agent': agent },
    )

  test('is known while clients wait, and when they are away with a change', async () => {
    const tenant = unique('ns')
    await publish(tenant, 'a', 'one')
    const held = [poll(tenant, 'one', 'Nacos-Java-Client:v1.4.8'), poll(tenant, 'one', 'other')]
    await expect.poll(async () => (await watchers(tenant)).count).toBe(2)
    expect(await watchers(tenant)).toMatchObject({
      md5: md5('one'),
      upToDate: 2,
      shares: { formal: 2, behind: 0 },
      missingServers: [],
    })
    await publish(tenant, 'a', 'two')
    await Promise.all(held)
    expect(await watchers(tenant)).toMatchObject({
      md5: md5('two'),
      upToDate: 0,
      matching: null,
      count: 2,
      shares: { behind: 0, away: 2 },
    })
    const again = poll(tenant, 'two', 'other')
    await expect.poll(async () => (await watchers(tenant)).upToDate).toBe(1)
    const { count, watchers: all } = await watchers(tenant)
    expect(count).toBe(2)
    expect(all).toContainEqual({
      ip: '127.0.0.1',
      port: expect.any(Number),
      agent: 'Nacos-Java-Client:v1.4.8',
      md5: md5('one'),
      upToDate: false,
      has: 'away',
      grayName: null,
      ruleIp: '127.0.0.1',
      ruleTag: '',
      ruleLabels: '',
      listens: false,
      lastSeenMs: expect.any(Number),
      via: 'poll',
    })
    expect(Math.abs(all[0].lastSeenMs - Date.now())).toBeLessThan(10_000)
    await publish(tenant, 'a', 'three')
    await again
  })

  test('that is not there is nobody', async () => {
    expect(await watchers(unique('ns'))).toMatchObject({ md5: null, count: 0, watchers: [] })
  })
})

describe('the bin', () => {
  const bin = async (query: Params): Promise<Json> => (await waypost.svc.get('/console/bin', query)).json()

  test('has deleted items until they are there again, and restores them with their notes', async () => {
    const namespaceId = unique('ns')
    await publish(namespaceId, 'a', {
      content: 'one',
      type: 'yaml',
      desc: 'd',
      config_tags: 't',
      appName: 'shop',
    })
    await publish(namespaceId, 'b', 'two')
    await remove(namespaceId, 'a', { src_user: 'ann' })
    await remove(namespaceId, 'b')
    const page = await bin({ namespaceId })
    expect(page.totalCount).toBe(2)
    expect(page.pageItems.map(({ dataId }: Json) => dataId)).toEqual(['b', 'a'])
    const [, a] = page.pageItems
    expect(a).toMatchObject({ md5: md5('one'), size: 3, type: 'yaml', desc: 'd', user: 'ann', namespaceId })
    const named = { tenant: namespaceId, dataId: 'a', group: 'G' }
    const query = { ...named, historyId: a.historyId, casMd5: '' }
    expect((await waypost.svc.post('/console/config/restore', query)).status).toBe(200)
    expect(await show(namespaceId, 'a')).toMatchObject({
      content: 'one',
      type: 'yaml',
      desc: 'd',
      configTags: 't',
      appName: 'shop',
    })
    expect((await bin({ namespaceId })).pageItems).toMatchObject([{ dataId: 'b' }])
    await publish(namespaceId, 'b', 'new')
    expect((await bin({ namespaceId })).totalCount).toBe(0)
  })

  test('of all namespaces says in which one an item was', async () => {
    const namespaceId = unique('ns')
    await publish(namespaceId, 'a', 'one')
    await remove(namespaceId, 'a', { comment: 'why' })
    const everywhere = await bin({ namespaceId: '*' })
    expect(everywhere.pageItems[0]).toMatchObject({ namespaceId, dataId: 'a' })
  })
})
