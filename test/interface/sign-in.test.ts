/** Signing in to a real server: the first administrator, tokens, and what is refused. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWaypost, type Waypost } from '../support/waypost.ts'

const item = 'dataId=d&group=G'
const forbidden = (message: string) => ({ status: 403, error: 'Forbidden', message })
let waypost: Waypost

async function answerOf(request: Promise<Response>) {
  const response = await request
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) }
}

const get = (path: string, headers: Record<string, string> = {}) =>
  answerOf(fetch(`${waypost.url}${path}`, { headers }))
const post = (path: string, form = '') =>
  answerOf(fetch(`${waypost.url}${path}`, { method: 'POST', body: new URLSearchParams(form) }))

describe('a server with authentication', () => {
  let token: string

  beforeAll(async () => {
    waypost = await startWaypost({ settings: { auth: 'on' } })
  })
  afterAll(() => waypost.stop())

  test('refuses everything until there is an administrator, who needs the code from the terminal', async () => {
    expect((await get(`/nacos/v1/cs/configs?${item}`)).json()).toMatchObject(forbidden('unknown user!'))
    const state = async () => (await get('/nacos/v1/console/server/state')).json()
    expect(await state()).toMatchObject({ auth_enabled: 'true', auth_admin_request: 'true' })
    const code = /code=([\w-]+)/.exec(waypost.output())?.[1]
    expect((await post('/nacos/v1/auth/users/admin', 'code=x&password=secret')).status).toBe(403)
    const made = await post('/nacos/v1/auth/users/admin', `code=${code}&password=secret`)
    expect(made.json()).toEqual({ username: 'nacos', password: 'secret' })
    expect(await state()).toMatchObject({ auth_admin_request: 'false' })
    const again = await post('/nacos/v1/auth/users/admin', `code=${code}`)
    expect([again.status, again.json().message]).toEqual([409, 'have admin user cannot use it'])
  })

  test.each([
    '/nacos/v1/auth/login',
    '/nacos/v1/auth/users/login',
    '/svc/v1/auth/login',
    '/svc/v1/auth/users/login',
    '/nacos/v3/auth/user/login',
  ])('%s answers a token, wherever the parameters are', async (path) => {
    for (const [query, form] of [
      ['', 'username=nacos&password=secret'],
      ['?username=nacos', 'password=secret'],
      ['?username=nacos&password=secret', ''],
    ] as const) {
      const { headers, json } = await post(`${path}${query}`, form)
      const body = json()
      expect(body).toEqual({
        accessToken: expect.any(String),
        tokenTtl: 18_000,
        globalAdmin: true,
        username: 'nacos',
      })
      expect(headers.get('authorization')).toBe(`Bearer ${body.accessToken}`)
      token = body.accessToken
    }
  })

  test('takes the token as a header or a parameter, and the pair on any call', async () => {
    expect((await post('/nacos/v1/cs/configs', `${item}&content=x&accessToken=${token}`)).text).toBe('true')
    const read = (more: string, headers = {}) => get(`/nacos/v1/cs/configs?${item}${more}`, headers)
    expect((await read('', { Authorization: `Bearer ${token}` })).text).toBe('x')
    expect((await read('', { accessToken: token })).text).toBe('x')
    expect((await read(`&accessToken=${token}`)).text).toBe('x')
    expect((await read('&username=nacos&password=secret')).text).toBe('x')
  })

  test.each([
    ['without credentials', '', 'unknown user!'],
    ['with a wrong password', '&username=nacos&password=other', 'unknown user!'],
    ['with an unknown user', '&username=none&password=secret', 'unknown user!'],
    ['with a token that is none', '&accessToken=abc', 'token invalid!'],
  ])('refuses a call %s', async (_, more, message) => {
    const refused = await get(`/nacos/v1/cs/configs?${item}${more}`)
    expect(refused.json()).toMatchObject(forbidden(message))
  })

  test('shows in its switches that callers must sign in', async () => {
    const { json } = await get(`/nacos/v1/ns/operator/switches?accessToken=${token}`)
    expect(json().enableAuthentication).toBe(true)
  })

  test('stays on at the next start, and tokens still count', async () => {
    await waypost.stop()
    waypost = await startWaypost({ dataDir: waypost.dataDir, port: waypost.port })
    expect((await get(`/nacos/v1/cs/configs?${item}`)).status).toBe(403)
    expect((await get(`/nacos/v1/cs/configs?${item}&accessToken=${token}`)).text).toBe('x')
  })
})

describe('a server without authentication', () => {
  beforeAll(async () => {
    waypost = await startWaypost()
  })
  afterAll(() => waypost.stop())

  test('gives clients that are set up with a user a token without a meaning', async () => {
    for (const path of ['login', 'users/login']) {
      const { json } = await post(`/nacos/v1/auth/${path}`, 'username=ann&password=secret')
      expect(json()).toEqual({
        accessToken: expect.stringMatching(/./),
        tokenTtl: 18_000,
        globalAdmin: false,
        username: 'ann',
      })
    }
    expect((await get(`/nacos/v1/ns/operator/switches`)).json().enableAuthentication).toBe(false)
  })

  test('makes nobody an administrator by the network', async () => {
    expect((await post('/nacos/v1/auth/users/admin', 'code=&password=x')).status).toBe(400)
    expect((await post('/nacos/v1/auth/users/admin', 'code=undefined&password=x')).status).toBe(403)
  })
})

test('each start prints another code until there is an administrator', async () => {
  waypost = await startWaypost({ settings: { auth: 'on' } })
  const codeOf = () => /code=([\w-]+)/.exec(waypost.output())?.[1] ?? ''
  const first = codeOf()
  waypost = await waypost.restart()
  expect(codeOf()).not.toBe(first)
  expect((await post('/svc/v1/auth/users/admin', `code=${first}`)).status).toBe(403)
  expect((await post('/svc/v1/auth/users/admin', `code=${codeOf()}&password=secret`)).status).toBe(200)
  waypost = await waypost.restart()
  expect(codeOf()).toBe('')
  await waypost.stop()
})

describe('a server that only reports', () => {
  beforeAll(async () => {
    waypost = await startWaypost({ settings: { auth: 'report' } })
  })
  afterAll(() => waypost.stop())

  test.each([
    ['without credentials', ''],
    ['with a wrong password', '&username=nacos&password=wrong'],
    ['with a token that is none', '&accessToken=abc'],
  ])('refuses nobody %s, and logs whom it would refuse', async (_, more) => {
    expect((await post(`/nacos/v1/cs/configs?${item}&content=x${more}`)).text).toBe('true')
    expect((await get(`/nacos/v1/cs/configs?${item}${more}`)).text).toBe('x')
    await expect.poll(() => waypost.output()).toContain('this would be refused if authentication were on')
  })

  test('does not refuse a client with a wrong password that sends it again and again', async () => {
    const read = () => get(`/nacos/v1/cs/configs?${item}&username=bob&password=wrong`)
    const answers = await Promise.all(Array.from({ length: 20 }, read))
    expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(['x']))
    const { text } = await post('/nacos/v1/auth/login', 'username=bob&password=wrong')
    expect(JSON.parse(text)).toMatchObject({ accessToken: expect.any(String), globalAdmin: false })
  })

  test('still lets nobody manage users without being signed in as an administrator', async () => {
    expect((await post('/nacos/v1/auth/users', 'username=ann&password=x')).status).toBe(403)
  })
})
