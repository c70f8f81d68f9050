import { expect, test } from 'vitest'
import { keyPathReader } from './key-paths.ts'

function pathsIn(text: string): (string | undefined)[] {
  const { pathOf } = keyPathReader()
  return text.split('\n').map((line) => pathOf(line))
}

test('yaml keys have the keys above them in their paths', () => {
  const text = 'a:\n  b: 1\n  # c: 2\n  "d e":\n    - f: 1\n      g: 2\nh: 3'
  expect(pathsIn(text)).toEqual(['a', 'a.b', undefined, 'a.d e', 'a.d e.f', 'a.d e.g', 'h'])
})

test('json and properties too', () => {
  expect(pathsIn('{\n  "a": {\n    "b": 1\n  }\n}')).toEqual([undefined, 'a', 'a.b', undefined, undefined])
  expect(pathsIn('a.b=1\n a.c : 2\n#x=1')).toEqual(['a.b', 'a.c', undefined])
})

test('a long line takes no longer than its length', () => {
  expect(keyPathReader().pathOf(' '.repeat(100_000))).toBeUndefined()
  expect(keyPathReader().pathOf('a'.repeat(100_000))).toBeUndefined()
  expect(keyPathReader().pathOf(`a${' '.repeat(100_000)}`)).toBeUndefined()
})

test('a line of a long value belongs to the key above it', () => {
  const reader = keyPathReader()
  const above = 'user: shop\nprivateKey: |\n  line 1\n\n  line 2\nplain'.split('\n').map((line) => {
    return reader.pathOf(line) === undefined ? reader.above(line) : undefined
  })
  expect(above).toEqual([undefined, undefined, 'privateKey', '', 'privateKey', ''])
})
