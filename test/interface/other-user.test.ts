/** A page says for whom its requests are meant: the cookie that all pages share may be another user's by then. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'

let managed: ManagedWaypost
let cookie: string
const ITEM = { dataId: 'item', group: 'G' }

beforeAll(async () => {
  managed = await startManaged()
  for (const username of ['alice', 'Zoë %'])
    await managed.addUser({ username, password: 'secret', permissions: { ':*:*': 'rw' } })
  cookie = await session('Zoë %')
})
afterAll(() => managed?.waypost.stop())

const ask = (path: string, init: RequestInit = {}) => fetch(`${managed.waypost.url}${path}`, init)

async function session(username: string, headers: Record<string, string> = {}, password = 'secret') {
  const body = new URLSearchParams({ username, password })
  const answer = await ask('/svc/v1/console/session', { method: 'POST', body, headers })
  return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
}

const publish = (path: string, headers: Record<string, string>) =>
  ask(path, { method: 'POST', headers, body: new URLSearchParams({ ...ITEM, content: 'x' }) })

describe('a request with a cookie', () => {
  const PATHS = ['/svc/v1/cs/configs', '/nacos/v1/cs/configs', '/nacos/v2/cs/config']

  test.each(PATHS)('that is meant for another user does nothing (%s)', async (path) => {
    const answer = await publish(path, { cookie, 'Waypost-User': 'alice' })
    expect(answer.status).toBe(409)
    const there = await ask(`/svc/v1/cs/configs?${new URLSearchParams(ITEM)}`, { headers: { cookie } })
    expect(there.status).toBe(404)
  })

  test('says so in the parameter of an address too', async () => {
    const answer = await ask('/svc/v1/console/events?forUser=alice', { headers: { cookie } })
    expect(answer.status).toBe(409)
    expect(await answer.json()).toMatchObject({ type: 'urn:waypost:problem:other-user' })
  })

  test.each([{}, { 'Waypost-User': encodeURIComponent('Zoë %') }])(
    'that is meant for its user, or says nothing, is carried out %#',
    async (meant) => {
      const answer = await publish('/svc/v1/cs/configs', { cookie, ...meant })
      expect(answer.status).toBe(200)
    },
  )
})

test('a token says who it is, whatever else is said', async () => {
  const authorization = `Bearer ${await managed.tokenOf('alice')}`
  const answer = await publish('/svc/v1/cs/configs', {
    authorization,
    cookie,
    'Waypost-User': 'Zoë'.slice(0, 2),
  })
  expect(answer.status).toBe(200)
})

describe('a sign-in in a browser that had a session', () => {
  const statusOf = async (own: string) =>
    (await ask('/svc/v1/console/session', { headers: { cookie: own } })).status

  test('ends that session, and a failed one ends nothing', async () => {
    const first = await session('alice')
    expect(await session('alice', { cookie: first }, 'wrong')).toBe('')
    expect(await statusOf(first)).toBe(200)
    const second = await session('Zoë %', { cookie: first })
    expect([await statusOf(first), await statusOf(second)]).toEqual([403, 200])
  })
})
