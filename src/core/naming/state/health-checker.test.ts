import { constantFrom, assert as holds, option, property, record } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type HealthChecker, type SentChecker, shownChecker, withStoredSecrets } from './health-checker.ts'

const HTTP = {
  type: 'HTTP',
  path: '/up',
  headers: 'X-Token:t:1|x-b: two',
  expectedResponseCode: 200,
} as const
const MYSQL = { type: 'MYSQL', user: 'u', pwd: 'secret', cmd: 'select 1' } as const
const UNSENT = { pwd: undefined, publicKey: undefined, ca: undefined }

describe('a shown checker', () => {
  test('has no secrets', () => {
    expect(shownChecker(HTTP)).toEqual({ ...HTTP, headers: 'X-Token|x-b' })
    expect(shownChecker({ ...MYSQL, publicKey: 'k' })).toEqual({
      type: 'MYSQL',
      user: 'u',
      cmd: 'select 1',
      publicKey: 'k',
    })
    expect(shownChecker({ type: 'TCP' })).toEqual({ type: 'TCP' })
  })

  test('and written back changes nothing', () => {
    for (const stored of [HTTP, MYSQL, { ...MYSQL, publicKey: 'k', ca: 'c' }, { type: 'NONE' } as const])
      expect(withStoredSecrets({ ...UNSENT, ...shownChecker(stored) } as SentChecker, stored)).toMatchObject(
        stored,
      )
  })
})

describe('headers', () => {
  const saved = (headers: string, path = '/up', stored: HealthChecker | undefined = HTTP) =>
    (withStoredSecrets({ ...HTTP, path, headers }, stored) as typeof HTTP).headers

  test('without a value keep the stored one of this name in any case', () => {
    expect(saved('x-token')).toBe('x-token:t:1')
    expect(saved('x-token:')).toBe('x-token:t:1')
    expect(saved('x-token: |x-c:new')).toBe('x-token:t:1|x-c:new')
    expect(saved('x-token:other|x-b')).toBe('x-token:other|x-b: two')
    expect(saved('')).toBe('')
  })

  test('with a name that has no stored value are refused', () => {
    expect(() => saved('x-c')).toThrow('header 1 has no stored value')
    expect(() => saved('x-token', '/other')).toThrow('header 1 has no stored value')
    expect(() => saved('x-token', '/up', MYSQL)).toThrow('header 1 has no stored value')
    expect(() => saved('x-token', '/up', { type: 'TCP' })).toThrow('header 1 has no stored value')
  })

  test('with a colon and nothing stored are empty', () => {
    expect(saved('x-c:')).toBe('x-c:')
    expect(saved('x-token:', '/other')).toBe('x-token:')
  })
})

describe('the password', () => {
  const saved = (sent: object, stored: HealthChecker | undefined = MYSQL) =>
    withStoredSecrets({ ...MYSQL, ...UNSENT, ...sent }, stored)

  test('that is not sent stays if the user is the same', () => {
    expect(saved({})).toEqual(MYSQL)
    expect(saved({ cmd: 'select 2' })).toMatchObject({ pwd: 'secret', cmd: 'select 2' })
    expect(saved({ user: 'v' })).toMatchObject({ pwd: '' })
    expect(saved({}, HTTP)).toMatchObject({ pwd: '' })
    expect(saved({ pwd: '' })).toMatchObject({ pwd: '' })
  })

  test('does not stay if it would be encrypted with another key, or sent to a server that another authority vouches for', () => {
    expect(saved({ publicKey: 'theirs' })).toMatchObject({ pwd: '' })
    expect(saved({ ca: 'theirs' })).toMatchObject({ pwd: '' })
    expect(saved({ publicKey: 'theirs' }, { ...MYSQL, publicKey: 'ours' })).toMatchObject({ pwd: '' })
    expect(saved({ publicKey: 'ours' }, { ...MYSQL, publicKey: 'ours' })).toMatchObject({ pwd: 'secret' })
  })

  test('stays without the key, which is kept if it is not sent and removed if it is empty', () => {
    const stored = { ...MYSQL, publicKey: 'ours' }
    expect(saved({}, stored)).toEqual(stored)
    expect(saved({ publicKey: '' }, stored)).toEqual(MYSQL)
  })

  test('is never kept where it could go to a new key or authority, in any two steps', () => {
    const trust = option(constantFrom('', 'ours', 'theirs'), { nil: undefined })
    const step = record({ publicKey: trust, ca: trust, user: constantFrom('u', 'v') })
    holds(
      property(step, step, (first, second) => {
        const stored: HealthChecker = { ...MYSQL, publicKey: 'ours', ca: 'ours' }
        const twice = saved(second, saved(first, stored))
        if ('pwd' in twice && twice.pwd === 'secret')
          expect([twice.user, twice.publicKey ?? 'ours', twice.ca ?? 'ours']).toEqual(['u', 'ours', 'ours'])
      }),
    )
  })
})
