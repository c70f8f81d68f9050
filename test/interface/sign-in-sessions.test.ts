/** The session of a browser with a real server: its cookie, what it may do, and how it ends. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWaypost, type Waypost } from '../support/waypost.ts'

const SESSION = '/svc/v1/console/session'
const ITEM = '/svc/v1/cs/configs?dataId=d&group=G'
const MOZILLA = 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0'
let waypost: Waypost
let form: string

beforeAll(async () => {
  waypost = await startWaypost({ settings: { auth: 'on', 'trusted-proxies': '127.0.0.1' } })
  const code = /code=([\w-]+)/.exec(waypost.output())?.[1]
  const { text } = await send('POST', '/svc/v1/auth/users/admin', { form: `code=${code}` })
  form = new URLSearchParams(JSON.parse(text) as Record<string, string>).toString()
})
afterAll(() => waypost.stop())

interface Sent {
  readonly form?: string
  readonly headers?: Record<string, string>
}

/** Sends a request as the browser of a page of the server sends it, without a cookie. */
async function send(method: string, path: string, { form: body = '', headers = {} }: Sent = {}) {
  const own = { origin: waypost.url, 'sec-fetch-site': 'same-origin', 'user-agent': MOZILLA }
  const withBody = method === 'POST' ? { body: new URLSearchParams(body) } : {}
  const response = await fetch(`${waypost.url}${path}`, {
    method,
    headers: { ...own, ...headers },
    ...withBody,
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

async function signIn(headers: Record<string, string> = {}): Promise<string> {
  const answer = await send('POST', SESSION, { form, headers })
  return answer.headers.get('set-cookie')?.split(';')[0] ?? ''
}

const withCookie = (method: string, path: string, cookie: string) =>
  send(method, path, { form: 'content=x', headers: { cookie } })

describe('a browser', () => {
  test('reads and writes with the cookie, and is refused without it', async () => {
    expect((await send('GET', SESSION)).status).toBe(403)
    expect((await send('GET', ITEM)).status).toBe(403)
    const cookie = await signIn()
    expect(JSON.parse((await withCookie('GET', SESSION, cookie)).text)).toEqual({
      username: 'nacos',
      globalAdmin: true,
      roles: ['ROLE_ADMIN'],
      permissions: [],
    })
    expect((await withCookie('POST', ITEM, cookie)).status).toBe(200)
    expect((await withCookie('GET', ITEM, cookie)).text).toBe('x')
  })

  test('keeps its session over a restart of the server', async () => {
    const cookie = await signIn()
    waypost = await waypost.restart()
    expect((await withCookie('GET', SESSION, cookie)).status).toBe(200)
  })

  test('is signed out at once', async () => {
    const [cookie, other] = [await signIn(), await signIn()]
    const { headers } = await withCookie('DELETE', SESSION, cookie)
    expect(headers.get('set-cookie')).toMatch(/^waypost-session=; Max-Age=0;/)
    expect((await withCookie('GET', ITEM, cookie)).status).toBe(403)
    expect((await withCookie('GET', SESSION, other)).status).toBe(200)
  })

  test('is signed out by another password', async () => {
    const cookie = await signIn()
    const old = new URLSearchParams(form)
    const change = `username=nacos&oldPassword=${old.get('password')}&newPassword=another`
    expect((await withCookie('PUT', `/svc/v1/auth/users?${change}`, cookie)).status).toBe(200)
    expect((await withCookie('GET', ITEM, cookie)).status).toBe(403)
    expect(await signIn()).toBe('')
    form = 'username=nacos&password=another'
    expect(await signIn()).toMatch(/^waypost-session=/)
  })
})

describe('behind a trusted proxy with TLS', () => {
  const https = { 'x-forwarded-proto': 'https' }

  test('the cookie is for this host and for TLS alone', async () => {
    const secure = await signIn(https)
    expect(secure).toMatch(/^__Host-waypost-session=[\w-]{43}$/)
    const statusWith = async (cookie: string) =>
      (await send('GET', SESSION, { headers: { ...https, cookie } })).status
    expect([await statusWith(secure), await statusWith(secure.replace('__Host-', ''))]).toEqual([200, 403])
  })
})

describe('a page of another site', () => {
  const evil = { origin: 'http://evil.example', 'sec-fetch-site': 'cross-site' }

  test.each([
    ['signs nobody in', 'POST', SESSION],
    ['signs nobody out', 'DELETE', SESSION],
    ['gets no token', 'POST', '/svc/v1/auth/login'],
    ['gets no token from the other dialect', 'POST', '/nacos/v1/auth/users/login'],
    ['makes no administrator', 'POST', '/nacos/v1/auth/users/admin'],
    ['rotates no key', 'POST', '/svc/v1/auth/keys/rotate'],
    ['writes nothing with the cookie of its visitor', 'POST', ITEM],
  ])('%s', async (_, method, path) => {
    const cookie = await signIn()
    const forged = await send(method, path, { form, headers: { ...evil, cookie } })
    expect([forged.status, forged.headers.get('set-cookie')]).toEqual([403, null])
    expect(forged.text).toMatch(/cross-site|allowed-hosts/)
    expect((await withCookie('GET', SESSION, cookie)).status).toBe(200)
  })
})

test('a key that has leaked is replaced at once, and sessions go on', async () => {
  const cookie = await signIn()
  const login = async () => JSON.parse((await send('POST', '/svc/v1/auth/login', { form })).text).accessToken
  const read = async (token: string) => (await send('GET', `${ITEM}&accessToken=${token}`)).status
  const first = await login()
  await withCookie('POST', '/svc/v1/auth/keys/rotate', cookie)
  expect(await read(first)).toBe(200)
  const second = await login()
  await withCookie('POST', '/svc/v1/auth/keys/rotate?leaked=true', cookie)
  expect([await read(first), await read(second), await read(await login())]).toEqual([403, 403, 200])
  expect((await withCookie('GET', SESSION, cookie)).status).toBe(200)
})
