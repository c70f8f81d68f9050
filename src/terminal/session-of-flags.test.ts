import { expect, test } from 'vitest'
import { serverUrl } from './session-of-flags.ts'

test('the address of a server has no slash at its end', () => {
  expect(serverUrl('https://a.example/x//')).toBe('https://a.example/x')
  expect(serverUrl('localhost:8848')).toBe('http://localhost:8848')
  expect(serverUrl('[::1]:8848/')).toBe('http://[::1]:8848')
  for (const wrong of ['a.example', 'ftp://a.example', 'a b:1', ':8848'])
    expect(() => serverUrl(wrong)).toThrow(/--server must be an address/)
  // An error that repeated the address would show the password.
  expect(() => serverUrl('http://ann:secret@a.example')).toThrow(
    /^--server must be without a user[^:]*: [^@]*$/,
  )
})
