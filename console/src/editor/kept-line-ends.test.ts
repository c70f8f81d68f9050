import { history, redo, undo } from '@codemirror/commands'
import { EditorState, type Transaction } from '@codemirror/state'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { keepLineEnds, textOf } from './kept-line-ends.ts'
import { comparedEnds, lineEndsOf, type LineEnd, linesOf, withLf, withoutMarks } from './line-ends.ts'

const open = (text: string): EditorState =>
  EditorState.create({ doc: text, extensions: [history(), keepLineEnds(text)] })

const end = fc.constantFrom<LineEnd>('\n', '\r\n', '\r')
const text = fc
  .array(
    fc.tuple(
      fc.constantFrom('a', 'b: c', '\uFEFFx', '😀', '\u2028', '\u0000'),
      fc.option(end, { nil: '' as const }),
    ),
  )
  .map((parts) => parts.flat().join(''))

test('a text that is opened and left alone is the same', () => {
  fc.assert(
    fc.property(text, (one) => {
      expect(textOf(open(one))).toBe(one)
    }),
  )
})

test('an edit of one letter changes that letter only', () => {
  fc.assert(
    fc.property(text, fc.nat(), fc.constantFrom('Z', ''), (one, place, typed) => {
      const lines = linesOf(one)
      const index = place % lines.length
      const start = lines.slice(0, index).reduce((sum, line) => sum + line.text.length + 1, 0)
      const line = lines[index]!
      const at = start + (typed === '' ? 0 : place % (line.text.length + 1))
      const to = typed === '' ? start + line.text.length : at
      const state = open(one)
      const { state: edited } = state.update({ changes: { from: at, to, insert: typed } })
      const own = line.text.slice(0, at - start) + typed + line.text.slice(to - start)
      const expected = lines.map((each, i) => (i === index ? own : each.text) + each.end).join('')
      expect(textOf(edited)).toBe(expected)
    }),
  )
})

test('after any edits each line that was left alone has its own end, and new lines the usual one', () => {
  const edit = fc.record({
    from: fc.nat(),
    length: fc.nat({ max: 6 }),
    insert: fc.constantFrom('', 'x', 'x\ny', '\n', '\n\n'),
  })
  fc.assert(
    fc.property(text, fc.array(edit, { maxLength: 6 }), (one, edits) => {
      const usual = lineEndsOf(one).usual ?? '\n'
      let model: string[] = linesOf(one).flatMap((line) => [
        ...line.text.split(''),
        ...(line.end === '' ? [] : [line.end]),
      ])
      let state = open(one)
      for (const { from, length, insert } of edits) {
        const at = from % (model.length + 1)
        const to = Math.min(at + length, model.length)
        state = state.update({ changes: { from: at, to, insert } }).state
        model = [
          ...model.slice(0, at),
          ...insert.split('').map((each) => (each === '\n' ? usual : each)),
          ...model.slice(to),
        ]
        expect(textOf(state)).toBe(model.join(''))
      }
      const command = (
        run: (target: { state: EditorState; dispatch: (tr: Transaction) => void }) => boolean,
      ): void => {
        while (run({ state, dispatch: (transaction) => (state = transaction.state) }));
      }
      const last = textOf(state)
      command(undo)
      expect(textOf(state)).toBe(one)
      command(redo)
      expect(textOf(state)).toBe(last)
    }),
  )
})

describe('a comparison of line ends', () => {
  test('of equal kinds has no marks', () => {
    expect(comparedEnds('a\r\nb', 'a\nb')).toEqual({
      texts: ['a\nb', 'a\nb'],
      unmarked: undefined,
      onlyEndsDiffer: true,
    })
    expect(comparedEnds('a\n', 'b\n').onlyEndsDiffer).toBe(false)
  })

  test('of a mixed text marks the lines that differ, and only those', () => {
    const { texts, unmarked, onlyEndsDiffer } = comparedEnds('a\r\nb\r\nc\r\n', 'a\r\nb\nc\r\n')
    expect([unmarked, onlyEndsDiffer]).toEqual(['\r\n', true])
    expect(texts[0]).toBe('a\nb\nc\n')
    expect(texts[1].split('\n').map((line) => line.length)).toEqual([1, 2, 1, 0])
    expect(withoutMarks(texts[1], '')).toBe(texts[0])
  })

  test('marks differ where lines differ, whatever the texts are', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        for (const [one, other] of [
          [before, after],
          [before, before],
        ] as const) {
          const { texts, onlyEndsDiffer } = comparedEnds(one, other)
          expect(texts.map((each) => withoutMarks(each, ''))).toEqual([withLf(one), withLf(other)])
          const areUniform = ![one, other].some((each) => lineEndsOf(each).isMixed)
          expect(texts[0] === texts[1]).toBe(one === other || (areUniform && onlyEndsDiffer))
        }
      }),
    )
  })
})
