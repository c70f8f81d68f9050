import { expect, test } from 'vitest'
import { algorithmsOf, oldKeyOf } from './old-token-key.ts'

const KEY = Buffer.from('0f1e2d3c4b5a69788796a5b4c3d2e1f00f1e2d3c4b5a69788796a5b4c3d2e1f0', 'hex')

test.each([
  ['Base64', KEY.toString('base64'), KEY],
  ['Base64 without its end', KEY.toString('base64').replace(/=+$/, ''), KEY],
  [
    'a text that is no Base64',
    'not Base64, but long enough for a key!',
    Buffer.from('not Base64, but long enough for a key!'),
  ],
])('a secret may be %s', (_name, secret, key) => {
  expect(Buffer.from(oldKeyOf(secret))).toEqual(key)
})

test.each([
  ['the default of many versions', `SecretKey${'0123456789'.repeat(6)}`],
  ['that default, encoded', Buffer.from(`SecretKey${'0123456789'.repeat(6)}`).toString('base64')],
  ['the example of the documents', 'VGhpc0lzTXlDdXN0b21TZWNyZXRLZXkwMTIzNDU2Nzg='],
  ['another example', 'SecretKey01234567890123456789012345345678999987654901234567890123456789'],
])('%s is refused', (_name, secret) => {
  expect(() => oldKeyOf(secret)).toThrow('published')
})

test.each(['', 'short', Buffer.alloc(31, 1).toString('base64')])('%j is too short', (secret) => {
  expect(() => oldKeyOf(secret)).toThrow('at least 32')
})

test('HS256 counts with each key, and longer algorithms with keys that are long enough', () => {
  expect([32, 47, 48, 63, 64].map((bytes) => algorithmsOf(new Uint8Array(bytes)).length)).toEqual([
    1, 1, 2, 2, 3,
  ])
})
