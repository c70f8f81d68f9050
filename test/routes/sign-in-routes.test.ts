/** Signing in, the first administrator, keys, and the sessions of browsers (http-compat.md section 7). */
import { beforeEach, describe, expect, test } from 'vitest'
import { addPermission, addRole, createUser } from '../../src/core/access/access-commands.ts'
import { ADMINISTRATOR_ROLE, SESSION, SIGNING_KEY } from '../../src/core/access/access-records.ts'
import { ANONYMOUS, type Identity } from '../../src/core/access/identity.ts'
import { createFirstKey } from '../../src/core/access/signing-key-commands.ts'
import type { AuditEntry } from '../../src/core/audit/audit-event.ts'
import type { Authorisation } from '../../src/operations/authorisation.ts'
import { newSigningKey } from '../../src/sign-in/signing-keys.ts'
import { type Asked, startFixture } from './fixture.ts'

const SIGNED_IN: Authorisation = { isOn: true, allows: ({ identity }) => identity.kind === 'user' }
const ANN = { username: 'ann', password: 'secret' }
const MINUTE = 60_000

let entries: AuditEntry[]
let at: ReturnType<typeof startFixture>

beforeEach(async () => {
  entries = []
  const trail = { record: (entry: AuditEntry) => void entries.push(entry), tallyOf: () => ({ count: 0 }) }
  at = startFixture({ authorisation: SIGNED_IN, trail })
  await at.engine.execute(createFirstKey(newSigningKey()))
  await at.engine.execute(createUser({ username: 'ann', passwordHash: 'hash of secret' }))
})

const statusAndText = ({ answer, text }: Asked) => [answer?.status, text]
const headersOf = ({ answer }: Asked) => answer?.headers ?? {}

describe.each(['svc', 'nacos'] as const)('/%s', (dialect) => {
  const ask = (path: string, params = {}, identity: Identity = ANONYMOUS) =>
    at[dialect]('POST', `/auth${path}`, { params, identity })

  test.each(['/login', '/users/login'])('%s answers a token', async (path) => {
    const asked = await ask(path, ANN)
    const { accessToken } = JSON.parse(asked.text)
    expect(JSON.parse(asked.text)).toEqual({
      accessToken,
      tokenTtl: 18_000,
      globalAdmin: false,
      username: 'ann',
    })
    expect(headersOf(asked)).toEqual({ Authorization: `Bearer ${accessToken}` })
    expect(await at.signIn.tokens.identify(accessToken)).toMatchObject({ username: 'ann', by: 'token' })
    expect(entries).toMatchObject([{ operation: 'sign in', username: 'ann', result: 'done' }])
  })

  test('every failed login is refused alike', async () => {
    const failed = []
    for (const pair of [{ ...ANN, password: 'other' }, { ...ANN, username: 'bob' }, { username: 'ann' }, {}])
      failed.push(statusAndText(await ask('/login', pair)))
    for (const one of failed) expect(one).toEqual(failed[0])
    expect(failed[0]?.[0]).toBe(403)
    if (dialect === 'nacos') expect(failed[0]?.[1]).toBe('unknown user!')
    else expect(JSON.parse(String(failed[0]?.[1]))).toMatchObject({ status: 403 })
  })

  test('a user who failed too often must wait', async () => {
    for (let turn = 0; turn < 5; turn++) await ask('/login', { ...ANN, password: `${turn}` })
    const slowed = await ask('/login', ANN)
    expect([slowed.answer?.status, headersOf(slowed)['Retry-After']]).toEqual([429, '1'])
    expect(entries.at(-1)).toMatchObject({ operation: 'sign in', result: 'refused', code: 'sign-in-slowed' })
    expect(JSON.stringify(entries)).not.toContain('secret')
  })

  test('the first administrator needs the code, and is made once', async () => {
    const path = '/users/admin'
    expect((await ask(path, { password: 'p' })).answer?.status).toBe(400)
    expect((await ask(path, { code: 'wrong', password: 'p' })).answer?.status).toBe(403)
    const code = at.signIn.firstCode.text
    const made = await ask(path, { code, password: 'p' })
    expect(JSON.parse(made.text)).toEqual({ username: 'nacos', password: 'p' })
    const again = await ask(path, { code, password: 'q' })
    expect(again.answer?.status).toBe(409)
    if (dialect === 'nacos') expect(JSON.parse(again.text).message).toBe('have admin user cannot use it')
    const { text } = await ask('/login', { username: 'nacos', password: 'p' })
    expect(JSON.parse(text)).toMatchObject({ globalAdmin: true })
  })

  test('the first administrator gets a random password where it names none', async () => {
    const { text } = await ask('/users/admin', { code: at.signIn.firstCode.text })
    const { username, password } = JSON.parse(text)
    expect(password).toMatch(/^[\w-]{22}$/)
    expect((await ask('/login', { username, password })).answer?.status).toBe(200)
  })

  test('wrong codes are slowed like wrong passwords', async () => {
    for (let turn = 0; turn < 5; turn++) await ask('/users/admin', { code: `${turn}` })
    const code = at.signIn.firstCode.text
    expect((await ask('/users/admin', { code })).answer?.status).toBe(429)
  })

  test('a rotated key signs, and the old one verifies until its tokens have expired', async () => {
    const [oldId] = [...at.state.records(SIGNING_KEY)][0]!
    expect((await ask('/keys/rotate')).answer?.status).toBe(403)
    const identity = { kind: 'user', by: 'token', username: 'ann', credentialStamp: 1, expiresMs: 1 } as const
    const { text } = await ask('/keys/rotate', {}, identity)
    const { keyId, oldKeySeconds } = JSON.parse(text)
    expect(oldKeySeconds).toBe(18_000)
    expect([...at.state.records(SIGNING_KEY)].map(([id]) => id)).toEqual([oldId, keyId])
    expect(text + JSON.stringify(entries)).not.toContain(at.state.record(SIGNING_KEY, keyId)?.secret)
    const leaked = await ask('/keys/rotate', { leaked: 'true' }, identity)
    expect(JSON.parse(leaked.text).oldKeySeconds).toBe(0)
  })
})

describe('the session of a browser', () => {
  const SESSION_PATH = '/console/session'
  const begin = (sent: object = {}) => at.svc('POST', SESSION_PATH, { params: ANN, ...sent })
  /** The cookie that a browser sends after this answer. */
  const cookieOf = (asked: Asked) => (headersOf(asked)['Set-Cookie'] ?? '').split(';')[0]!
  const identityOf = (cookie: string) => at.signIn.sessions.identify(cookie.split('=')[1]!)
  const show = (cookie: string) => at.svc('GET', SESSION_PATH, { identity: identityOf(cookie) })

  test('begins with a cookie that scripts and other sites cannot use', async () => {
    const asked = await begin()
    expect(asked.answer?.status).toBe(200)
    expect(headersOf(asked)['Set-Cookie']).toMatch(
      /^waypost-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    )
  })

  test('has a cookie for this host and TLS only where the browser speaks TLS', async () => {
    const asked = await begin({ isSecure: true })
    expect(headersOf(asked)['Set-Cookie']).toMatch(
      /^__Host-waypost-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    )
  })

  test('is stored without what the browser has', async () => {
    const id = cookieOf(await begin()).split('=')[1]!
    expect(JSON.stringify([...at.state.records(SESSION)])).not.toContain(id)
    expect(JSON.stringify(entries)).not.toContain(id)
  })

  test('does not begin with a wrong password, and wrong ones are slowed', async () => {
    const wrong = { params: { ...ANN, password: 'other' } }
    for (let turn = 0; turn < 5; turn++) {
      const asked = await begin(wrong)
      expect([asked.answer?.status, cookieOf(asked)]).toEqual([403, ''])
    }
    expect((await begin()).answer?.status).toBe(429)
    expect(at.state.recordCount(SESSION)).toBe(0)
  })

  test('shows the user, with roles and permissions', async () => {
    const permission = { resource: 'dev:*:*', action: 'r' } as const
    await at.engine.execute(addRole({ username: 'ann', role: 'devs' }))
    await at.engine.execute(addPermission({ role: 'devs', ...permission }))
    const begun = await begin()
    const { text } = await show(cookieOf(begun))
    const user = { username: 'ann', globalAdmin: false, roles: ['devs'], permissions: [permission] }
    expect(JSON.parse(text)).toEqual(user)
    expect(JSON.parse(begun.text)).toEqual(user)
    await at.engine.execute(addRole({ username: 'ann', role: ADMINISTRATOR_ROLE }))
    expect(JSON.parse((await show(cookieOf(begun))).text)).toMatchObject({ globalAdmin: true })
  })

  test('is refused to nobody', async () => {
    expect((await at.svc('GET', SESSION_PATH)).answer?.status).toBe(403)
  })

  test('ends when the user signs out, with its cookie', async () => {
    const cookie = cookieOf(await begin())
    const other = cookieOf(await begin())
    const asked = await at.svc('DELETE', SESSION_PATH, {
      headers: { cookie: `a=b; ${cookie}; c=d` },
      identity: identityOf(cookie),
    })
    expect(headersOf(asked)['Set-Cookie']).toBe(
      'waypost-session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict',
    )
    expect([identityOf(cookie), identityOf(other)]).toMatchObject([
      { kind: 'not-signed-in', code: 'token-expired' },
      { kind: 'user', username: 'ann', by: 'session' },
    ])
    expect(entries.at(-1)).toMatchObject({ operation: 'sign out', username: 'ann', by: 'session' })
  })

  test('a session that is none ends without an event: nobody fills the audit with made-up cookies', async () => {
    const headers = { cookie: `waypost-session=${'a'.repeat(43)}` }
    expect((await at.svc('DELETE', SESSION_PATH, { headers })).answer?.status).toBe(200)
    expect(entries).toEqual([])
  })

  test.each([undefined, '', 'waypost-session=', 'waypost-session=x', `xwaypost-session=${'a'.repeat(43)}`])(
    'ends nothing with the cookie %s',
    async (cookie) => {
      await begin()
      const headers = cookie === undefined ? {} : { cookie }
      expect((await at.svc('DELETE', SESSION_PATH, { headers })).answer?.status).toBe(200)
      expect(at.state.recordCount(SESSION)).toBe(1)
    },
  )

  test('counts with TLS only by the cookie that no other name of the domain can set', async () => {
    const cookie = cookieOf(await begin())
    const headers = { cookie }
    await at.svc('DELETE', SESSION_PATH, { headers, isSecure: true })
    expect(at.state.recordCount(SESSION)).toBe(1)
  })

  test('writes its use once a minute', async () => {
    const cookie = cookieOf(await begin())
    const usedMs = () => [...at.state.records(SESSION)][0]![1].usedMs
    const begunMs = usedMs()
    at.clock.nowMs += MINUTE - 1
    identityOf(cookie)
    at.clock.nowMs += 1
    identityOf(cookie)
    identityOf(cookie)
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    expect(usedMs()).toBe(begunMs + MINUTE)
  })
})
