import fc from 'fast-check'
import { expect, test } from 'vitest'
import { KeyPaths } from './key-paths.ts'

/** The numbers of the lines whose path has the text, from 1. */
function linesWith(text: string, wanted: string): number[] {
  const paths = new KeyPaths(wanted)
  return text.split('\n').flatMap((line, at) => (paths.hasWanted(line) ? [at + 1] : []))
}

const YAML = 'a:\n  b: 1\n  # c: 2\n  "d e":\n    - f: 1\n      g: 2\nh: 3'

test.each([
  ['a.b', [2]],
  ['a', [1, 2, 4, 5, 6]],
  ['a.d e.f', [5]],
  ['d e.g', [6]],
  ['e', [4, 5, 6]],
  ['h', [7]],
  ['c', []],
  ['a.f', []],
])('yaml keys have the keys above them in their paths: %s', (wanted, lines) => {
  expect(linesWith(YAML, wanted)).toEqual(lines)
})

test('json and properties too', () => {
  expect(linesWith('{\n  "a": {\n    "b": 1\n  }\n}', 'a.b')).toEqual([3])
  expect(linesWith('a.b=1\n A.C : 2\n#a.x=1', 'a.')).toEqual([1, 2])
})

test('a path is read as if all of it were put together', () => {
  const name = fc.constantFrom('a', 'b', 'ab', 'ba', 'aab')
  const depths = fc.array(fc.tuple(fc.nat({ max: 4 }), name), { minLength: 1, maxLength: 12 })
  const wanted = fc
    .array(fc.constantFrom('a', 'b', '.'), { minLength: 1, maxLength: 7 })
    .map((parts) => parts.join(''))
  fc.assert(
    fc.property(depths, wanted, (lines, text) => {
      const content = lines.map(([depth, key]) => `${' '.repeat(depth)}${key}:`).join('\n')
      const parents: { depth: number; name: string }[] = []
      const expected = lines.flatMap(([depth, key], at) => {
        while (parents.length > 0 && parents.at(-1)!.depth >= depth) parents.pop()
        parents.push({ depth, name: key })
        const path = parents.map((parent) => parent.name).join('.')
        return path.includes(text) ? [at + 1] : []
      })
      expect(linesWith(content, text)).toEqual(expected)
    }),
  )
})
