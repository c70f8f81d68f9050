import fc from 'fast-check'
import { expect, test } from 'vitest'
import { keyBytes, keyText, shownKey } from './key-text.ts'

const anyKey = fc.oneof(
  fc.uint8Array({ maxLength: 40 }),
  fc.string({ unit: 'grapheme' }).map((text) => Buffer.from(text)),
  fc
    .array(fc.constantFrom(0xed, 0xa0, 0x80, 0xb0, 0xef, 0xbf, 0xbd, 0xf0, 0x9f, 0x98, 0x80, 0x61, 0xff))
    .map((bytes) => Buffer.from(bytes)),
)

test('the text of any key gives the key back', () => {
  fc.assert(
    fc.property(anyKey, (bytes) => {
      expect(Buffer.compare(keyBytes(keyText(bytes)), bytes)).toBe(0)
    }),
  )
})

test('keys of UTF-8 have their own text, and no other key has', () => {
  fc.assert(
    fc.property(anyKey, (bytes) => {
      const plain = Buffer.from(bytes).toString()
      const isText = Buffer.compare(Buffer.from(plain), bytes) === 0
      expect(keyText(bytes).isWellFormed()).toBe(isText)
      if (isText) expect(keyText(bytes)).toBe(plain)
    }),
  )
})

test('a key that is no UTF-8 is shown as shells take it, and in hex', () => {
  const key = Buffer.concat([Buffer.from('w/s/é'), Buffer.of(0xff, 0x61, 0xc3)])
  expect(shownKey(keyText(key))).toBe('w/s/é\\xffa\\xc3 (hex 772f732fc3a9ff61c3)')
  expect(shownKey('w/s/�')).toBe('w/s/�')
})
