import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mergeTexts } from './merge-texts.ts'

const lines = (...texts: string[]): string => texts.join('\n')

describe('a merge', () => {
  test('takes each change where the other left the lines alone', () => {
    const merged = mergeTexts(
      lines('a', 'b', 'c', 'd'),
      lines('A', 'b', 'c', 'd'),
      lines('a', 'b', 'c', 'd', 'e'),
    )
    expect(merged).toEqual([{ kind: 'same', lines: ['A', 'b', 'c', 'd', 'e'] }])
  })

  test('asks about lines that both have changed', () => {
    const merged = mergeTexts(lines('a', 'b', 'c'), lines('a', 'mine', 'c'), lines('a', 'theirs', 'c'))
    expect(merged).toEqual([
      { kind: 'same', lines: ['a'] },
      { kind: 'conflict', base: ['b'], mine: ['mine'], theirs: ['theirs'] },
      { kind: 'same', lines: ['c'] },
    ])
  })

  test('asks where one has changed what the other has removed', () => {
    const merged = mergeTexts(lines('a', 'b', 'c'), lines('a', 'c'), lines('a', 'B', 'c'))
    expect(merged[1]).toEqual({ kind: 'conflict', base: ['b'], mine: [], theirs: ['B'] })
  })

  test('does not ask about the same change of both', () => {
    expect(mergeTexts('a', 'b', 'b')).toEqual([{ kind: 'same', lines: ['b'] }])
  })
})

const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 }).map((all) => all.join('\n'))

test('an edit alone is taken whole, whichever side made it', () => {
  fc.assert(
    fc.property(text, text, (base, edit) => {
      for (const merged of [mergeTexts(base, edit, base), mergeTexts(base, base, edit)])
        expect(merged.flatMap((part) => (part.kind === 'same' ? part.lines : ['?'])).join('\n')).toBe(edit)
    }),
  )
})

test('equal edits never conflict', () => {
  fc.assert(
    fc.property(text, text, (base, edit) => {
      expect(mergeTexts(base, edit, edit).filter(({ kind }) => kind === 'conflict')).toEqual([])
    }),
  )
})
