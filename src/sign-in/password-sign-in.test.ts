import { beforeEach, describe, expect, test } from 'vitest'
import { createUser, setPassword } from '../core/access/access-commands.ts'
import { USER, type User } from '../core/access/access-records.ts'
import { at, carryOut, WALL_MS } from '../core/core.test-support.ts'
import type { Command } from '../core/decisions/decision.ts'
import { Refusal } from '../core/refusal.ts'
import { State } from '../core/engine/state.ts'
import { PasswordSignIn } from './password-sign-in.ts'
import { type CheckContext, Passwords } from './passwords.ts'

const cost = { N: 2, r: 1, p: 1 }
const right = { username: 'ann', password: 'secret', ip: '10.0.0.1' }
let state: State
let clock: { nowMs: number }
let signIn: PasswordSignIn
/** The passwords that were hashed to check them. */
let checked: string[]
let passwords: Passwords

class WatchedPasswords extends Passwords {
  override check(password: string, stored: string | undefined, context?: CheckContext) {
    checked.push(password)
    return super.check(password, stored, context)
  }
}

beforeEach(async () => {
  state = new State(WALL_MS)
  clock = { nowMs: 0 }
  checked = []
  passwords = new WatchedPasswords({ rule: 'off', cost })
  carryOut(state, createUser({ username: 'ann', passwordHash: await passwords.hash('secret') }), at(0))
  signIn = start(passwords)
})

function start(with_: Passwords): PasswordSignIn {
  return new PasswordSignIn({
    records: state,
    engine: { execute: async <T>(command: Command<T>) => carryOut(state, command, at(0)) },
    passwords: with_,
    nowMs: () => clock.nowMs,
    after: (ms, run) => {
      clock.nowMs += ms
      queueMicrotask(run)
    },
  })
}

/** The user, `wrong`, or the code of the refusal. */
async function outcome(attempt: typeof right): Promise<string> {
  try {
    const user = await signIn.check(attempt)
    return user?.username ?? 'wrong'
  } catch (error) {
    if (error instanceof Refusal) return error.code
    throw error
  }
}

describe('a pair', () => {
  test('that is right is the user, and costs one hash however often it is sent', async () => {
    expect(await outcome(right)).toBe('ann')
    expect((signIn.check(right) as User).username).toBe('ann')
    expect((signIn.check({ ...right, ip: '10.0.0.2' }) as User).username).toBe('ann')
    expect(checked).toEqual(['secret'])
  })

  test('that is wrong costs a hash, whether or not there is such a user', async () => {
    expect(await outcome({ ...right, password: 'other' })).toBe('wrong')
    expect(await outcome({ ...right, username: 'bob' })).toBe('wrong')
    expect(checked).toEqual(['other', 'secret'])
  })

  test('with an empty, or a far too long username or password is wrong', async () => {
    const long = 'x'.repeat(100_000)
    for (const sent of [
      { ...right, password: '' },
      { ...right, password: long },
      { ...right, username: long },
    ])
      expect(await outcome(sent)).toBe('wrong')
    expect(checked.every((password) => password === '')).toBe(true)
  })

  test('that many clients send at once is checked once', async () => {
    const clients = Array.from({ length: 300 }, (_, host) => ({
      ...right,
      ip: `10.1.${host >> 7}.${host & 127}`,
    }))
    expect(new Set(await Promise.all(clients.map(outcome)))).toEqual(new Set(['ann']))
    expect(checked).toEqual(['secret'])
  })

  test('is forgotten with another password', async () => {
    await outcome(right)
    const passwordHash = await passwords.hash('new')
    carryOut(state, setPassword({ username: 'ann', passwordHash }), at(0))
    expect(await outcome(right)).toBe('wrong')
    expect(await outcome({ ...right, password: 'new' })).toBe('ann')
  })

  test('does not count where the password is changed while it is checked', async () => {
    const passwordHash = await passwords.hash('new')
    const checking = outcome(right)
    carryOut(state, setPassword({ username: 'ann', passwordHash }), at(0))
    expect(await checking).toBe('wrong')
  })
})

test('a right password replaces a hash with other parameters, and its tokens stay', async () => {
  const before = state.record(USER, 'ann')!
  signIn = start(new Passwords({ rule: 'off', cost: { ...cost, N: 4 } }))
  expect(await outcome(right)).toBe('ann')
  const after = state.record(USER, 'ann')!
  expect(after.passwordHash).toMatch(/^scrypt\$4\$/)
  expect(after.credentialStamp).toBe(before.credentialStamp)
  expect(await outcome(right)).toBe('ann')
})

describe('guessing', () => {
  const guess = (turn: number) => outcome({ ...right, password: `guess ${turn}` })

  test('ends in a lock, in which the right password is not taken either, even if it is remembered', async () => {
    expect(await outcome(right)).toBe('ann')
    for (let turn = 0; turn < 10; turn++) {
      clock.nowMs += 60_000
      expect(await guess(turn)).toBe('wrong')
    }
    expect(await guess(10)).toBe('sign-in-slowed')
    expect(await outcome(right)).toBe('sign-in-slowed')
    expect(await outcome({ ...right, ip: '10.0.0.2' })).toBe('ann')
    clock.nowMs += 5 * 60_000
    expect(await outcome(right)).toBe('ann')
  })

  test('with many passwords at once gets only a few checked', async () => {
    const outcomes = await Promise.all(Array.from({ length: 100 }, (_, turn) => guess(turn)))
    expect(outcomes.filter((one) => one === 'wrong')).toHaveLength(5)
    expect(checked).toHaveLength(5)
  })

  test('from many addresses slows the user and does not lock it', async () => {
    for (let host = 0; host < 60; host++)
      expect(await outcome({ ...right, ip: `10.1.0.${host}`, password: 'guess' })).toBe('wrong')
    expect(clock.nowMs).toBeGreaterThan(20_000)
    expect(await outcome({ ...right, ip: '10.9.9.9' })).toBe('ann')
  })

  test('counts for each address that sends the same wrong pair at the same time', async () => {
    const clients = Array.from({ length: 30 }, () => ({ ...right, password: 'guess' }))
    expect(new Set(await Promise.all(clients.map(outcome)))).toEqual(new Set(['wrong']))
    expect(await outcome(right)).toBe('sign-in-slowed')
  })
})

test('a sign-in without a place in the queue of hashes is refused and does not count', async () => {
  signIn = start(new Passwords({ rule: 'off', cost, limits: { atOnce: 1, waiting: 0 } }))
  const others = Array.from({ length: 20 }, (_, user) => ({ ...right, username: `user ${user}` }))
  const outcomes = await Promise.all(others.map(outcome))
  expect(outcomes.filter((one) => one === 'sign-in-slowed')).toHaveLength(19)
  for (let turn = 0; turn < 20; turn++) expect(await outcome(right)).toBe('ann')
})

test('a code is guarded like a password', async () => {
  const attempt = { username: 'nacos', ip: '10.0.0.1' }
  const guess = async (isRight: boolean) =>
    signIn.guarded(attempt, () => isRight).catch((error: Refusal) => error.code)
  for (let turn = 0; turn < 5; turn++) expect(await guess(false)).toBe(false)
  expect(await guess(true)).toBe('sign-in-slowed')
  clock.nowMs += 1_000
  expect(await guess(true)).toBe(true)
})
