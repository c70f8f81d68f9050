import { expect, test } from 'vitest'
import { loadSettings } from '../settings/settings.ts'
import { startFailure } from './start-failure.ts'

const settings = loadSettings({ args: ['--port=80', '--data-dir=/somewhere'], env: {} })

function failureOf(message: string, fields: object = {}): string {
  return startFailure(Object.assign(new Error(message), fields), settings)
}

test.each([
  [
    'a used port',
    { code: 'EADDRINUSE', syscall: 'listen' },
    /^port 80 of 127\.0\.0\.1 is in use already.*--port\.$/,
  ],
  ['a port that needs rights', { code: 'EACCES', syscall: 'listen' }, /^port 80 is not allowed.*--port\.$/],
  [
    'an address of another machine',
    { code: 'EADDRNOTAVAIL', syscall: 'listen' },
    /^cannot listen on 127\.0\.0\.1.*--host\.$/,
  ],
  ['a host without an address', { code: 'ENOTFOUND', syscall: 'getaddrinfo' }, /--host\.$/],
  [
    'a directory without rights',
    { code: 'EACCES', syscall: 'mkdir' },
    /^cannot use the data directory \/somewhere: why\..*--data-dir\.$/,
  ],
])('%s is told with the setting to change', (_case, fields, told) =>
  expect(failureOf('why', fields)).toMatch(told),
)

test('any other failure is told in its own words', () => {
  expect(failureOf('the store is locked')).toBe('the store is locked')
  expect(startFailure('odd', settings)).toBe('odd')
})
