import { beforeEach, describe, expect, test } from 'vitest'
import { configKey } from '../../src/core/config/state/config-item.ts'
import { startFixture } from './fixture.ts'

let at: ReturnType<typeof startFixture>
beforeEach(() => (at = startFixture()))

const item = { dataId: 'app', group: 'G' }

/** The further fields of 2.x in a list. */
const JAVA_FIELDS = {
  publishType: 'formal',
  grayName: '',
  extInfo: '{"type":"text"}',
  encryptedDataKey: null,
}

/** Publishes the contents one after the other; answers the id of the item and those of its records, oldest first. */
async function publishAll(contents: string[]) {
  for (const content of contents) await at.nacos('POST', '/cs/configs', { params: { ...item, content } })
  const { entries } = await at.store.history(configKey('public', 'G', 'app'), { pageNo: 1, pageSize: 1_000 })
  const ids = entries.map(({ id }) => id).reverse()
  const ofItem = at.state.config(configKey('public', 'G', 'app'))?.origin.id
  return { itemId: String(ofItem), ids: ids.map(String) }
}

describe.each([
  ['svc', 'application/json'],
  ['nacos', 'application/json;charset=UTF-8'],
] as const)('%s: the history of an item', (dialect, contentType) => {
  const get = async (path: string, params: Record<string, string>) => {
    const asked = await at[dialect]('GET', path, { params: { ...item, ...params } })
    return { ...asked.answer, json: () => JSON.parse(asked.text), text: asked.text }
  }
  const list = (params: Record<string, string> = {}) => get('/cs/history', { search: 'accurate', ...params })

  test('is listed with its fields in order, without the texts', async () => {
    const { ids } = await publishAll(['one', 'two'])
    const answer = await list()
    expect(answer).toMatchObject({ status: 200, contentType })
    const time = '2026-11-21T11:31:18.579+0000'
    const record = {
      id: ids[1],
      lastId: -1,
      ...item,
      tenant: '',
      appName: '',
      md5: null,
      content: null,
      srcIp: '10.9.9.9',
      srcUser: null,
      opType: 'U ',
      createdTime: time,
      lastModifiedTime: time,
      ...(dialect === 'nacos' ? JAVA_FIELDS : {}),
    }
    const page = { totalCount: 2, pageNumber: 1, pagesAvailable: 1 }
    const pageItems = [record, { ...record, id: ids[0], opType: 'I ' }]
    expect(answer.text).toBe(JSON.stringify({ ...page, pageItems }))
  })

  test('has each record, and the record before it', async () => {
    const { itemId, ids } = await publishAll(['one', 'two', 'three'])
    const [one = '', two = '', three = ''] = ids
    const previous = async (id: string) => get('/cs/history/previous', { id })
    expect((await get('/cs/history', { nid: three })).json()).toMatchObject({ id: three, content: 'two' })
    expect((await previous(three)).json()).toMatchObject({ id: two, content: 'one' })
    expect((await previous(two)).json()).toMatchObject({ id: one, opType: 'I ' })
    expect((await previous(one)).status).toBe(404)
    expect((await previous(itemId)).json()).toMatchObject({ id: three, content: 'two' })
  })

  test('has no version before its first one', async () => {
    const { itemId } = await publishAll(['one'])
    expect((await get('/cs/history/previous', { id: itemId })).status).toBe(404)
  })

  test('does not show records or ids of another item, group or tenant', async () => {
    const { itemId, ids } = await publishAll(['secret', 'secrets'])
    const [first = '', second = ''] = ids
    for (const other of [{ dataId: 'x' }, { group: 'H' }, { tenant: 'blue' }] as Record<string, string>[]) {
      for (const [path, id] of [
        ['', { nid: first }],
        ['/previous', { id: second }],
        ['/previous', { id: itemId }],
      ] as const) {
        const answer = await get(`/cs/history${path}`, { ...other, ...id })
        expect(answer.status).toBe(403)
        expect(answer.text).not.toContain('secret')
      }
    }
  })

  test.each([
    ['', { nid: '99' }, 404],
    ['', { nid: '0' }, 404],
    ['/previous', { id: '99' }, 404],
    ['/previous', { id: '98' }, 404],
    ['', { nid: 'x' }, 400],
    ['', {}, 400],
    ['', { search: 'blur' }, 400],
    ['', { search: 'accurate', pageNo: '0' }, 400],
    ['', { search: 'accurate', pageSize: '-1' }, 400],
    ['/previous', {}, 400],
  ])('%s %j is a %i', async (path, params, status) => {
    await publishAll(['one'])
    expect((await get(`/cs/history${path}`, { ...params })).status).toBe(status)
  })

  test('the id of an item is not that of a record', async () => {
    const { itemId } = await publishAll(['one'])
    expect((await get('/cs/history', { nid: itemId })).status).toBe(404)
  })

  test('requires nid if no id is given', async () => {
    expect((await get('/cs/history', {})).text).toContain('nid')
  })

  test('has pages of 100 by default, and of at most 500', async () => {
    await publishAll(Array.from({ length: 501 }, (_, n) => `value ${n}`))
    expect((await list()).json().pageItems).toHaveLength(100)
    expect((await list({ pageSize: '9999' })).json()).toMatchObject({ totalCount: 501, pagesAvailable: 2 })
    expect((await list({ pageSize: '9999' })).json().pageItems).toHaveLength(500)
    expect((await list({ pageNo: '7' })).json()).toMatchObject({ pageNumber: 7, pageItems: [] })
  })
})
