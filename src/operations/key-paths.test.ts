import { expect, test } from 'vitest'
import { keyPathReader } from './key-paths.ts'

function pathsIn(text: string): (string | undefined)[] {
  const pathOf = keyPathReader()
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
  expect(keyPathReader()(' '.repeat(100_000))).toBeUndefined()
  expect(keyPathReader()('a'.repeat(100_000))).toBeUndefined()
  expect(keyPathReader()(`a${' '.repeat(100_000)}`)).toBeUndefined()
})
