/** Items that have gray versions and no formal one: lists, the bin, a comparison and an export show them as what they are. */
import { describe, expect, test } from 'vitest'
import { type Json, md5, type Params, serverForThisFile, unique } from './client.ts'

const waypost = serverForThisFile()
type Item = { tenant: string; group: string; dataId: string }

const publishGray = async (item: Item, grayName: string, more: Params = {}) => {
  const release = { grayName, grayType: 'percent', grayMatchRuleExp: '5', content: grayName, ...more }
  const answer = await waypost.svc.post('/cs/configs/gray', { ...item, ...release })
  expect(answer.text).toBe('true')
}
const publish = (item: Item, content: string) => waypost.svc.post('/cs/configs', { ...item, content })
const get = async (path: string, query: Params): Promise<Json> =>
  (await waypost.svc.get(`/console${path}`, query)).json()
const itemsOf = (tenant: string, ...names: string[]): Item[] =>
  names.map((dataId) => ({ tenant, group: 'G', dataId }))

test('a list has them page by page, with a count of their own', async () => {
  const tenant = unique('ns')
  const [a, b, c, formal] = itemsOf(tenant, 'a', 'b', 'c', 'formal') as [Item, Item, Item, Item]
  for (const item of [c, a, b, formal]) await publishGray(item, 'v2')
  await publish(formal, 'x')
  const page = async (pageNo: number) => {
    const found = await get('/configs', { namespaceId: tenant, pageSize: 2, pageNo, sort: 'dataId' })
    const names = (items: Json[]): string[] => items.map(({ dataId }) => dataId as string)
    return [names(found.pageItems), names(found.grayOnly), found.totalCount, found.grayOnlyCount]
  }
  expect(await page(1)).toEqual([['formal'], ['a', 'b'], 1, 3])
  expect(await page(2)).toEqual([[], ['c'], 1, 3])
  expect(await page(3)).toEqual([[], [], 1, 3])
})

test('a search over all namespaces finds them by name, and their namespace is not empty', async () => {
  const tenant = unique('ns')
  const [item, mixed] = itemsOf(tenant, unique('Found'), unique('mixed')) as [Item, Item]
  for (const one of [item, mixed]) await publishGray(one, 'v2')
  await publish(mixed, 'x')
  const { grayOnly, configs } = await get('/search', { text: item.dataId.toLowerCase() })
  expect(grayOnly).toMatchObject([{ namespaceId: tenant, dataId: item.dataId, grayNames: ['v2'] }])
  expect(configs).toEqual([])
  expect((await get('/search', { text: mixed.dataId })).grayOnly).toEqual([])
  const other = unique('ns')
  await publishGray({ ...item, tenant: other }, 'v2')
  const { namespaces } = await get('/namespaces/all', {})
  expect(namespaces.find(({ namespaceId }: Json) => namespaceId === other)).toMatchObject({
    configCount: 0,
    empty: false,
  })
})

test('a comparison names them on the side where they are', async () => {
  const [from, to] = [unique('from'), unique('to')]
  const [both, left] = itemsOf(from, 'both', 'left') as [Item, Item]
  const [other, right] = itemsOf(to, 'both', 'right') as [Item, Item]
  for (const item of [both, left, right]) await publishGray(item, 'v2')
  await publish(other, 'formal')
  const found = await get('/compare', { from, to })
  const named = (dataId: string) => ({ dataId, group: 'G', grayNames: ['v2'] })
  expect(found).toMatchObject({ equal: 0, onlyInFrom: [], different: [], truncated: false })
  expect(found.onlyInTo).toMatchObject([{ dataId: 'both' }])
  expect(found.grayOnlyInFrom).toEqual([named('both'), named('left')])
  expect(found.grayOnlyInTo).toEqual([named('right')])
  expect((await get('/compare', { from, to, dataId: 'r*' })).grayOnlyInFrom).toEqual([])
})

describe('an export as a zip file', () => {
  const leftOut = async (query: Params) =>
    (await waypost.svc.get('/cs/configs', query)).headers['waypost-gray-left-out']

  test('says how many gray versions are not in it', async () => {
    const tenant = unique('ns')
    const [gray, mixed, formal] = itemsOf(tenant, 'gray', 'mixed', 'formal') as [Item, Item, Item]
    for (const name of ['v1', 'v2']) await publishGray(gray, name)
    await publishGray(mixed, 'v3')
    for (const item of [mixed, formal]) await publish(item, 'x')
    expect(await leftOut({ tenant, exportV2: true })).toBe('3')
    expect(await leftOut({ tenant, export: true, dataId: 'g*' })).toBe('2')
    expect(await leftOut({ tenant, exportV2: true, dataId: 'formal' })).toBeUndefined()
    expect(await leftOut({ tenant, exportV2: true, types: 'text' })).toBe('1')
    const [id] = (await get('/configs', { namespaceId: tenant, text: 'mixed' })).pageItems.map(
      (item: Json) => item.id as string,
    )
    expect(await leftOut({ tenant, exportV2: true, ids: id })).toBe('1')
    const nacos = await waypost.nacos.get('/cs/configs', { tenant, exportV2: true, dataId: '', group: '' })
    expect(nacos.headers['waypost-gray-left-out']).toBe('3')
  })
})

describe('the bin', () => {
  const binOf = async (namespaceId: string): Promise<Json[]> =>
    (await get('/bin', { namespaceId })).pageItems as Json[]
  const restore = (item: Item, historyId: string, casMd5 = '') =>
    waypost.svc.post('/console/config/restore', { ...item, historyId, casMd5 })
  const outOf = async (item: Item): Promise<Json[]> =>
    ((await waypost.svc.get('/cs/configs/gray', { namespaceId: item.tenant })).json() as Json[]).flatMap(
      ({ versions }) => versions as Json[],
    )

  test('has one that was deleted, and brings all its versions back', async () => {
    const tenant = unique('ns')
    const [item] = itemsOf(tenant, 'gray.yaml') as [Item]
    await publishGray(item, 'v1', { content: 'one', grayPriority: 200, type: 'yaml' })
    await publishGray(item, 'v2', { content: 'other' })
    await waypost.svc.delete('/cs/configs', { ...item })
    expect(await outOf(item)).toEqual([])
    const [deleted, ...others] = await binOf(tenant)
    expect(others).toEqual([])
    expect(deleted).toMatchObject({ dataId: 'gray.yaml', md5: md5('one'), size: 3, type: 'yaml' })
    expect(deleted.grayVersions.map((one: Json) => one.grayName)).toEqual(['v1', 'v2'])
    const texts = await Promise.all(
      deleted.grayVersions.map(async ({ historyId }: Json) => {
        const version = await get('/config/version', { ...item, historyId })
        return version.content as string
      }),
    )
    expect(texts).toEqual(['one', 'other'])
    expect((await restore(item, deleted.historyId)).json()).toMatchObject({ md5: md5('one') })
    const back = await outOf(item)
    expect(back.map(({ grayName, md5: of }) => [grayName, of])).toEqual([
      ['v1', md5('one')],
      ['v2', md5('other')],
    ])
    expect(back[0]).toMatchObject({ grayType: 'percent', grayMatchRuleExp: '5', grayPriority: 200 })
    expect(await binOf(tenant)).toEqual([])
    expect((await restore(item, deleted.historyId)).status).toBe(409)
  })

  test('has a formal version as before, where there was one', async () => {
    const tenant = unique('ns')
    const [item] = itemsOf(tenant, 'mixed') as [Item]
    await publish(item, 'formal')
    await publishGray(item, 'v1')
    await waypost.svc.delete('/cs/configs', { ...item })
    expect(await binOf(tenant)).toMatchObject([{ md5: md5('formal'), grayVersions: [] }])
  })

  test('a version that was stopped comes back by its record, and no other change of it does', async () => {
    const tenant = unique('ns')
    const [item, another] = itemsOf(tenant, 'stopped', 'another') as [Item, Item]
    await publish(item, 'formal')
    await publishGray(item, 'v1', { content: 'one' })
    await publishGray(item, 'v1', { content: 'two' })
    await waypost.svc.delete('/cs/configs/gray', { ...item, grayName: 'v1' })
    const history = await waypost.nacos.get('/cs/history', { search: 'accurate', ...item })
    const [ended, changed] = history.json().pageItems as Json[]
    expect([ended, changed].map(({ opType }) => opType.trim())).toEqual(['D', 'U'])
    expect((await restore(item, changed.id)).status).toBe(404)
    expect((await restore(another, ended.id)).status).toBe(403)
    expect((await restore(item, ended.id)).status).toBe(200)
    expect(await outOf(item)).toMatchObject([{ grayName: 'v1', md5: md5('two') }])
  })
})
