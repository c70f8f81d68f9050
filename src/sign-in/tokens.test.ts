import { SignJWT } from 'jose'
import { beforeEach, describe, expect, test } from 'vitest'
import { addRole, createUser, replaceHash, setPassword } from '../core/access/access-commands.ts'
import { SIGNING_KEY, USER, problemOf } from '../core/access/access-records.ts'
import { importUser } from '../core/access/import-access.ts'
import { createFirstKey, rotateKeys } from '../core/access/signing-key-commands.ts'
import { at, carryOut, WALL_MS } from '../core/core.test-support.ts'
import { State } from '../core/engine/state.ts'
import { Tokens } from './tokens.ts'

const HOUR = 3_600_000
const secret = Buffer.alloc(32, 7).toString('base64url')
let state: State
let clock: { nowMs: number }
let tokens: Tokens

beforeEach(() => {
  state = new State(WALL_MS)
  clock = { nowMs: WALL_MS }
  carryOut(state, createFirstKey({ id: 'key 1', secret }), at(0))
  carryOut(state, createUser({ username: 'ann', passwordHash: 'h' }), at(0))
  tokens = startTokens()
})

const startTokens = () => new Tokens({ records: state, nowMs: () => clock.nowMs, ttlMs: 5 * HOUR })
const ann = () => state.record(USER, 'ann')!
const issue = async () => (await tokens.issue(ann())).token
const codeOf = async (token: string) => {
  const identity = await tokens.identify(token)
  return identity.kind === 'not-signed-in' ? identity.code : identity.kind
}

/** A token as somebody else could make it. */
function forged(
  { alg = 'HS256', kid = 'key 1', key = secret, exp = WALL_MS / 1000 + 60 },
  claims: object = { stamp: ann().credentialStamp },
): Promise<string> {
  const jwt = new SignJWT({ ...claims }).setProtectedHeader({ alg, ...(kid === '' ? {} : { kid }) })
  jwt.setSubject('ann').setExpirationTime(exp)
  return jwt.sign(Buffer.from(key, 'base64url'))
}

test('a token says who it is of, until when, and with which password and key', async () => {
  const { token, ttlSeconds } = await tokens.issue(ann())
  expect(ttlSeconds).toBe(5 * 3_600)
  expect(await startTokens().identify(token)).toEqual({
    kind: 'user',
    by: 'token',
    username: 'ann',
    credentialStamp: ann().credentialStamp,
    expiresMs: WALL_MS + 5 * HOUR,
    signedInMs: Math.floor(WALL_MS / 1000) * 1000,
    keyId: 'key 1',
    keyStamp: expect.any(Number),
  })
})

describe('a renewed token', () => {
  const renewed = async (token: string) => {
    const identity = await tokens.identify(token)
    if (identity.kind !== 'user') throw new Error(identity.kind)
    return tokens.renew(identity)
  }

  test('counts as long as a new one, up to 12 hours after the password', async () => {
    const first = await issue()
    clock.nowMs += 4 * HOUR
    const second = await renewed(first)
    expect(second?.ttlSeconds).toBe(5 * 3_600)
    clock.nowMs += 4 * HOUR
    const third = await renewed(second!.token)
    // Eight hours are over; times are whole seconds.
    expect(third!.ttlSeconds).toBeGreaterThanOrEqual(4 * 3_600 - 1)
    expect(third!.ttlSeconds).toBeLessThanOrEqual(4 * 3_600)
    clock.nowMs += 4 * HOUR
    expect(await codeOf(third!.token)).toBe('token-expired')
  })

  test('is not made of one that does not count', async () => {
    const token = await issue()
    const identity = await tokens.identify(token)
    if (identity.kind !== 'user') throw new Error(identity.kind)
    carryOut(state, setPassword({ username: 'ann', passwordHash: 'other' }), at(1))
    expect(tokens.renew(identity)).toBeUndefined()
    expect(tokens.renew({ ...identity, username: 'nobody' })).toBeUndefined()
    clock.nowMs += 6 * HOUR
    expect(tokens.renew({ ...identity, credentialStamp: ann().credentialStamp })).toBeUndefined()
  })

  test('is not made of one that says nothing of its sign-in', async () => {
    const identity = await tokens.identify(await forged({}))
    if (identity.kind !== 'user') throw new Error(identity.kind)
    expect(tokens.renew(identity)).toBeUndefined()
  })
})

test('a token that was verified is known at once', async () => {
  const token = await issue()
  expect(tokens.known(token)).toBeUndefined()
  const identity = await tokens.identify(token)
  expect(tokens.known(token)).toBe(identity)
  expect(tokens.identify(token)).toBe(identity)
  expect(tokens.known(`${token}x`)).toBeUndefined()
})

test('a token that anybody else made or changed does not count', async () => {
  const token = await issue()
  const [header = '', payload = '', signature = ''] = token.split('.')
  const other = Buffer.from(JSON.stringify({ sub: 'root', stamp: 1, exp: 2e9 })).toString('base64url')
  const none = Buffer.from(JSON.stringify({ alg: 'none', kid: 'key 1' })).toString('base64url')
  for (const text of [
    '',
    'abc',
    'a.b.c',
    `${header}.${payload}.`,
    `${header}.${payload}`,
    `${header}.${other}.${signature}`,
    `${none}.${payload}.`,
    `${none}.${payload}.${signature}`,
    `${token}a`,
    'x'.repeat(5_000),
    `${token}.${'x'.repeat(5_000)}`,
  ])
    expect(await codeOf(text)).toBe('token-invalid')
})

test('a token with another key, key id, algorithm or claims does not count', async () => {
  expect(await codeOf(await forged({}))).toBe('user')
  const longKey = Buffer.alloc(64, 7).toString('base64url')
  for (const token of [
    await forged({ key: Buffer.alloc(32, 8).toString('base64url') }),
    await forged({ kid: 'key 2' }),
    await forged({ kid: '' }),
    await forged({ alg: 'HS512', key: longKey }),
    await forged({}, {}),
    await forged({}, { stamp: 'x' }),
  ])
    expect(await codeOf(token)).toBe('token-invalid')
})

test('a token expires', async () => {
  const token = await issue()
  clock.nowMs += 5 * HOUR - 1_000
  expect(await codeOf(token)).toBe('user')
  clock.nowMs += 1_000
  tokens = startTokens()
  expect(await codeOf(token)).toBe('token-expired')
  expect(await codeOf(await forged({ exp: 1 }))).toBe('token-expired')
})

describe('after a rotation', () => {
  test('the new key signs, and the old one verifies', async () => {
    const old = await issue()
    carryOut(
      state,
      rotateKeys({ id: 'key 2', secret: Buffer.alloc(32, 9).toString('base64url') }, { ttlMs: HOUR }),
      at(1),
    )
    expect(await tokens.identify(await issue())).toMatchObject({ keyId: 'key 2' })
    expect(await tokens.identify(old)).toMatchObject({ keyId: 'key 1' })
  })

  test('a key that is gone verifies no more', async () => {
    const old = await issue()
    carryOut(state, rotateKeys({ id: 'key 2', secret }, { ttlMs: HOUR }), at(1))
    carryOut(state, rotateKeys({ id: 'key 3', secret }, { ttlMs: HOUR }), at(2 * HOUR))
    expect(state.record(SIGNING_KEY, 'key 1')).toBeUndefined()
    expect(await codeOf(old)).toBe('token-invalid')
  })
})

describe('a token of the server before this one', () => {
  const oldKey = Buffer.alloc(64, 9)
  const UNTIL_MS = WALL_MS + 48 * HOUR

  const accepting = (key: Uint8Array = oldKey, sinceMs = 1) =>
    new Tokens({
      records: state,
      nowMs: () => clock.nowMs,
      ttlMs: 5 * HOUR,
      oldKey: { key, untilMs: UNTIL_MS, sinceStamp: at(sinceMs).stamp },
    })

  /** A token as old servers make it: without the id of a key. */
  const oldToken = ({ alg = 'HS256', key = oldKey, sub = 'ann', exp = WALL_MS / 1000 + 5 * 3_600 } = {}) =>
    new SignJWT({}).setProtectedHeader({ alg }).setSubject(sub).setExpirationTime(exp).sign(key)

  /** Why the token does not count; `counts` where it does. */
  async function standing(token: string, of = accepting()): Promise<string> {
    return problemOf(await of.identify(token), state, clock.nowMs) ?? 'counts'
  }

  test.each([
    [32, ['HS256']],
    [48, ['HS256', 'HS384']],
    [64, ['HS256', 'HS384', 'HS512']],
  ])('counts with a key of %i bytes for %j', async (bytes, expected) => {
    const key = Buffer.alloc(bytes, 9)
    const counted: string[] = []
    for (const alg of ['HS256', 'HS384', 'HS512']) {
      // A library refuses to sign with a key that is too short.
      const token = await oldToken({ alg, key }).catch(() => 'none')
      if ((await standing(token, accepting(key))) === 'counts') counted.push(alg)
    }
    expect(counted).toEqual(expected)
  })

  test('names its user, and how it came', async () => {
    expect(await accepting().identify(await oldToken())).toMatchObject({
      username: 'ann',
      by: 'old-token',
      expiresMs: WALL_MS + 5 * HOUR,
    })
  })

  test('does not count without the key, with another key, or for nobody here', async () => {
    expect([
      await standing(await oldToken(), tokens),
      await standing(await oldToken({ key: Buffer.alloc(64, 8) })),
      await standing(await oldToken({ sub: 'eve' })),
    ]).toEqual(['token-invalid', 'token-invalid', 'token-invalid'])
  })

  test('ends with its own time, and with the time of the key', async () => {
    const [short, long] = [await oldToken(), await oldToken({ exp: UNTIL_MS / 1000 + 3_600 })]
    const seen: string[] = []
    for (const ms of [WALL_MS + 6 * HOUR, UNTIL_MS]) {
      clock.nowMs = ms
      seen.push(await standing(short), await standing(long))
    }
    expect(seen).toEqual(['token-expired', 'counts', 'token-expired', 'token-expired'])
  })

  test('never counts for an administrator', async () => {
    const token = await oldToken()
    const of = accepting()
    expect(await standing(token, of)).toBe('counts')
    carryOut(state, addRole({ username: 'ann', role: 'ROLE_ADMIN' }), at(2))
    expect(await standing(token, of)).toBe('token-invalid')
  })

  test('ends with a password that is set here, and not with the hash that a first sign-in replaces', async () => {
    const of = accepting()
    carryOut(
      state,
      importUser({ username: 'bob', passwordHash: '$2a$10$x', isAdministrator: false }, false),
      at(0),
    )
    const [ann, bob] = [await oldToken(), await oldToken({ sub: 'bob' })]
    carryOut(state, setPassword({ username: 'ann', passwordHash: 'h2' }), at(5))
    carryOut(state, replaceHash('bob', { old: '$2a$10$x', new: 'scrypt' }), at(5))
    expect([await standing(ann, of), await standing(bob, of)]).toEqual(['token-invalid', 'counts'])
  })

  test('ends where keys have leaked, and cannot be renewed', async () => {
    const of = accepting()
    const token = await oldToken()
    const identity = await of.identify(token)
    expect(identity.kind === 'user' && of.renew(identity)).toBeUndefined()
    carryOut(state, rotateKeys({ id: 'key 2', secret }, 'leaked'), at(9))
    expect(await standing(token, of)).toBe('token-invalid')
  })
})
