import { expect, test } from 'vitest'
import { inFormOf } from './edit-config.ts'

test.each([
  ['the same text', 'a\nb\n', 'a\nb\n', 'a\nb\n'],
  ['an end that the editor has added', 'a\nb', 'a\nc\n', 'a\nc'],
  ['line ends that the editor has changed', 'a\r\nb\r\n', 'a\nc\nd\n', 'a\r\nc\r\nd\r\n'],
  ['line ends of which some are new', 'a\r\nb\r\n', 'a\r\nb\nc\r\n', 'a\r\nb\r\nc\r\n'],
  ['line ends that the editor has made longer', 'a\nb\n', 'a\r\nc\r\n', 'a\nc\n'],
  ['a byte order mark that is gone', '\uFEFFa\n', 'b\n', '\uFEFFb\n'],
  ['a byte order mark that the editor has added', 'a\n', '\uFEFFb\n', 'b\n'],
  ['mixed line ends', 'a\r\nb\nc\n', 'a\r\nb\nd\n', 'a\r\nb\nd\n'],
  ['a text of one line', 'a', 'b\r\n', 'b'],
  ['several ends at the end', 'a', 'a\n\n', 'a\n'],
])('%s comes back in the form of the original', (...[, original, edited, result]) =>
  expect(inFormOf(original, edited)).toBe(result),
)
