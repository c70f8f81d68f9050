/** Users, roles and permissions of a real server: who may do what, and how soon a change counts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ManagedWaypost, startManaged } from '../support/administrator.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'

const SECRET = 'p4ssw0rd'
let managed: ManagedWaypost
let waypost: Waypost
let admin: string

interface Sent {
  readonly query?: Record<string, string>
  readonly form?: Record<string, string>
  readonly token?: string
}

async function ask(method: string, path: string, { query = {}, form, token }: Sent = {}) {
  const url = `${waypost.url}${path}?${new URLSearchParams(query)}`
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` }
  const body = form === undefined ? {} : { body: new URLSearchParams(form) }
  const response = await fetch(url, { method, headers, ...body })
  return { status: response.status, text: await response.text() }
}

/** An administrator's call under /nacos/v1/auth. */
async function manage(method: string, path: string, query: Record<string, string>): Promise<string> {
  const { status, text } = await ask(method, `/nacos/v1/auth${path}`, { query, token: admin })
  expect(status, text).toBe(200)
  return JSON.parse(text).message
}

/** Makes a user with a role of its own, and answers its token. */
async function userWith(username: string, ...permissions: [resource: string, action: 'r' | 'rw'][]) {
  await managed.addUser({ username, password: SECRET, permissions: Object.fromEntries(permissions) })
  return managed.tokenOf(username, SECRET)
}

const key = { dataId: 'app.yaml', group: 'G' }
const read = async (token: string, more: Record<string, string> = {}) =>
  (await ask('GET', '/nacos/v1/cs/configs', { query: { ...key, ...more }, token })).status
const write = async (token: string, more: Record<string, string> = {}) =>
  (await ask('POST', '/nacos/v1/cs/configs', { form: { ...key, content: 'x', ...more }, token })).status

beforeAll(async () => {
  managed = await startManaged()
  waypost = managed.waypost
  admin = await managed.tokenOf('nacos')
})
afterAll(() => waypost.stop())

test('a user may do what the permissions of its roles say, and nothing else', async () => {
  expect(await write(admin)).toBe(200)
  const token = await userWith('reader', [':G:config/app-*', 'r'], [':G:config/app.yaml', 'r'])
  expect(await read(token)).toBe(200)
  expect(await read(token, { tenant: 'public' })).toBe(200)
  expect(await read(token, { tenant: 'dev' })).toBe(403)
  expect(await read(token, { dataId: 'other.yaml' })).toBe(403)
  expect(await write(token)).toBe(403)
  for (const [method, path] of [
    ['GET', '/users'],
    ['GET', '/users/search'],
    ['GET', '/roles'],
    ['GET', '/permissions'],
  ] as const) {
    const refused = await ask(method, `/svc/v1/auth${path}`, { token })
    expect(refused.status).toBe(403)
  }
})

test('what an administrator takes counts for the next request with the same token', async () => {
  const permission = { role: 'writers', resource: ':G:*', action: 'rw' }
  const token = await userWith('writer', [permission.resource, 'rw'])
  const seen = [await write(token)]
  await manage('DELETE', '/permissions', { ...permission, resource: 'public:G:*' })
  seen.push(await write(token))
  await manage('POST', '/permissions', permission)
  seen.push(await write(token))
  await manage('DELETE', '/roles', { role: 'writers', username: 'writer' })
  seen.push(await write(token))
  await manage('POST', '/roles', { role: 'writers', username: 'writer' })
  seen.push(await write(token))
  await manage('DELETE', '/users', { username: 'writer' })
  seen.push(await write(token))
  expect(seen).toEqual([200, 403, 200, 403, 200, 403])
})

test('a user that is made again does not get what the one before had', async () => {
  const token = await userWith('again', [':*:*', 'rw'])
  await manage('DELETE', '/users', { username: 'again' })
  await manage('POST', '/users', { username: 'again', password: SECRET })
  expect(await read(token)).toBe(403)
  expect(await read(await managed.tokenOf('again', SECRET))).toBe(403)
})

describe('passwords', () => {
  test('are changed by their users with the old one, and tokens of the old one end', async () => {
    const token = await userWith('changer', [':*:*', 'r'])
    const change = { username: 'changer', newPassword: 'new one' }
    const put = (query: Record<string, string>) => ask('PUT', '/svc/v1/auth/users', { query, token })
    expect((await put(change)).status).toBe(403)
    const wrong = await put({ ...change, oldPassword: 'wrong' })
    expect([wrong.status, JSON.parse(wrong.text).detail]).toEqual([403, 'The old password is wrong.'])
    expect((await put({ ...change, username: 'nacos', oldPassword: SECRET })).status).toBe(403)
    expect(await read(token)).toBe(200)
    expect((await put({ ...change, oldPassword: SECRET })).status).toBe(200)
    expect(await read(token)).toBe(403)
    expect(await managed.tokenOf('nacos')).toEqual(expect.any(String))
    expect(await read(await managed.tokenOf('changer', 'new one'))).toBe(200)
  })

  test('do not sign in the caller of a route that is about another user', async () => {
    const { status } = await ask('DELETE', '/nacos/v1/auth/users', {
      query: { username: 'nacos', password: 'secret' },
    })
    expect(status).toBe(403)
  })
})

test('users, roles and permissions are there after a restart', async () => {
  const token = await userWith('stayer', [':*:*', 'r'])
  await waypost.stop()
  waypost = await startWaypost({ dataDir: waypost.dataDir, port: waypost.port })
  expect([await read(token), await write(token)]).toEqual([200, 403])
  const users = await ask('GET', '/nacos/v1/auth/users', { query: { pageSize: '1' }, token: admin })
  expect(JSON.parse(users.text)).toMatchObject({
    pageNumber: 1,
    pageItems: [{ username: 'nacos', password: '' }],
  })
})

test('no password is in the output of the server', () => {
  expect(waypost.output()).not.toContain(SECRET)
})
