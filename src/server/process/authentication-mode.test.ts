import { describe, expect, test } from 'vitest'
import { authenticationMode, refuseOpenServer } from './authentication-mode.ts'

describe('whether callers must sign in', () => {
  test.each([
    ['auto', false, 'off'],
    ['auto', true, 'on'],
    ['on', false, 'on'],
    ['off', true, 'off'],
    ['report', true, 'report'],
  ] as const)('with auth=%s and an administrator: %s, it is %s', (auth, hasAdministrator, mode) => {
    expect(authenticationMode({ auth }, hasAdministrator)).toBe(mode)
  })
})

describe('a server without authentication', () => {
  test.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost', 'LOCALHOST', '::ffff:127.0.0.1'])(
    'may listen on %s',
    (host) => {
      expect(() => refuseOpenServer('off', { host, openToEveryone: false })).not.toThrow()
    },
  )

  test.each([
    '0.0.0.0',
    '::',
    '10.0.0.7',
    'waypost.example',
    '127.example.com',
    '',
    '128.0.0.1',
    '::ffff:10.0.0.1',
  ])('does not listen on %j', (host) => {
    expect(() => refuseOpenServer('off', { host, openToEveryone: false })).toThrow('--open-to-everyone')
    expect(() => refuseOpenServer('off', { host, openToEveryone: true })).not.toThrow()
    expect(() => refuseOpenServer('on', { host, openToEveryone: false })).not.toThrow()
  })
})
