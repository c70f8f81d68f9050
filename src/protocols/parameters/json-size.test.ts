import { describe, expect, test } from 'vitest'
import { checkJsonSize } from './json-depth.ts'

const check = (text: string) => () => checkJsonSize('The body', text, 10)

describe('JSON of at most ten values', () => {
  test.each([
    JSON.stringify([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
    JSON.stringify({ text: ',,,,,,,,,,,,,,,,,,,,' }),
    JSON.stringify({ text: '",",",",",",",",",",",",","' }),
    '{',
    ',,,,,',
  ])('%s passes', (text) => {
    expect(check(text)).not.toThrow()
  })

  test.each([
    JSON.stringify([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
    JSON.stringify({
      a: [
        [1, 1],
        [2, 2],
        [3, 3],
      ],
      b: { c: 1, d: '"' },
      e: [4, 4, 4],
      text: '',
    }),
  ])('%s has too many', (text) => {
    expect(check(text)).toThrow('The body must be JSON of at most 10 values.')
  })
})
