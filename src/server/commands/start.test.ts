import { expect, test } from 'vitest'
import { loadSettings } from '../../settings/settings.ts'
import { startFailure } from './start.ts'

const settings = loadSettings({ flags: { port: 80, 'data-dir': '/somewhere' }, env: {} })

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
])('a start that fails for %s names the setting to change', (_case, fields, message) =>
  expect(failureOf('why', fields)).toMatch(message),
)

test('any other failure is reported with its own message', () => {
  expect(failureOf('the store is locked')).toBe('the store is locked')
  expect(startFailure('odd', settings)).toBe('odd')
})
