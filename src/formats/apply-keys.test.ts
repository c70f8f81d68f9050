import fc from 'fast-check'
import { expect, test } from 'vitest'
import { applyKeys } from './apply-keys.ts'

const MANY = 'db:\n  url: here # own\n  size: 1\nx: 1\n'
const LAST = 'db:\n  url: here\nlast: 1\n'
const FLAT = 'a=1\n# keep\nurl = here\n'
const NESTED = '{\n  "a": 1,\n  "b": {"url": "here"}\n}\n'

test.each([
  ['properties', FLAT, 'url=there\na = 2\nnew=3', ['a', 'new'], 'a = 2\n# keep\nurl = here\nnew=3\n'],
  ['yaml', MANY, 'x: 2\ndb: {size: 5, url: there}\n', ['db.size'], MANY.replace('size: 1', 'size: 5')],
  ['yaml', LAST, 'db:\n  size: 5\n', ['db.size'], 'db:\n  url: here\n  size: 5\nlast: 1\n'],
  ['yaml', 'a: 1', 'b: "x: y"', ['b'], 'a: 1\nb: "x: y"'],
  ['yaml', 'list: [1, 2]\n', 'list: [1, 3]\n', ['list[1]'], 'list: [1, 3]\n'],
  [
    'json',
    NESTED,
    '{"a": 2, "c": true}',
    ['a', 'c'],
    '{\n  "a": 2,\n  "b": {"url": "here"},\n  "c": true\n}\n',
  ],
])('%s: the chosen keys change, and nothing else', async (type, ...[target, source, keys, result]) => {
  expect(await applyKeys(type, { target, source, keys })).toBe(result)
})

test.each([
  ['yaml', 'a: 1\n', 'b:\n  c: 1\n', ['b.c']],
  ['yaml', 'a: &x 1\nb: *x\n', 'a: 2\nb: 1\n', ['a']],
  ['yaml', 'a: 1\n---\na: 1\n', 'a: 2\n', ['a']],
  ['text', 'a', 'b', ['a']],
  ['json', '{', '{"a":1}', ['a']],
])('%s: what cannot be done exactly is not done: %j', async (type, ...[target, source, keys]) => {
  expect(await applyKeys(type, { target, source, keys })).toBeUndefined()
})

const values = fc.dictionary(
  fc.stringMatching(/^[a-z]{1,4}$/),
  fc.oneof(fc.integer(), fc.string({ maxLength: 6 })),
  { maxKeys: 6 },
)

test('in any flat JSON a key of both gets the other value, and the others keep theirs', async () => {
  await fc.assert(
    fc.asyncProperty(values, values, async (mine, theirs) => {
      const keys = Object.keys(theirs).filter((key) => key in mine)
      const result = await applyKeys('json', {
        target: JSON.stringify(mine),
        source: JSON.stringify(theirs, undefined, 1),
        keys,
      })
      const taken = Object.fromEntries(keys.map((key) => [key, theirs[key]]))
      expect(JSON.parse(result ?? 'null')).toEqual({ ...mine, ...taken })
    }),
    { numRuns: 200 },
  )
})
