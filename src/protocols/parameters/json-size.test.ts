import { describe, expect, test } from 'vitest'
import { checkJsonSize, MOST_LISTED_VALUES } from './json-depth.ts'

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
    JSON.stringify([[[[[[[[[[[]]]]]]]]]]]),
    JSON.stringify([{}, {}, {}, {}, {}, {}]),
  ])('%s has too many', (text) => {
    expect(check(text)).toThrow('The body must be JSON of at most 10 values.')
  })
})

test('a list of 10,000 things with seven fields passes', () => {
  const thing = {
    ip: '10.0.0.1',
    port: 80,
    ephemeral: true,
    clusterName: 'A',
    weight: 1,
    healthy: true,
    app: '',
  }
  const text = JSON.stringify(Array.from({ length: 10_000 }, () => thing))
  expect(() => checkJsonSize('instances', text, MOST_LISTED_VALUES)).not.toThrow()
})
