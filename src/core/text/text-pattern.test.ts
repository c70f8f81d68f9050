import { array, assert, constantFrom, property } from 'fast-check'
import { expect, test } from 'vitest'
import { TextPattern, type Units } from './text-pattern.ts'

test.each([
  ['', '', true],
  ['', 'a', false],
  ['app', 'app', true],
  ['app', 'App', false],
  ['app', 'apps', false],
  ['*', '', true],
  ['*', 'any.text:at-all', true],
  ['app-*', 'app-', true],
  ['app-*', 'app-1', true],
  ['app-*', 'my-app-1', false],
  ['*.yaml', 'a.yaml', true],
  ['*.yaml', 'a.yaml.old', false],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['*ab*ab*', 'ab', false],
  ['*ab*ab*', 'xabyabz', true],
  ['*aab*', 'aaab', true],
  ['a.c', 'abc', false],
  ['a**c', 'abbbc', true],
])('%j and %j', (pattern, text, expected) => {
  expect(new TextPattern(pattern).matches(text)).toBe(expected)
})

test('it matches the same texts as a regular expression of the same meaning', () => {
  const letters = array(constantFrom('a', 'b'), { maxLength: 8 }).map((parts) => parts.join(''))
  const patterns = array(constantFrom('a', 'b', '*'), { maxLength: 8 }).map((parts) => parts.join(''))
  assert(
    property(patterns, letters, (pattern, text) => {
      const model = new RegExp(`^${pattern.replace(/\*+/g, '.*')}$`)
      expect(new TextPattern(pattern).matches(text)).toBe(model.test(text))
    }),
    { numRuns: 2_000 },
  )
})

test('equal patterns have one source, and only a wildcard alone matches everything', () => {
  expect(new TextPattern('a***b').source).toBe('a*b')
  expect(['*', '***', 'a*', '', 'a'].map((text) => new TextPattern(text).isAny)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
})

test.each([
  ['many wildcards', '*a'.repeat(500)],
  ['many wildcards and an end that is missing', `${'*a'.repeat(500)}b`],
  ['a long piece that nearly fits everywhere', `*${'a'.repeat(500)}b*`],
  ['two pieces that nearly fit everywhere', `*${'ab'.repeat(200)}c*${'ba'.repeat(200)}c*`],
])('a comparison with %s reads no unit of a long text more than twice', (_, pattern) => {
  for (const text of ['a'.repeat(100_000), 'ab'.repeat(50_000)]) {
    const counted = countingText(text)
    new TextPattern(pattern).matches(counted.text)
    expect(counted.reads()).toBeLessThanOrEqual(2 * text.length)
  }
})

test('a text that begins differently is left after its first unit', () => {
  const counted = countingText('b'.repeat(100_000))
  new TextPattern('a*b').matches(counted.text)
  expect(counted.reads()).toBe(1)
})

function countingText(text: string): { text: Units; reads: () => number } {
  let reads = 0
  const charCodeAt = (at: number): number => {
    reads++
    return text.charCodeAt(at)
  }
  return { text: { length: text.length, charCodeAt }, reads: () => reads }
}
