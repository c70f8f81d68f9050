/** Gray versions over HTTP, as clients and consoles of the reference server ask for them. */
import { describe, expect, test } from 'vitest'
import { connectGrpc } from '../support/grpc-client.ts'
import { md5, type Params, type Reply, serverForThisFile, sleep, unique, until } from './client.ts'

const waypost = serverForThisFile()

/** The address of a client that the rules of these tests mean, and the address of another client. */
const MEANT = '127.0.0.1'
const OTHER = '127.0.0.2'

const TOO_MANY_CONDITIONS = Array.from({ length: 65 }, (_, index) => `l${index}=a`).join('||')

const named = (): Params => ({ dataId: unique('gray'), group: 'G' })
const publish = (
  item: Params,
  content: string,
  { headers = {}, ...more }: { headers?: Record<string, string>; [parameter: string]: unknown } = {},
) => waypost.nacos.post('/cs/configs', { ...item, content, ...(more as Params) }, headers)
const beta = (item: Params, content: string, betaIps = MEANT) =>
  publish(item, content, { headers: { betaIps } })
const ask = (
  item: Params,
  { from = MEANT, headers = {} }: { from?: string; headers?: Record<string, string> } = {},
): Promise<Reply> => waypost.nacos.call('GET', '/cs/configs', { query: item, headers, localAddress: from })
const listen = ({ dataId, group }: Params, content: string, from = MEANT): Promise<Reply> =>
  waypost.nacos.call('POST', '/cs/configs/listener', {
    form: { 'Listening-Configs': `${dataId}\u0002${group}\u0002${content === '' ? '' : md5(content)}\u0001` },
    headers: { 'Long-Pulling-Timeout': '30000' },
    localAddress: from,
  })
/** Polls that are held: nothing has changed for them. */
async function held(
  item: Params,
  content: string,
  from = MEANT,
): Promise<{ isAnswered: boolean; answer: Promise<Reply> }> {
  const poll = { isAnswered: false, answer: listen(item, content, from) }
  void poll.answer.finally(() => (poll.isAnswered = true))
  await sleep(50)
  return poll
}

describe('a version for some addresses', () => {
  test('is what they read, and nobody else', async () => {
    const item = named()
    await publish(item, 'formal', { type: 'yaml' })
    expect((await beta(item, 'beta: 1', `10.0.0.9, ${MEANT}`)).text).toBe('true')
    expect(await ask(item)).toMatchObject({
      status: 200,
      text: 'beta: 1',
      headers: { isbeta: 'true', 'content-md5': md5('beta: 1'), 'config-type': 'yaml' },
    })
    const formal = await ask(item, { from: OTHER })
    expect(formal).toMatchObject({ text: 'formal', headers: { 'content-md5': md5('formal') } })
    expect(formal.headers).not.toHaveProperty('isbeta')
  })

  test('stays as it is while the formal one changes; the form field of consoles makes none', async () => {
    const item = named()
    await beta(item, 'x')
    await publish(item, 'for all', { betaIps: MEANT })
    expect((await ask(item)).text).toBe('x')
    expect((await ask(item, { from: OTHER })).text).toBe('for all')
  })

  test('is shown to consoles and stopped by them', async () => {
    const item = named()
    const show = async () => (await waypost.nacos.get('/cs/configs', { ...item, beta: true })).json()
    expect(await show()).toEqual({ code: 200, message: 'query beta ok', data: null })
    await beta(item, 'x', `${MEANT},10.0.0.9`)
    expect(await show()).toEqual({
      code: 200,
      message: 'query beta ok',
      data: {
        id: expect.stringMatching(/^\d+$/) as string,
        ...item,
        content: 'x',
        md5: md5('x'),
        encryptedDataKey: null,
        tenant: '',
        appName: '',
        type: null,
        betaIps: `${MEANT},10.0.0.9`,
      },
    })
    const stop = async () => (await waypost.nacos.delete('/cs/configs', { ...item, beta: true })).json()
    expect(await stop()).toEqual({ code: 200, message: 'stop beta ok', data: true })
    expect(await stop()).toEqual({ code: 200, message: 'stop beta ok', data: true })
    expect(await show()).toMatchObject({ data: null })
    expect((await ask(item)).status).toBe(404)
  })

  test('stays where a deletion says that it is not about the beta', async () => {
    const item = named()
    await publish(item, 'formal')
    await beta(item, 'x')
    expect((await waypost.nacos.delete('/cs/configs', { ...item, beta: false })).text).toBe('true')
    expect((await ask(item)).text).toBe('x')
    await waypost.nacos.delete('/cs/configs', { ...item, beta: '' })
    expect((await ask(item)).status).toBe(404)
  })
})

describe('a publish under /svc', () => {
  test.each([
    ['a tag', { tag: 'blue' }, {}],
    ['addresses', {}, { betaIps: '10.9.9.9' }],
  ])('with %s is for some, as under /nacos', async (_what, fields, headers) => {
    const item = named()
    await publish(item, 'for all')
    const form = { ...item, content: 'for some', ...fields }
    expect((await waypost.svc.post('/cs/configs', form, headers)).text).toBe('true')
    expect((await waypost.svc.get('/cs/configs', item)).text).toBe('for all')
    const [listed] = (await waypost.svc.get('/cs/configs/gray', item)).json()
    expect(listed.versions).toMatchObject([{ size: 'for some'.length }])
  })

  test('with addresses in a field is refused, and not for all', async () => {
    const form = { ...named(), content: 'for some', betaIps: '10.9.9.9' }
    const refused = await waypost.svc.post('/cs/configs', form)
    expect([refused.status, refused.json().parameter]).toEqual([400, 'betaIps'])
  })

  test('takes the names of the other dialects', async () => {
    const { dataId, group } = named()
    const form = { dataId, groupName: group!, namespaceId: 'elsewhere', content: 'x' }
    expect((await waypost.svc.post('/cs/configs', form)).text).toBe('true')
    expect((await waypost.svc.get('/cs/configs', { dataId, group, tenant: 'elsewhere' })).text).toBe('x')
  })
})

describe('a version for a tag', () => {
  test('is what a client with the tag reads, and who asks for it', async () => {
    const item = named()
    await publish(item, 'formal')
    await publish(item, 'tagged', { tag: 'x' })
    expect((await ask(item)).text).toBe('formal')
    const headers = { 'Vipserver-Tag': 'x' }
    expect(await ask(item, { headers })).toMatchObject({ text: 'tagged', headers: { tag: 'x' } })
    expect((await ask(item, { headers: { 'Vipserver-Tag': 'y' } })).text).toBe('formal')
    expect((await ask({ ...item, tag: 'x' })).text).toBe('tagged')
    expect((await ask({ ...item, tag: 'y' })).status).toBe(404)
  })

  test('gives way to one for the address, also where the tag is asked for', async () => {
    const item = named()
    await publish(item, 'tagged', { tag: 'x' })
    await beta(item, 'beta')
    expect((await ask({ ...item, tag: 'x' })).text).toBe('beta')
    expect((await ask({ ...item, tag: 'none' })).text).toBe('beta')
    expect((await ask({ ...item, tag: 'x' }, { from: OTHER })).text).toBe('tagged')
  })

  test('is stopped by its tag', async () => {
    const item = named()
    await publish(item, 'formal')
    await publish(item, 'tagged', { tag: 'x' })
    expect((await waypost.nacos.delete('/cs/configs', { ...item, tag: 'x' })).text).toBe('true')
    expect((await ask({ ...item, tag: 'x' })).status).toBe(404)
    expect((await ask(item)).text).toBe('formal')
  })
})

describe('who polls', () => {
  test('is answered if its view has changed, and only then', async () => {
    const item = named()
    await publish(item, 'formal')
    const meant = await held(item, 'formal')
    const other = await held(item, 'formal', OTHER)
    await beta(item, 'x')
    expect((await meant.answer).text).toContain(String(item['dataId']))
    expect(other.isAnswered).toBe(false)
    // A new formal version is no news to those who have the other one.
    const onBeta = await held(item, 'x')
    await publish(item, 'newer')
    expect((await other.answer).text).toContain(String(item['dataId']))
    expect(onBeta.isAnswered).toBe(false)
    // Somebody who is taken out of the list is told too.
    await beta(item, 'x', '10.0.0.9')
    expect((await onBeta.answer).text).toContain(String(item['dataId']))
    expect((await ask(item)).text).toBe('newer')
  })

  test('by a tag is answered for the version of the tag', async () => {
    const item = named()
    await publish(item, 'tagged', { tag: 'x' })
    const answer = await waypost.nacos.post(
      '/cs/configs/listener',
      { 'Listening-Configs': `${item['dataId']}\u0002G\u0002${md5('tagged')}\u0001` },
      { 'Long-Pulling-Timeout': '30000', 'Long-Pulling-Timeout-No-Hangup': 'true', 'Vipserver-Tag': 'x' },
    )
    expect(answer.text.trim()).toBe('')
  })
})

test('who has an item is compared with the version that is for the client', async () => {
  const item = named()
  await publish(item, 'formal')
  await beta(item, 'x')
  const polls = [await held(item, 'x'), await held(item, 'formal', OTHER)]
  const { dataId, group } = item
  const seen = async () => (await waypost.svc.get('/console/config/watchers', { dataId, group })).json()
  const { watchers, upToDate } = await until(seen, ({ count }) => count === 2)
  const shown = watchers.map(({ ip, upToDate: has, grayName }: Record<string, unknown>) => [
    ip,
    has,
    grayName,
  ])
  expect([shown, upToDate]).toEqual([
    [
      [MEANT, true, 'beta'],
      [OTHER, true, null],
    ],
    2,
  ])
  // Both are answered: nothing is held when the test ends.
  await waypost.nacos.delete('/cs/configs', item)
  await Promise.all(polls.map(({ answer }) => answer))
})

test('history has the records of both, each with the name of the version that it is about', async () => {
  const item = named()
  await publish(item, 'formal')
  await beta(item, 'one')
  await publish(item, 'formal 2')
  await beta(item, 'two')
  await waypost.nacos.delete('/cs/configs', { ...item, beta: true })
  const list = async (more: Params) =>
    (await waypost.nacos.get('/cs/history', { search: 'accurate', ...item, ...more })).json()
  const { totalCount, pageItems } = await list({ pageNo: 1, pageSize: 10 })
  const shown = pageItems.map(({ opType, publishType, grayName }: Record<string, string>) => [
    opType?.trim(),
    publishType,
    grayName,
  ])
  expect(totalCount).toBe(5)
  expect(shown).toEqual([
    ['D', 'gray', 'beta'],
    ['U', 'gray', 'beta'],
    ['U', 'formal', ''],
    ['I', 'gray', 'beta'],
    ['I', 'formal', ''],
  ])
  const pages = await Promise.all([1, 2, 3].map(async (pageNo) => list({ pageNo, pageSize: 2 })))
  expect(pages.flatMap((page) => page.pageItems)).toEqual(pageItems)
  const record = async (index: number) =>
    (await waypost.nacos.get('/cs/history', { ...item, nid: pageItems[index].id })).json()
  expect(await record(0)).toMatchObject({ ...item, content: 'two', md5: md5('two') })
  expect(await record(1)).toMatchObject({ content: 'one', publishType: 'gray' })
  expect(JSON.parse((await record(3)).extInfo)).toEqual({
    gray_name: 'beta',
    gray_rule: JSON.stringify({ type: 'beta', expr: MEANT, version: '1.0.0', priority: '2147483647' }),
  })
})

test('the other doors give the same view', async () => {
  const { dataId, group } = named() as { dataId: string; group: string }
  await publish({ dataId, group }, 'formal')
  await beta({ dataId, group }, 'x')
  const of = (path: string, query: Params, localAddress = MEANT) =>
    waypost.nacos.call('GET', `/../${path}`, { query, localAddress })
  expect((await of('v2/cs/config', { dataId, group })).json()).toMatchObject({ code: 0, data: 'x' })
  expect((await of('v2/cs/config', { dataId, group }, OTHER)).json()).toMatchObject({ data: 'formal' })
  const three = await of('v3/client/cs/config', { dataId, groupName: group })
  expect(three.json()).toMatchObject({ data: { content: 'x', beta: true } })
  expect((await waypost.svc.get('/cs/configs', { dataId, group })).text).toBe('x')
  const client = await connectGrpc(waypost.server, { clientIp: MEANT })
  const { body } = await client.ask('ConfigQueryRequest', { dataId, group })
  expect(body).toMatchObject({ content: 'x', beta: true })
  await client.close()
})

describe('the resource of /svc', () => {
  const of = (item: Params, more: Params): Params => ({ ...item, ...more })
  const show = async (item: Params): Promise<unknown[]> => {
    const [found] = (await waypost.svc.get('/cs/configs/gray', item)).json()
    return (found?.versions ?? []).map(({ grayName, grayMatchRuleExp }: Record<string, string>) => [
      grayName,
      grayMatchRuleExp,
    ])
  }

  test('publishes, shows, grows, promotes', async () => {
    const item = named()
    await publish(item, 'formal')
    const share = { grayName: 'v2', grayType: 'percent', grayMatchRuleExp: '0', comment: 'careful' }
    expect((await waypost.svc.post('/cs/configs/gray', of(item, { content: 'new', ...share }))).text).toBe(
      'true',
    )
    expect(await show(item)).toEqual([['v2', '0']])
    expect((await ask(item)).text).toBe('formal')
    const version = await waypost.svc.get('/cs/configs/gray/version', of(item, { grayName: 'v2' }))
    expect(version.json()).toMatchObject({ content: 'new', md5: md5('new'), size: 3, comment: 'careful' })
    const grown = of(item, { grayName: 'v2', grayMatchRuleExp: '100' })
    expect((await waypost.svc.put('/cs/configs/gray', grown)).text).toBe('true')
    expect((await ask(item)).text).toBe('new')
    const promote = of(item, { grayName: 'v2', casMd5: md5('new') })
    expect((await waypost.svc.post('/cs/configs/gray/promote', promote)).status).toBe(409)
    const right = of(item, { grayName: 'v2', casMd5: md5('formal') })
    expect((await waypost.svc.post('/cs/configs/gray/promote', right)).text).toBe('true')
    expect(await show(item)).toEqual([])
    expect((await ask(item, { from: OTHER })).text).toBe('new')
  })

  test('explains which version a client sees', async () => {
    const item = named()
    await publish(item, 'formal')
    await beta(item, 'beta', '10.0.0.7')
    const labelled = { content: 'new', grayName: 'v2', grayType: 'tagv2', grayMatchRuleExp: 'env=test' }
    await waypost.svc.post('/cs/configs/gray', of(item, labelled))
    const explain = async (client: Params) =>
      (await waypost.svc.get('/cs/configs/gray/explain', of(item, client))).json()
    const found = await explain({ ip: '10.0.0.8', labels: 'zone=a,env=test' })
    expect(found).toMatchObject({ grayName: 'v2', md5: md5('new') })
    expect(
      found.versions.map((one: Record<string, unknown>) => [one['grayName'], one['isForClient']]),
    ).toEqual([
      ['beta', false],
      ['v2', true],
    ])
    expect(await explain({ ip: '10.0.0.7', labels: 'env=test' })).toMatchObject({ grayName: 'beta' })
    expect(await explain({ ip: '10.0.0.8' })).toMatchObject({ grayName: null, md5: md5('formal') })
  })

  test.each([
    ['beta', 'no/address', 'The betaIps of this gray version'],
    ['tag', 'two words', 'The tag of this gray version'],
    ['tagv2', 'env', 'The labels of this gray version'],
    ['percent', '101', 'The share of this gray version'],
    ['tagv2', TOO_MANY_CONDITIONS, 'at most 64 conditions'],
    ['tagv2', `env=${'a'.repeat(2_045)}`, 'at most 2048 characters'],
  ])('names what is wrong with a rule of the type %s', async (grayType, grayMatchRuleExp, words) => {
    const sent = of(named(), { content: 'x', grayType, grayMatchRuleExp })
    const reply = await waypost.svc.post('/cs/configs/gray', { ...sent, grayName: 'v' })
    expect([reply.status, reply.text]).toEqual([400, expect.stringContaining(words)])
  })

  test('refuses what it cannot read, an eleventh version, and what is not there', async () => {
    const item = named()
    const add = (index: number, grayMatchRuleExp = `env=${index}`) =>
      waypost.svc.post(
        '/cs/configs/gray',
        of(item, { content: 'x', grayName: `v${index}`, grayType: 'tagv2', grayMatchRuleExp }),
      )
    expect((await add(0, 'env')).json()).toMatchObject({
      status: 400,
      type: expect.stringContaining('gray-rule') as string,
    })
    for (let index = 0; index < 10; index++) expect((await add(index)).text).toBe('true')
    expect((await add(10)).json()).toMatchObject({
      status: 400,
      type: expect.stringContaining('gray-too-many') as string,
    })
    const grown = of(item, { grayName: 'v0', grayMatchRuleExp: TOO_MANY_CONDITIONS })
    expect((await waypost.svc.put('/cs/configs/gray', grown)).json()).toMatchObject({
      status: 400,
      type: expect.stringContaining('gray-rule') as string,
    })
    const none = await waypost.svc.delete('/cs/configs/gray', of(item, { grayName: 'none' }))
    expect(none.json()).toMatchObject({
      status: 404,
      type: expect.stringContaining('gray-not-found') as string,
    })
    expect((await waypost.svc.delete('/cs/configs/gray', of(item, { grayName: 'v3' }))).text).toBe('true')
    expect(await show(item)).toHaveLength(9)
  })
})

describe('the calls of generation 3', () => {
  const call = (method: string, path: string, { dataId, group: groupName, ...more }: Params) => {
    const params = { dataId, groupName, ...more }
    const sent = method === 'POST' ? { form: params } : { query: params }
    return waypost.nacos.call(method, `/../v3/admin/cs/config${path}`, sent)
  }

  test('publish, show and stop a version under a name', async () => {
    const item = named()
    await publish(item, 'formal')
    const rule = {
      grayName: 'v2',
      grayType: 'tagv2',
      grayMatchRuleExp: 'env=a,b&&zone=c',
      grayVersion: '1.1.0',
    }
    const sent = await call('POST', '/gray', { ...item, content: 'new', grayPriority: 7, ...rule })
    expect(sent.json()).toEqual({ code: 0, message: 'success', data: true })
    const found = (await call('GET', '/gray', { ...item, grayName: 'v2' })).json()
    expect(found).toMatchObject({ code: 0, data: { content: 'new', grayName: 'v2', md5: md5('new') } })
    expect(JSON.parse(found.data.grayRule)).toEqual({
      type: 'tagv2',
      version: '1.1.0',
      expr: 'env=a,b&&zone=c',
      priority: 7,
    })
    expect((await call('GET', '/gray', item)).json().data).toHaveLength(1)
    const labels = { app_env: 'b', app_zone: 'c' }
    const client = await connectGrpc(waypost.server, { setup: { clientVersion: '', labels } })
    const { body } = await client.ask('ConfigQueryRequest', item)
    expect(body).toMatchObject({ content: 'new' })
    await client.close()
    expect((await call('DELETE', '/gray', { ...item, grayName: 'v2' })).json()).toMatchObject({ data: true })
    const gone = await call('GET', '/gray', { ...item, grayName: 'v2' })
    expect([gone.status, gone.json().code]).toEqual([404, 20004])
  })

  test('publish, show and stop a beta', async () => {
    const item = named()
    const { dataId, group: groupName } = item
    await waypost.nacos.call('POST', '/../v3/admin/cs/config', {
      form: { dataId, groupName, content: 'beta: 1' },
      headers: { betaIps: MEANT },
    })
    expect((await ask(item)).text).toBe('beta: 1')
    expect((await call('GET', '/beta', item)).json().data).toMatchObject({
      grayName: 'beta',
      content: 'beta: 1',
    })
    expect((await call('DELETE', '/beta', item)).json()).toMatchObject({ data: true })
    const gone = await call('GET', '/beta', item)
    expect(gone.json()).toEqual({
      code: 20004,
      message: 'resource not found',
      data: 'Config is not in beta.',
    })
  })

  test('refuse with the numbers of the reference server', async () => {
    const item = named()
    const rule = { ...item, content: 'x', grayName: 'v2', grayType: 'tagv2' }
    for (const grayMatchRuleExp of ['env', TOO_MANY_CONDITIONS])
      expect((await call('POST', '/gray', { ...rule, grayMatchRuleExp })).json()).toMatchObject({
        code: 20011,
      })
  })
})
