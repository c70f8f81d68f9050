import { describe, expect, test } from 'vitest'
import { DecidedDifferences } from './decided-differences.ts'
import { lacksOf, shapeOf } from './shapes.ts'

describe('a body lacks', () => {
  const lacks = (theirs: string, ours: string) => lacksOf(shapeOf(theirs)!, shapeOf(ours))

  test.each([
    ['{"a":1}', '{"a":2,"b":3}', []],
    ['{"a":1}', '{"b":3}', ['a: missing']],
    ['{"a":1.0}', '{"a":1}', ['a: integer, not decimal']],
    ['{"a":1.0E-7,"b":"1"}', '{"a":2.5,"b":"x"}', []],
    ['{"a":null}', '{"a":1}', []],
    ['{"a":null}', '{}', ['a: missing']],
    ['{"a":"x"}', '{"a":null}', ['a: null, not text']],
    ['{"a":{"b":[{"c":true}]}}', '{"a":{"b":[{"c":false},{"d":1}]}}', ['a.b[].c: missing']],
    ['{"a":[{"b":1,"c":1},{"b":1}]}', '{"a":[{"b":2}]}', []],
    ['{"a":[1]}', '{"a":[]}', ['a: empty']],
    ['[]', '{}', ['body: object, not list']],
    ['{"a":"\\"weight\\":1"}', '{"a":"2"}', []],
  ])('of %s in %s: %j', (theirs, ours, expected) => {
    expect(lacks(theirs, ours)).toEqual(expected)
  })
})

describe('the table', () => {
  const table = (rows: string) =>
    `### Recorded differences\n\n| a | b | c | d |\n| - | - | - | - |\n${rows}\n\n## Next\n`
  const row = '| `GET /x*` | 1.4.8, 2.5.1 | `a`, `b[]` | why |'

  test('covers what it names, and what is below that', () => {
    const decided = new DecidedDifferences(table(row))
    const differences = ['a: missing', 'a.b: missing', 'ab: missing', 'b[].c: missing', 'c: missing']
    expect(decided.undecided('2.5.1', 'GET /x?q=1', differences)).toEqual(['ab: missing', 'c: missing'])
    expect(decided.undecided('3.0.3', 'GET /x', ['a: missing'])).toEqual(['a: missing'])
    expect(decided.undecided('2.5.1', 'GET /y', ['a: missing'])).toEqual(['a: missing'])
    expect(decided.unused()).toEqual([])
  })

  test('knows which rows nothing needs, and must be there', () => {
    expect(new DecidedDifferences(table(row)).unused()).toEqual([row])
    expect(() => new DecidedDifferences('no table')).toThrow('There is no table')
  })
})
