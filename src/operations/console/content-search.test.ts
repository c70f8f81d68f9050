import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ContentFilter, type Hit, hitsIn, isInContent, type Search } from './content-search.ts'

const finished = <T>(search: Search<T>): { value: T; yields: number } => {
  for (let yields = 0; ; yields++) {
    const step = search.next()
    if (step.done === true) return { value: step.value, yields }
  }
}
const hits = (content: string, filter: Partial<ContentFilter>): Hit[] | undefined =>
  finished(hitsIn(Buffer.from(content), { content: '', key: '', ...filter })).value
const linesOf = (content: string, filter: Partial<ContentFilter>): number[] | undefined =>
  hits(content, filter)?.map(({ line }) => line)

describe('lines with a text', () => {
  test('in any case, at most three', () => {
    expect(hits('a: |\n  Some PORT\nport: 1', { content: 'port' })).toEqual([
      { line: 2, text: '  Some PORT' },
      { line: 3, text: 'port: 1' },
    ])
    expect(linesOf('x\n'.repeat(9), { content: 'x' })).toEqual([1, 2, 3])
  })

  test('undefined without the text, and no line for a text over several lines', () => {
    expect(hits('a\nb', { content: 'c' })).toBeUndefined()
    expect(hits('a\nb', { content: 'a\nb' })).toEqual([])
  })

  test('key and content together are on one line', () => {
    const content = 'server:\n  port: 80\n  host: 80.example\nport: 1'
    expect(linesOf(content, { key: 'server.port' })).toEqual([2])
    expect(linesOf(content, { key: 'port', content: '80' })).toEqual([2])
    expect(linesOf(content, { key: 'host', content: 'port' })).toBeUndefined()
  })
})

describe('a content of many pieces', () => {
  const filler = (bytes: number): string => 'abcdefgh '.repeat(Math.ceil(bytes / 9)).slice(0, bytes)

  test('is found where it is, also over the end of a piece', () => {
    for (const before of [0, 16_380, 16_384, 32_766, 100_000]) {
      for (const between of ['', '\n']) {
        const content = Buffer.from(`${filler(before)}${between}n€edle${between}${filler(50_000)}`)
        expect(finished(isInContent(content, { content: 'N€EDLE', key: '' })).value).toBe(true)
      }
    }
  })

  test('is read as the whole text, wherever the pieces end', () => {
    const letters = fc.constantFrom('a', 'ä', '€', '😀', '\n', 'b')
    const block = fc.tuple(fc.array(letters, { maxLength: 12 }), fc.nat({ max: 40_000 }))
    fc.assert(
      fc.property(fc.array(block, { maxLength: 4 }), (blocks) => {
        const text = blocks.map(([part, length]) => part.join('') + 'x'.repeat(length)).join('')
        const wanted = 'xa€'
        const found = finished(isInContent(Buffer.from(text), { content: wanted, key: '' })).value
        expect(found).toBe(text.includes(wanted))
        const expected = text.split('\n').flatMap((line, at) => (line.includes(wanted) ? [at + 1] : []))
        expect(linesOf(text, { content: wanted }) ?? []).toEqual(expected.slice(0, 3))
      }),
      { numRuns: 200 },
    )
  })

  test('a line longer than a piece counts as one, and its end is searched', () => {
    const long = `key: ${filler(100_000)}needle`
    expect(linesOf(`a: 1\n${long}\nb: needle`, { content: 'needle' })).toEqual([2, 3])
    expect(linesOf(`a: 1\n${long}\nb: needle`, { content: 'needle', key: 'key' })).toEqual([2])
    expect(hits(long, { content: 'needle' })?.[0]?.text).toHaveLength(201)
  })

  test('leaves turns to others, as many as it has pieces', () => {
    const content = Buffer.from(`k: ${'x'.repeat(10 * 1024 * 1024)}`)
    expect(finished(isInContent(content, { content: 'none', key: '' })).yields).toBeGreaterThan(600)
    const lines = Buffer.from('k: x\n'.repeat(1024 * 1024))
    expect(finished(isInContent(lines, { content: '', key: 'a.k' })).yields).toBeGreaterThan(300)
  })

  test('bytes that are no UTF-8 end as well', () => {
    const content = Buffer.alloc(100_000, 0x80)
    expect(finished(isInContent(content, { content: 'none', key: '' })).value).toBe(false)
    expect(finished(hitsIn(content, { content: 'none', key: 'k' })).value).toBeUndefined()
  })
})
