/** Who may write an item and not read it learns nothing of its gray versions by their names. The list has pages. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'

const SVC = '/svc/v1/cs/configs/gray'
const ITEM = { tenant: 'written', group: 'G', dataId: 'd' }
const RELEASE = { grayType: 'percent', grayMatchRuleExp: '5', content: 'x' }

let managed: ManagedWaypost
let token: string

beforeAll(async () => {
  managed = await startManaged()
  await managed.addUser({ username: 'writer', password: 'secret', permissions: { 'written:*:*': 'w' } })
  token = await managed.tokenOf('writer')
  for (const dataId of ['d', 'e', 'f'])
    await managed.ask('POST', SVC, { ...ITEM, dataId, ...RELEASE, grayName: 'known' })
})
afterAll(() => managed?.waypost.stop())

async function answer(method: string, path: string, form: Record<string, string>): Promise<string> {
  const fields = new URLSearchParams(form)
  const isInQuery = method === 'DELETE' || method === 'GET'
  const url = `${managed.waypost.url}${path}${isInQuery ? `?${fields}` : ''}`
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(url, { method, headers, ...(isInQuery ? {} : { body: fields }) })
  const text = (await response.text()).replaceAll(/"(?:requestId|instance)":"[^"]*"/g, '')
  return `${response.status} ${text.replaceAll(form['grayName']!, 'NAME')}`
}

describe('one answer for a version that is there and one that is not', () => {
  test.each([
    ['PUT', SVC, { grayMatchRuleExp: '6' }],
    ['PUT', SVC, { grayMatchRuleExp: 'no share' }],
    ['DELETE', SVC, {}],
    ['DELETE', SVC, { casMd5: '' }],
    ['DELETE', SVC, { casMd5: '0'.repeat(32) }],
    ['POST', `${SVC}/promote`, {}],
    ['POST', `${SVC}/promote`, { casMd5: '0'.repeat(32) }],
    ['GET', `${SVC}/version`, {}],
  ])('%s %s %o', async (...[method, path, more]) => {
    const known = await answer(method, path, { ...ITEM, ...more, grayName: 'known' })
    const other = await answer(method, path, { ...ITEM, ...more, grayName: 'other' })
    expect(known).toBe(other)
    const there = await managed.ask(
      'GET',
      `${SVC}/version?${new URLSearchParams({ ...ITEM, grayName: 'known' })}`,
    )
    expect(JSON.parse(there)).toMatchObject({ content: 'x' })
  })
})

test('the list has pages where one is asked for, and is whole otherwise', async () => {
  const list = async (query: Record<string, string>) =>
    JSON.parse(
      await managed.ask('GET', `${SVC}?${new URLSearchParams({ namespaceId: 'written', ...query })}`),
    )
  const names = (items: { dataId: string }[]): string[] => items.map(({ dataId }) => dataId)
  const whole = await list({})
  expect(names(whole)).toHaveLength(3)
  const pages = await Promise.all(['1', '2', '3'].map((pageNo) => list({ pageNo, pageSize: '2' })))
  expect(pages.map(({ totalCount, pagesAvailable }) => [totalCount, pagesAvailable])).toEqual(
    Array(3).fill([3, 2]),
  )
  expect(pages.flatMap(({ pageItems }) => names(pageItems))).toEqual(names(whole))
})
