import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LineEnd } from '../editor/line-ends.ts'
import { mergedText, mergeTexts } from './merge-texts.ts'

const lines = (...texts: string[]): string => texts.join('\n')

/** The merged parts as texts of lines; a conflict has three. */
const merged = (base: string, mine: string, theirs: string) =>
  mergeTexts(base, mine, theirs).map((part) => {
    const textsOf = (all: readonly { text: string }[]): string[] => all.map(({ text }) => text)
    return part.kind === 'same'
      ? textsOf(part.lines)
      : { base: textsOf(part.base), mine: textsOf(part.mine), theirs: textsOf(part.theirs) }
  })

describe('a merge', () => {
  test('takes each change where the other left the lines alone', () => {
    const parts = merged(lines('a', 'b', 'c', 'd'), lines('A', 'b', 'c', 'd'), lines('a', 'b', 'c', 'd', 'e'))
    expect(parts).toEqual([['A', 'b', 'c', 'd', 'e']])
  })

  test('asks about lines that both have changed', () => {
    const parts = merged(lines('a', 'b', 'c'), lines('a', 'mine', 'c'), lines('a', 'theirs', 'c'))
    expect(parts).toEqual([['a'], { base: ['b'], mine: ['mine'], theirs: ['theirs'] }, ['c']])
  })

  test('asks where one has changed what the other has removed', () => {
    const parts = merged(lines('a', 'b', 'c'), lines('a', 'c'), lines('a', 'B', 'c'))
    expect(parts[1]).toEqual({ base: ['b'], mine: [], theirs: ['B'] })
  })

  test('does not ask about the same change of both', () => {
    expect(merged('a', 'b', 'b')).toEqual([['b']])
  })

  test('keeps the end of each line, and takes a change of nothing but ends', () => {
    const base = 'a\r\nb\rc\nd\r\n'
    expect(settled(base, base.replace('a', 'A'), base.replace('c', 'C'))).toBe('A\r\nb\rC\nd\r\n')
    expect(settled(base, base.replace('b\r', 'b\r\n'), base.replace('d', 'D'))).toBe('a\r\nb\r\nc\nD\r\n')
    expect(settled('a\rb\rc', 'A\rb\rc', 'a\rb\rC')).toBe('A\rb\rC')
  })

  test('gives a line that is no longer the last the usual end', () => {
    const parts = mergeTexts('a\r\nb', 'a\r\nb\r\nmine', 'a\r\nb\r\ntheirs')
    const both = parts.flatMap((part) => (part.kind === 'same' ? part.lines : [...part.theirs, ...part.mine]))
    expect(mergedText(both, 'a\r\nb')).toBe('a\r\nb\r\ntheirs\r\nmine')
  })
})

/** The text of a merge without conflicts. */
function settled(base: string, mine: string, theirs: string): string {
  const all = mergeTexts(base, mine, theirs).flatMap((part) =>
    part.kind === 'same' ? part.lines : [{ text: '?', end: '' as const }],
  )
  return mergedText(all, mine)
}

const end = fc.constantFrom<LineEnd>('\n', '\r\n', '\r')
const text = fc
  .tuple(
    fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', ''), end), { maxLength: 12 }),
    fc.constantFrom('', 'a'),
  )
  .map(([all, last]) => all.map((line) => line.join('')).join('') + last)

test('an edit alone is taken whole, byte for byte, whichever side made it', () => {
  fc.assert(
    fc.property(text, text, (base, edit) => {
      for (const one of [settled(base, edit, base), settled(base, base, edit)]) expect(one).toBe(edit)
    }),
  )
})

test('equal edits never conflict', () => {
  fc.assert(
    fc.property(text, text, (base, edit) => {
      expect(settled(base, edit, edit)).toBe(edit)
    }),
  )
})

test('a long text is merged at once', () => {
  const long = Array.from({ length: 30_000 }, (_, index) => `key-${index}: 1`).join('\n')
  expect(settled(long, `x\n${long}`, `${long}\ny`)).toBe(`x\n${long}\ny`)
})
