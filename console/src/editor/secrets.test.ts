import { expect, test } from 'vitest'
import { isSecretKey, secretRanges } from './secrets.ts'

const covered = (text: string): string[] => secretRanges(text).map(({ from, to }) => text.slice(from, to))

test.each([
  ['password: hunter2', ['hunter2']],
  ['  db.password = hunter2 ', ['hunter2']],
  ['"apiKey": "k-1", "user": "shop"', ['"k-1"']],
  ['{"a":{"client_secret":"s"},"token":7}', ['"s"', '7']],
  ["access-token: 'a b'", ["'a b'"]],
  ['url=jdbc:mysql://db/shop?user=a&password=b&ssl=true', ['b']],
  ['<db><password>p</password><user>u</user></db>', ['p']],
  ['privateKey: |\n  line 1\n\n  line 2\nuser: shop', ['line 1', 'line 2']],
  ['user: shop\npasswords: ', []],
  ['token', []],
  ['# nothing here', []],
])('in %j the values %j are covered', (text, values) => expect(covered(text)).toEqual(values))

test('keys are recognised by a part of them', () => {
  expect(['spring.datasource.password', 'API_KEY', 'credentials', 'authToken'].every(isSecretKey)).toBe(true)
  expect(['user', 'port', 'pass', 'keys'].some(isSecretKey)).toBe(false)
})

test('a long line costs little', () => {
  expect(covered(`token: ${'x'.repeat(19_000)}`)).toHaveLength(1)
  expect(covered('token '.repeat(20_000))).toEqual([])
  expect(covered('"token" : "'.repeat(1_500))).toHaveLength(1_500 / 2)
})
