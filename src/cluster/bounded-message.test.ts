import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { boundedJson, LargeMessage, LIST, type MessageSize, PAGE, SMALL } from './bounded-message.ts'

const SIZES: readonly (readonly [string, MessageSize])[] = [
  ['small', SMALL],
  ['page', PAGE],
  ['list', LIST],
]
/** Bodies that take long to parse, as large as a message may be. */
const BOMBS: Readonly<Record<string, (bytes: number) => string>> = {
  'brackets in brackets': (bytes) => '['.repeat(bytes / 2) + ']'.repeat(bytes / 2),
  'braces in braces': (bytes) => '{"":'.repeat(bytes / 5) + '0' + '}'.repeat(bytes / 5 - 1),
  'empty objects': (bytes) => `[${'{},'.repeat(bytes / 3 - 2)}{}]`,
  'empty lists': (bytes) => `[${'[],'.repeat(bytes / 3 - 2)}[]]`,
  numbers: (bytes) => `[${'0,'.repeat(bytes / 2 - 2)}0]`,
  'an object with many keys': (bytes) => `[{${'"":0,'.repeat(bytes / 5 - 3)}"":0}]`,
}

describe.each(SIZES)('a message of the size %s', (_, size) => {
  test.each(Object.keys(BOMBS))('of %s is refused before it is parsed', (name) => {
    const body = Buffer.from(BOMBS[name]!(size.bytes))
    expect(body.length).toBeLessThanOrEqual(size.bytes)
    const parse = vi.spyOn(JSON, 'parse')
    expect(() => boundedJson(body, size)).toThrow(LargeMessage)
    expect(parse).not.toHaveBeenCalled()
    parse.mockRestore()
  })
})

test('marks in texts do not count, whatever is escaped', () => {
  const text = '[{:,"\\'.repeat(1_000)
  const value = { [text]: [text, 1, `\\"${text}`] }
  expect(boundedJson(Buffer.from(JSON.stringify(value)), { bytes: 0, marks: 10 })).toEqual(value)
})

test('what is no bomb is read as JSON.parse reads it, and texts of no JSON are refused by it', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      expect(boundedJson(Buffer.from(text), LIST)).toEqual(JSON.parse(text))
    }),
  )
  for (const text of ['', '"', '"\\', '[', '{]', ']]]]', '"[[[['])
    expect(() => boundedJson(Buffer.from(text), SMALL)).toThrow(SyntaxError)
})

test('a list of a hundred thousand watchers is read', () => {
  const watchers = Array.from({ length: 100_000 }, (_, index) => ({
    ip: `10.0.${index}`,
    md5: 'a'.repeat(32),
  }))
  expect(boundedJson(Buffer.from(JSON.stringify(watchers)), LIST)).toHaveLength(100_000)
})
