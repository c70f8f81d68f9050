import { beforeEach, describe, expect, test } from 'vitest'
import { startFixture } from './fixture.ts'

let at: ReturnType<typeof startFixture>
beforeEach(() => (at = startFixture()))

const item = { dataId: 'app', group: 'G' }

/** Publishes the contents one after the other; the ids of their records are 3, 5, 7 and so on. */
async function publishAll(contents: string[], named: Record<string, string> = item) {
  for (const content of contents) await at.nacos('POST', '/cs/configs', { params: { ...named, content } })
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

  test('is listed with its fields in their order, the texts left out', async () => {
    await publishAll(['one', 'two'])
    const answer = await list()
    expect(answer).toMatchObject({ status: 200, contentType })
    const time = '2026-11-21T11:31:18.579+0000'
    const record = {
      id: '5',
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
    }
    const page = { totalCount: 2, pageNumber: 1, pagesAvailable: 1 }
    const pageItems = [record, { ...record, id: '3', opType: 'I ' }]
    expect(answer.text).toBe(JSON.stringify({ ...page, pageItems }))
  })

  test('is told record by record, and from there backwards', async () => {
    await publishAll(['one', 'two', 'three'])
    expect((await get('/cs/history', { nid: '7' })).json()).toMatchObject({ id: '7', content: 'two' })
    expect((await get('/cs/history/previous', { id: '7' })).json()).toMatchObject({ id: '5', content: 'one' })
    expect((await get('/cs/history/previous', { id: '5' })).json()).toMatchObject({ id: '3', opType: 'I ' })
    expect((await get('/cs/history/previous', { id: '3' })).status).toBe(404)
    expect((await get('/cs/history/previous', { id: '2' })).json()).toMatchObject({ id: '7', content: 'two' })
  })

  test('has no version before the only one', async () => {
    await publishAll(['one'])
    expect((await get('/cs/history/previous', { id: '2' })).status).toBe(404)
  })

  test('does not tell records or ids of another item, group or tenant', async () => {
    await publishAll(['secret', 'secrets'])
    for (const other of [{ dataId: 'x' }, { group: 'H' }, { tenant: 'blue' }] as Record<string, string>[]) {
      for (const [path, id] of [
        ['', { nid: '3' }],
        ['/previous', { id: '5' }],
        ['/previous', { id: '2' }],
      ] as const) {
        const answer = await get(`/cs/history${path}`, { ...other, ...id })
        expect(answer.status).toBe(403)
        expect(answer.text).not.toContain('secret')
      }
    }
  })

  test.each([
    ['', { nid: '99' }, 404],
    ['', { nid: '2' }, 404],
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

  test('asks for the nid where nothing says what is wanted', async () => {
    expect((await get('/cs/history', {})).text).toContain('nid')
  })

  test('has pages of 100, never of more than 500', async () => {
    await publishAll(Array.from({ length: 501 }, (_, n) => `value ${n}`))
    expect((await list()).json().pageItems).toHaveLength(100)
    expect((await list({ pageSize: '9999' })).json()).toMatchObject({ totalCount: 501, pagesAvailable: 2 })
    expect((await list({ pageSize: '9999' })).json().pageItems).toHaveLength(500)
    expect((await list({ pageNo: '7' })).json()).toMatchObject({ pageNumber: 7, pageItems: [] })
  })
})
