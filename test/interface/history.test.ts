import { describe, expect, test } from 'vitest'
import { md5, serverForThisFile, unique, type Json, type Params } from './client.ts'
import { expectProblem } from './problem.ts'

const waypost = serverForThisFile()
const history = '/cs/history'
const configs = '/cs/configs'
const recordFields = [
  'id',
  'lastId',
  'dataId',
  'group',
  'tenant',
  'appName',
  'md5',
  'content',
  'srcIp',
  'srcUser',
  'opType',
  'createdTime',
  'lastModifiedTime',
].sort()

async function publishedInTurn(contents: string[], tenant?: string) {
  const item = { dataId: unique('item'), group: 'G', ...(tenant !== undefined && { tenant }) }
  for (const content of contents) await waypost.svc.post(configs, { ...item, content })
  return item
}

async function pageOf(item: Params, page: Params = {}): Promise<Json> {
  return (await waypost.svc.get(history, { search: 'accurate', ...item, ...page })).json()
}

async function detailOf(item: Params, nid: string): Promise<Json> {
  return (await waypost.svc.get(history, { ...item, nid })).json()
}

describe('the list of records', () => {
  test('every change adds a record, the newest first', async () => {
    const item = await publishedInTurn(['one', 'two', 'three'])
    await waypost.svc.delete(configs, item)
    const page = await pageOf(item)
    expect(page).toMatchObject({ totalCount: 4, pageNumber: 1, pagesAvailable: 1 })
    expect(Object.keys(page).sort()).toEqual(['pageItems', 'pageNumber', 'pagesAvailable', 'totalCount'])
    expect(page.pageItems.map((record: Json) => record.opType)).toEqual(['D ', 'U ', 'U ', 'I '])
  })

  test('a listed record has all fields, with md5 and content null', async () => {
    const item = await publishedInTurn(['one'])
    const [record] = (await pageOf(item)).pageItems
    expect(Object.keys(record).sort()).toEqual(recordFields)
    expect(record).toMatchObject({
      id: expect.stringMatching(/^\d+$/),
      lastId: -1,
      ...item,
      tenant: '',
      appName: '',
      md5: null,
      content: null,
      srcIp: '127.0.0.1',
      srcUser: null,
      opType: 'I ',
    })
  })

  test('a record has the time of its change, with milliseconds and the offset +0000', async () => {
    const item = await publishedInTurn(['one'])
    const [record] = (await pageOf(item)).pageItems
    for (const time of [record.createdTime, record.lastModifiedTime]) {
      expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$/)
      expect(Math.abs(Date.parse(time.replace('+0000', 'Z')) - Date.now())).toBeLessThan(10_000)
    }
  })

  test('publishing the stored content again adds no record', async () => {
    const item = await publishedInTurn(['one', 'one', 'one'])
    expect((await pageOf(item)).totalCount).toBe(1)
  })

  test('deleting an unknown item adds no record', async () => {
    const item = { dataId: unique('never'), group: 'G' }
    await waypost.svc.delete(configs, item)
    expect(await pageOf(item)).toEqual({ totalCount: 0, pageNumber: 1, pagesAvailable: 0, pageItems: [] })
  })

  test('a tenant has its own records, with its name in them', async () => {
    const item = await publishedInTurn(['one', 'two'], 'blue')
    expect((await pageOf(item)).pageItems[0]).toMatchObject({ tenant: 'blue' })
    expect((await pageOf({ ...item, tenant: 'green' })).totalCount).toBe(0)
    expect((await pageOf({ ...item, tenant: '' })).totalCount).toBe(0)
  })

  test('the tenants public, empty and absent have the same records', async () => {
    const item = await publishedInTurn(['one', 'two'], 'public')
    for (const tenant of ['public', '', undefined]) {
      const page = await pageOf({ ...item, tenant })
      expect(page.totalCount).toBe(2)
    }
  })
})

describe('pages', () => {
  test('have no gap and no overlap, and a page past the end is empty', async () => {
    const item = await publishedInTurn(['1', '2', '3', '4', '5'])
    const pages = await Promise.all([1, 2, 3, 4].map((pageNo) => pageOf(item, { pageNo, pageSize: 2 })))
    expect(pages.map((page) => page.pageItems.length)).toEqual([2, 2, 1, 0])
    expect(pages.map((page) => page.pageNumber)).toEqual([1, 2, 3, 4])
    for (const page of pages) expect(page).toMatchObject({ totalCount: 5, pagesAvailable: 3 })
    const ids = pages.flatMap((page) => page.pageItems.map((record: Json) => BigInt(record.id)))
    expect(ids).toEqual([...ids].sort((a, b) => (a < b ? 1 : -1)))
    expect(new Set(ids).size).toBe(5)
  })

  test('have 100 records by default and at most 500', async () => {
    const item = { dataId: unique('long'), group: 'G' }
    for (let done = 0; done < 510; done += 51) {
      const contents = Array.from({ length: 51 }, (_, n) => `value ${done + n}`)
      await Promise.all(contents.map((content) => waypost.svc.post(configs, { ...item, content })))
    }
    expect(await pageOf(item)).toMatchObject({ totalCount: 510, pagesAvailable: 6 })
    expect((await pageOf(item)).pageItems).toHaveLength(100)
    const largest = await pageOf(item, { pageSize: 10_000 })
    expect(largest.pageItems).toHaveLength(500)
    expect(largest.pagesAvailable).toBe(2)
  }, 30_000)

  const wrong = [
    { pageNo: 0 },
    { pageNo: -1 },
    { pageSize: 0 },
    { pageSize: 'many' },
    { pageNo: 1.5 },
  ] as const
  test.each(wrong)('%j is a 400', async (page) => {
    const query = { search: 'accurate', dataId: 'a', group: 'g', ...page }
    expectProblem(await waypost.svc.get(history, query), 400, Object.keys(page)[0])
  })
})

describe('one record', () => {
  test('an insert has the new text, an update the text before it, a delete the deleted text', async () => {
    const item = await publishedInTurn(['one', 'zwei ü', 'drei'])
    await waypost.svc.delete(configs, item)
    const { pageItems } = await pageOf(item)
    const records = await Promise.all(pageItems.map((record: Json) => detailOf(item, record.id)))
    expect(records.map((record: Json) => [record.opType, record.content, record.md5])).toEqual([
      ['D ', 'drei', md5('drei')],
      ['U ', 'zwei ü', md5('zwei ü')],
      ['U ', 'one', md5('one')],
      ['I ', 'one', md5('one')],
    ])
    for (const record of records) expect(Object.keys(record).sort()).toEqual(recordFields)
  })

  test('a record of another item, group or tenant is refused with 403', async () => {
    const item = await publishedInTurn(['secret'], 'blue')
    const other = await publishedInTurn(['mine'], 'blue')
    const [{ id: nid }] = (await pageOf(item)).pageItems
    const strangers = [other, { ...item, group: 'H' }, { ...item, tenant: 'green' }, { ...item, tenant: '' }]
    for (const stranger of strangers) {
      const answer = await waypost.svc.get(history, { ...stranger, nid })
      expectProblem(answer, 403)
      expect(answer.text).not.toContain('secret')
    }
  })

  test('a record that does not exist is a 404', async () => {
    const item = await publishedInTurn(['one'])
    expectProblem(await waypost.svc.get(history, { ...item, nid: '999999999999' }), 404)
  })

  test.each(['abc', '', '1.5', '-1'])('the nid %j is a 400', async (nid) => {
    expectProblem(await waypost.svc.get(history, { dataId: 'a', group: 'g', nid }), 400, 'nid')
  })

  test.each(['dataId', 'group'])('%s is required', async (name) => {
    const query = { dataId: 'a', group: 'g', nid: '1', [name]: undefined }
    expectProblem(await waypost.svc.get(history, query), 400, name)
  })
})

describe('the previous version', () => {
  const previous = '/cs/history/previous'

  test('of a record is the record before it of the same item', async () => {
    const item = await publishedInTurn(['one', 'two'])
    await publishedInTurn(['between'])
    await waypost.svc.post(configs, { ...item, content: 'three' })
    const [third, second, first] = (await pageOf(item)).pageItems.map((record: Json) => record.id)
    const beforeThird = (await waypost.svc.get(previous, { ...item, id: third })).json()
    expect(beforeThird).toMatchObject({ id: second, opType: 'U ', content: 'one', md5: md5('one') })
    expect(Object.keys(beforeThird).sort()).toEqual(recordFields)
    const beforeSecond = (await waypost.svc.get(previous, { ...item, id: second })).json()
    expect(beforeSecond).toMatchObject({ id: first, opType: 'I ', content: 'one' })
  })

  test('of the first record is a 404', async () => {
    const item = await publishedInTurn(['one', 'two'])
    const first = (await pageOf(item)).pageItems[1].id
    expectProblem(await waypost.svc.get(previous, { ...item, id: first }), 404)
  })

  test('of the id of an item is the version before the current one', async () => {
    const item = await publishedInTurn(['one', 'two', 'three'])
    const { id } = (await waypost.nacos.get(configs, { show: 'all', ...item })).json()
    const records = (await pageOf(item)).pageItems.map((record: Json) => record.id)
    expect(records).not.toContain(id)
    const answer = (await waypost.svc.get(previous, { ...item, id })).json()
    expect(answer).toMatchObject({ content: 'two', md5: md5('two') })
  })

  test('of a record or an item that is not the named one is a 403', async () => {
    const item = await publishedInTurn(['one', 'two'])
    const other = await publishedInTurn(['other'])
    const [{ id }] = (await pageOf(item)).pageItems
    expectProblem(await waypost.svc.get(previous, { ...other, id }), 403)
  })

  test('of an unknown id is a 404', async () => {
    const item = await publishedInTurn(['one'])
    expectProblem(await waypost.svc.get(previous, { ...item, id: '999999999999' }), 404)
  })

  test.each(['id', 'dataId', 'group'])('%s is required', async (name) => {
    const query = { dataId: 'a', group: 'g', id: '1', [name]: undefined }
    expectProblem(await waypost.svc.get(previous, query), 400, name)
  })
})
