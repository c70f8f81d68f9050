import { beforeEach, describe, expect, test } from 'vitest'
import { type SignInAttempt, SignInAttempts } from './sign-in-attempts.ts'

const ann = { username: 'ann', ip: '10.0.0.1' }
const MINUTE = 60_000
const AT_ONCE = { kind: 'admitted', delayMs: 0 }

/** Fails that many times, as soon as it may. Gives the time of the last one. */
function failing(attempts: SignInAttempts, times: number, attempt: SignInAttempt = ann): number {
  let nowMs = 0
  for (let turn = 0; turn < times; turn++) {
    const admission = attempts.admissionOf(attempt, nowMs)
    if (admission.kind === 'locked') nowMs += admission.waitMs
    attempts.begin(attempt, nowMs)
    attempts.failed(attempt, nowMs)
  }
  return nowMs
}

let attempts: SignInAttempts
beforeEach(() => void (attempts = new SignInAttempts()))

describe('a user at an address', () => {
  test('may fail four times at once', () => {
    failing(attempts, 4)
    expect(attempts.admissionOf(ann, 0)).toEqual(AT_ONCE)
  })

  test('has to pause longer after each further failure, and five minutes after ten', () => {
    failing(attempts, 5)
    expect(attempts.admissionOf(ann, 0)).toEqual({ kind: 'locked', waitMs: 1_000 })
    const more = new SignInAttempts()
    const nowMs = failing(more, 10)
    expect(nowMs).toBe(1_000 + 2_000 + 4_000 + 8_000 + 16_000)
    expect(more.admissionOf(ann, nowMs)).toEqual({ kind: 'locked', waitMs: 5 * MINUTE })
    expect(more.admissionOf(ann, nowMs + 5 * MINUTE)).toEqual(AT_ONCE)
    more.begin(ann, nowMs + 5 * MINUTE)
    expect(more.admissionOf(ann, nowMs + 5 * MINUTE)).toEqual({ kind: 'locked', waitMs: 5 * MINUTE })
  })

  test('starts from zero after a success', () => {
    const nowMs = failing(attempts, 9) + 16_000
    attempts.begin(ann, nowMs)
    attempts.succeeded(ann)
    expect(attempts.admissionOf(ann, nowMs)).toEqual(AT_ONCE)
  })

  test('locks neither other users nor other addresses, but its whole IPv6 network', () => {
    failing(attempts, 5, { username: 'ann', ip: '2001:db8:1:2::1' })
    const kindFor = (attempt: SignInAttempt) => attempts.admissionOf(attempt, 0).kind
    expect(kindFor({ username: 'ann', ip: '2001:db8:1:2:ffff::9' })).toBe('locked')
    expect(kindFor({ username: 'ann', ip: '2001:db8:1:3::1' })).toBe('admitted')
    expect(kindFor({ username: 'bob', ip: '2001:db8:1:2::1' })).toBe('admitted')
  })

  test('counts no attempt that could not be made', () => {
    for (let turn = 0; turn < 100; turn++) {
      expect(attempts.admissionOf(ann, 0)).toEqual(AT_ONCE)
      attempts.begin(ann, 0)
      attempts.withdrawn(ann)
    }
  })

  test('counts attempts that are made at the same time', () => {
    for (let turn = 0; turn < 5; turn++) attempts.begin(ann, 0)
    expect(attempts.admissionOf(ann, 0).kind).toBe('locked')
  })

  test('stays locked while tens of thousands of others fail', () => {
    const nowMs = failing(attempts, 10)
    for (let turn = 0; turn < 25_000; turn++)
      attempts.begin({ username: `u${turn}`, ip: `10.${turn >> 8}.${turn & 255}.1` }, nowMs)
    expect(attempts.admissionOf(ann, nowMs).kind).toBe('locked')
  })
})

describe('a user over all addresses', () => {
  test('is slowed and never locked', () => {
    for (let host = 0; host < 1_000; host++) {
      const attempt = { username: 'ann', ip: `10.1.${host >> 8}.${host & 255}` }
      expect(attempts.admissionOf(attempt, 0).kind).toBe('admitted')
      attempts.begin(attempt, 0)
    }
    expect(attempts.admissionOf(ann, 0)).toEqual({ kind: 'admitted', delayMs: 3_000 })
    expect(attempts.admissionOf({ ...ann, username: 'bob' }, 0)).toEqual(AT_ONCE)
  })

  test('is not slowed at an address where the user has signed in', () => {
    attempts.begin(ann, 0)
    attempts.succeeded(ann)
    for (let host = 0; host < 100; host++) attempts.begin({ username: 'ann', ip: `10.0.1.${host}` }, 0)
    expect(attempts.admissionOf(ann, 0)).toEqual(AT_ONCE)
    expect(attempts.admissionOf({ ...ann, ip: '10.0.0.2' }, 0)).toEqual({ kind: 'admitted', delayMs: 3_000 })
  })
})

test('an address that tries many users is slowed, and other addresses are not', () => {
  const attemptOf = (user: number, ip = '10.0.0.9') => ({ username: `user${user}`, ip })
  for (let user = 0; user < 100; user++) {
    attempts.begin(attemptOf(user), 0)
    attempts.failed(attemptOf(user), 0)
  }
  expect(attempts.admissionOf(attemptOf(1_000), 0)).toEqual(AT_ONCE)
  for (let user = 100; user < 110; user++) {
    attempts.begin(attemptOf(user), 0)
    attempts.failed(attemptOf(user), 0)
  }
  expect(attempts.admissionOf(attemptOf(1_000), 0)).toEqual({ kind: 'admitted', delayMs: 1_000 })
  expect(attempts.admissionOf(attemptOf(1_000, '10.0.0.8'), 0)).toEqual(AT_ONCE)
})
