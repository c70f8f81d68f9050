import { describe, expect, test } from 'vitest'
import { DIALECTS, md5, serverForThisFile, unique, type Json, type Params } from './client.ts'
import { refusals } from './problem.ts'

const waypost = serverForThisFile()
const FIELDS = ['id', 'lastId', 'dataId', 'group', 'tenant', 'appName', 'md5', 'content']
FIELDS.push('srcIp', 'srcUser', 'opType', 'createdTime', 'lastModifiedTime')
/** The further fields of a listed record of /nacos. */
const MORE = { publishType: 'formal', grayName: '', extInfo: '{"type":"text"}', encryptedDataKey: null }

describe.each(DIALECTS)('/%s:', (dialect) => {
  const expectRefused = refusals(dialect)
  const history = '/cs/history'
  const configs = '/cs/configs'
  const fields = [...FIELDS, ...(dialect === 'nacos' ? Object.keys(MORE) : [])]

  async function publishedInTurn(contents: string[], tenant?: string) {
    const item = { dataId: unique('item'), group: 'G', ...(tenant !== undefined && { tenant }) }
    for (const content of contents) await waypost[dialect].post(configs, { ...item, content })
    return item
  }

  async function pageOf(item: Params, page: Params = {}): Promise<Json> {
    return (await waypost[dialect].get(history, { search: 'accurate', ...item, ...page })).json()
  }

  async function detailOf(item: Params, nid: string): Promise<Json> {
    return (await waypost[dialect].get(history, { ...item, nid })).json()
  }

  describe('the list of records', () => {
    test('every change adds a record, the newest first', async () => {
      const item = await publishedInTurn(['one', 'two', 'three'])
      await waypost[dialect].delete(configs, item)
      const answer = await waypost[dialect].get(history, { search: 'accurate', ...item })
      const charset = dialect === 'svc' ? '' : ';charset=UTF-8'
      expect(answer.headers['content-type']).toBe(`application/json${charset}`)
      const page = answer.json()
      expect(page).toMatchObject({ totalCount: 4, pageNumber: 1, pagesAvailable: 1 })
      expect(Object.keys(page)).toEqual(['totalCount', 'pageNumber', 'pagesAvailable', 'pageItems'])
      expect(page.pageItems.map((record: Json) => record.opType)).toEqual(['D ', 'U ', 'U ', 'I '])
    })

    test('a listed record has all fields, with md5 and content null', async () => {
      const item = await publishedInTurn(['one'])
      const [record] = (await pageOf(item)).pageItems
      expect(Object.keys(record)).toEqual(fields)
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
        ...(dialect === 'nacos' && MORE),
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
      await waypost[dialect].delete(configs, item)
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
        await Promise.all(contents.map((content) => waypost[dialect].post(configs, { ...item, content })))
      }
      expect(await pageOf(item)).toMatchObject({ totalCount: 510, pagesAvailable: 6 })
      expect((await pageOf(item)).pageItems).toHaveLength(100)
      const largest = await pageOf(item, { pageSize: 10_000 })
      expect(largest.pageItems).toHaveLength(500)
      expect(largest.pagesAvailable).toBe(2)
    })
  })

  describe('one record', () => {
    test('an insert has the new text, an update the text before it, a delete the deleted text', async () => {
      const item = await publishedInTurn(['one', 'zwei ü', 'drei'])
      await waypost[dialect].delete(configs, item)
      const { pageItems } = await pageOf(item)
      const records = await Promise.all(pageItems.map((record: Json) => detailOf(item, record.id)))
      expect(records.map((record: Json) => [record.opType, record.content, record.md5])).toEqual([
        ['D ', 'drei', md5('drei')],
        ['U ', 'zwei ü', md5('zwei ü')],
        ['U ', 'one', md5('one')],
        ['I ', 'one', md5('one')],
      ])
      for (const record of records) expect(Object.keys(record)).toEqual(fields)
    })

    test('the id of an item is none of a record: a 404', async () => {
      const item = await publishedInTurn(['one'])
      const { id: nid } = (await waypost.nacos.get(configs, { show: 'all', ...item })).json()
      expectRefused(await waypost[dialect].get(history, { ...item, nid }), 404)
    })
  })

  describe('the previous version', () => {
    const previous = '/cs/history/previous'

    test('of a record is the record before it of the same item', async () => {
      const item = await publishedInTurn(['one', 'two'])
      await publishedInTurn(['between'])
      await waypost[dialect].post(configs, { ...item, content: 'three' })
      const [third, second, first] = (await pageOf(item)).pageItems.map((record: Json) => record.id)
      const beforeThird = (await waypost[dialect].get(previous, { ...item, id: third })).json()
      expect(beforeThird).toMatchObject({ id: second, opType: 'U ', content: 'one', md5: md5('one') })
      expect(Object.keys(beforeThird)).toEqual(fields)
      const beforeSecond = (await waypost[dialect].get(previous, { ...item, id: second })).json()
      expect(beforeSecond).toMatchObject({ id: first, opType: 'I ', content: 'one' })
    })

    test('of the first record is a 404', async () => {
      const item = await publishedInTurn(['one', 'two'])
      const first = (await pageOf(item)).pageItems[1].id
      expectRefused(await waypost[dialect].get(previous, { ...item, id: first }), 404)
      const only = await publishedInTurn(['one'])
      const { id } = (await waypost.nacos.get(configs, { show: 'all', ...only })).json()
      expectRefused(await waypost[dialect].get(previous, { ...only, id }), 404)
    })

    test('of the id of an item is the version before the current one', async () => {
      const item = await publishedInTurn(['one', 'two', 'three'])
      const { id } = (await waypost.nacos.get(configs, { show: 'all', ...item })).json()
      const records = (await pageOf(item)).pageItems.map((record: Json) => record.id)
      expect(records).not.toContain(id)
      const answer = (await waypost[dialect].get(previous, { ...item, id })).json()
      expect(answer).toMatchObject({ content: 'two', md5: md5('two') })
    })
  })

  test('records and versions of another item, group or tenant are refused with 403', async () => {
    const item = await publishedInTurn(['secret', 'secrets'], 'blue')
    const other = await publishedInTurn(['mine'], 'blue')
    const { id: itemId } = (await waypost.nacos.get(configs, { show: 'all', ...item })).json()
    const [{ id: last }, { id: first }] = (await pageOf(item)).pageItems
    const asked = [
      ['', { nid: first }],
      ['/previous', { id: last }],
      ['/previous', { id: itemId }],
    ] as const
    const strangers = [other, { ...item, group: 'H' }, { ...item, tenant: 'green' }, { ...item, tenant: '' }]
    for (const stranger of strangers)
      for (const [path, id] of asked) {
        const answer = await waypost[dialect].get(`${history}${path}`, { ...stranger, ...id })
        expectRefused(answer, 403, dialect === 'nacos' ? 'Please check dataId and group.' : '')
        expect(answer.text).not.toContain('secret')
      }
  })

  const page = { search: 'accurate' }
  const refused: [path: string, params: Params, status: number, named?: string][] = [
    ['', { ...page, pageNo: 0 }, 400, 'pageNo'],
    ['', { ...page, pageNo: -1 }, 400, 'pageNo'],
    ['', { ...page, pageNo: 1.5 }, 400, 'pageNo'],
    ['', { ...page, pageSize: 0 }, 400, 'pageSize'],
    ['', { ...page, pageSize: -1 }, 400, 'pageSize'],
    ['', { ...page, pageSize: 'many' }, 400, 'pageSize'],
    ['', { search: 'blur' }, 400],
    ['', {}, 400, 'nid'],
    ['', { nid: 'abc' }, 400, 'nid'],
    ['', { nid: '' }, 400, 'nid'],
    ['', { nid: '1.5' }, 400, 'nid'],
    ['', { nid: '-1' }, 400, 'nid'],
    ['', { nid: '1', dataId: undefined }, 400, 'dataId'],
    ['', { nid: '1', group: undefined }, 400, 'group'],
    ['', { nid: '0' }, 404],
    ['', { nid: '999999999999' }, 404],
    ['/previous', {}, 400, 'id'],
    ['/previous', { id: '1', dataId: undefined }, 400, 'dataId'],
    ['/previous', { id: '1', group: undefined }, 400, 'group'],
    ['/previous', { id: '999999999999' }, 404],
    ['/previous', { id: '999999999998' }, 404],
  ]
  test.each(refused)('%s with %j is a %i', async (...[path, params, status, named]) => {
    const item = await publishedInTurn(['one'])
    const answer = await waypost[dialect].get(`${history}${path}`, { ...item, ...params })
    expectRefused(answer, status, named)
  })
})
