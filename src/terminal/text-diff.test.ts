import fc from 'fast-check'
import { expect, test } from 'vitest'
import { unifiedDiff } from './text-diff.ts'

const diff = (from: string, to: string): string =>
  unifiedDiff({ name: 'a', text: from }, { name: 'b', text: to }).toString()

test('equal texts have no difference', () => expect(diff('a\n', 'a\n')).toBe(''))

test('a changed line is shown with three lines around it', () => {
  const lines = Array.from({ length: 20 }, (_, line) => `line ${line}\n`)
  const changed = lines.with(10, 'changed\n')
  expect(diff(lines.join(''), changed.join(''))).toBe(`--- a
+++ b
@@ -8,7 +8,7 @@
 line 7
 line 8
 line 9
-line 10
+changed
 line 11
 line 12
 line 13
`)
})

test('line ends, a byte order mark and a missing end of the last line are visible', () => {
  expect(diff('a\n', '\uFEFFa\r\n')).toContain('-a\n+\\u{feff}a\\x0d\n')
  expect(diff('a\n', 'a')).toContain('-a\n+a\n\\ No newline at end of file\n')
  expect(diff('\u001b[2Ja\tb\n', '')).toContain('@@ -1,1 +0,0 @@\n-\\x1b[2Ja\tb\n')
})

test('very different texts are shown whole', () => {
  const of = (name: string) => Array.from({ length: 3_000 }, (_, line) => `${name} ${line}\n`).join('')
  expect(diff(of('a'), of('b')).match(/^[-+]/gm)).toHaveLength(6_002)
})

test('a difference makes the one text of the other', () => {
  const texts = fc.array(fc.constantFrom('a\n', 'b\n', 'c\n', '\n', 'd'), { maxLength: 12 }).map((lines) => {
    const end = lines.indexOf('d')
    return (end === -1 ? lines : lines.slice(0, end + 1)).join('')
  })
  fc.assert(
    fc.property(texts, texts, (from, to) => {
      expect(patched(from, diff(from, to))).toBe(to)
    }),
    { numRuns: 300 },
  )
})

/** A text after applying the lines of a difference. */
function patched(from: string, difference: string): string {
  if (difference === '') return from
  const lines = from.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const result: string[] = []
  let next = 0
  const body = difference.split('\n').slice(2, -1)
  for (const [index, line] of body.entries()) {
    const range = /^@@ -(\d+),(\d+)/.exec(line)
    if (range !== null) {
      const start = Number(range[1]) - (range[2] === '0' ? 0 : 1)
      result.push(...lines.slice(next, start))
      next = start
    } else if (!line.startsWith('\\')) {
      const text = `${line.slice(1)}${body[index + 1]?.startsWith('\\') ? '' : '\n'}`
      if (!line.startsWith('+')) expect(lines[next++]).toBe(text)
      if (!line.startsWith('-')) result.push(text)
    }
  }
  return [...result, ...lines.slice(next)].join('')
}
