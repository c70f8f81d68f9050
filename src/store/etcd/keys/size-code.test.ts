import { assert, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import { bytesOf, CODES, sizeCode } from './size-code.ts'

test('the code of a size gives it back within 3 %', () =>
  assert(
    property(integer({ min: 100, max: 2 * 1024 * 1024 }), (bytes) => {
      const code = sizeCode(bytes)
      expect(code).toBeLessThan(CODES)
      expect(Math.abs(bytesOf(code) / bytes - 1)).toBeLessThan(0.035)
    }),
  ))

test('a code fits beside the largest revision that is expected', () => {
  const revision = 2 ** 44 + 12_345
  expect(Math.floor((revision * CODES + 255) / CODES)).toBe(revision)
})
