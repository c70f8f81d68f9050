import { describe, expect, test } from 'vitest'
import { serverForThisFile, unique, type Json, type Params } from './client.ts'

const waypost = serverForThisFile()
const configs = '/cs/configs'

describe('search', () => {
  /** Items web.a, web.b in group G and other.c in group H of a tenant of their own. */
  async function threeItems(): Promise<string> {
    const tenant = unique('ns')
    for (const [dataId, group] of [
      ['web.a', 'G'],
      ['web.b', 'G'],
      ['other.c', 'H'],
    ])
      await waypost.nacos.post(configs, {
        dataId,
        group,
        tenant,
        content: dataId,
        type: 'json',
        appName: 'shop',
      })
    return tenant
  }

  async function search(query: Params): Promise<Json> {
    const full = { search: 'accurate', dataId: '', group: '', pageNo: 1, pageSize: 10, ...query }
    const answer = await waypost.nacos.get(configs, full)
    expect(answer.status, answer.text).toBe(200)
    return answer.json()
  }

  const names = (page: Json): string[] => page.pageItems.map((item: Json) => item.dataId).sort()

  test('accurate finds items by exact names, and an empty name matches any', async () => {
    const tenant = await threeItems()
    expect(names(await search({ tenant }))).toEqual(['other.c', 'web.a', 'web.b'])
    expect(names(await search({ tenant, dataId: 'web.a' }))).toEqual(['web.a'])
    expect(names(await search({ tenant, group: 'H' }))).toEqual(['other.c'])
    expect(names(await search({ tenant, dataId: 'web' }))).toEqual([])
  })

  test('blur finds items by patterns with a star', async () => {
    const tenant = await threeItems()
    expect(names(await search({ search: 'blur', tenant, dataId: 'web*' }))).toEqual(['web.a', 'web.b'])
    expect(names(await search({ search: 'blur', tenant, dataId: '*c' }))).toEqual(['other.c'])
    expect(names(await search({ search: 'blur', tenant, dataId: '*e*', group: 'G*' }))).toEqual([
      'web.a',
      'web.b',
    ])
    expect(names(await search({ search: 'blur', tenant, dataId: 'web' }))).toEqual([])
    expect(names(await search({ search: 'blur', tenant, dataId: 'web_a' }))).toEqual([])
  })

  test('an item of a page has all its fields', async () => {
    const tenant = await threeItems()
    const page = await search({ tenant, dataId: 'web.a' })
    expect(page).toMatchObject({ totalCount: 1, pageNumber: 1, pagesAvailable: 1 })
    expect(page.pageItems).toMatchObject([
      {
        id: expect.stringMatching(/^\d+$/),
        dataId: 'web.a',
        group: 'G',
        content: 'web.a',
        md5: null,
        tenant,
        appName: 'shop',
        type: 'json',
      },
    ])
  })

  test('has pages of the requested size', async () => {
    const tenant = await threeItems()
    const first = await search({ tenant, pageSize: 2 })
    const second = await search({ tenant, pageSize: 2, pageNo: 2 })
    expect(first).toMatchObject({ totalCount: 3, pagesAvailable: 2 })
    expect([...names(first), ...names(second)].sort()).toEqual(['other.c', 'web.a', 'web.b'])
  })

  test('filters items by appName', async () => {
    const tenant = await threeItems()
    expect(names(await search({ tenant, appName: 'shop' }))).toHaveLength(3)
    expect(names(await search({ tenant, appName: 'other' }))).toEqual([])
  })
})
