import { hashSync } from 'bcryptjs'
import { describe, expect, test } from 'vitest'
import type { Refusal } from '../core/refusal.ts'
import { Passwords, randomPassword } from './passwords.ts'
import { bcryptCostOf, bcryptOfNobody } from './bcrypt.ts'

const cost = { N: 2, r: 1, p: 1 }
const passwords = new Passwords({ rule: 'off', cost })

test('a password matches its hash, and another does not', async () => {
  const stored = await passwords.hash('päss word')
  expect(await passwords.check('päss word', stored)).toEqual({ matches: true, isOutdated: false })
  expect(await passwords.check('pass word', stored)).toEqual({ matches: false, isOutdated: false })
})

test('the stored text has the parameters and a salt, and not the password', async () => {
  const [one, other] = [await passwords.hash('secret'), await passwords.hash('secret')]
  expect(one).toMatch(/^scrypt\$2\$1\$1\$[\w-]{22}\$[\w-]{43}$/)
  expect(other).not.toBe(one)
})

test('no password matches where nothing is stored', async () => {
  for (const password of ['', 'secret'])
    expect(await passwords.check(password, undefined)).toEqual({ matches: false, isOutdated: false })
})

test('a hash with other parameters matches and is outdated', async () => {
  const stored = await new Passwords({ rule: 'off', cost: { ...cost, N: 4 } }).hash('secret')
  expect(await passwords.check('secret', stored)).toEqual({ matches: true, isOutdated: true })
  expect(await passwords.check('other', stored)).toEqual({ matches: false, isOutdated: false })
})

test.each([
  '',
  'secret',
  'scrypt$2$1$1$AAAA',
  'scrypt$2$1$1$AAAAAAAAAAAAAAAAAAAAAA$AAAA',
  'scrypt$999999999$1$1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
])('a stored text that is no hash is an error: %j', async (stored) => {
  await expect(passwords.check('secret', stored)).rejects.toThrow('cannot be read')
})

test('the hash of the server is one that the parameters of today made', async () => {
  expect(await new Passwords({ rule: 'off' }).hash('secret')).toMatch(/^scrypt\$16384\$8\$5\$/)
})

test('hashes that find no place are refused, and tell when to try again', async () => {
  const few = new Passwords({ rule: 'off', cost, limits: { atOnce: 1, waiting: 1 } })
  const hashes = ['a', 'b', 'c'].map((client) => few.hash('secret', client))
  const outcomes = await Promise.allSettled(hashes)
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  const refusal = await hashes[2]!.catch((error: Refusal) => error)
  expect(refusal).toMatchObject({ code: 'sign-in-slowed', facts: { retryAfterSeconds: 5 } })
})

test('random passwords differ', () => {
  expect(randomPassword()).toMatch(/^[\w-]{22}$/)
  expect(randomPassword()).not.toBe(randomPassword())
})

describe('a bcrypt hash of another server', () => {
  const bcryptCost = 4
  const hashed = (password: string) => hashSync(password, bcryptCost)

  test.each(['$2a$', '$2b$', '$2y$'])('with the mark %s is checked, and is outdated', async (mark) => {
    const stored = mark + hashed('secret').slice(4)
    expect(await passwords.check('secret', stored, { bcryptCost })).toEqual({
      matches: true,
      isOutdated: true,
    })
    expect(await passwords.check('Secret', stored, { bcryptCost })).toEqual({
      matches: false,
      isOutdated: false,
    })
  })

  test('is of the first 72 bytes', async () => {
    const stored = hashed('ä'.repeat(36))
    expect((await passwords.check(`${'ä'.repeat(36)}more`, stored)).matches).toBe(true)
    expect((await passwords.check(`${'ä'.repeat(35)}more`, stored)).matches).toBe(false)
  })

  test('of a cost above 12 or of another form is not accepted', () => {
    const end = 'x'.repeat(53)
    const texts = ['$2a$04$', '$2a$12$', '$2a$13$', '$2a$03$', '$2x$10$', '$1$10$'].map(
      (start) => start + end,
    )
    expect(texts.map(bcryptCostOf)).toEqual([4, 12, undefined, undefined, undefined, undefined])
    expect(bcryptCostOf(`$2a$10$${end}x`)).toBeUndefined()
    expect(bcryptCostOf(bcryptOfNobody(10))).toBe(10)
  })

  test('is compared for an unknown user and one of this server as well, where any user has one', async () => {
    class CountingPasswords extends Passwords {
      compared = 0
      override matchesBcrypt(...args: Parameters<Passwords['matchesBcrypt']>) {
        this.compared++
        return super.matchesBcrypt(...args)
      }
    }
    const watched = new CountingPasswords({ rule: 'off', cost })
    const own = await watched.hash('secret')
    for (const stored of [undefined, own, hashed('secret')])
      await watched.check('wrong', stored, { bcryptCost })
    expect(watched.compared).toBe(3)
    expect((await watched.check('secret', own, { bcryptCost })).matches).toBe(true)
    await watched.check('wrong', own)
    expect(watched.compared).toBe(4)
  })
})
