import fc from 'fast-check'
import { expect, test } from 'vitest'
import { contentAsJson, contentInJson, type JsonBody, jsonBody } from './json-content.ts'

async function textOf({ body, chunks }: JsonBody): Promise<string> {
  if (chunks === undefined) return body
  const pieces: Buffer[] = []
  for await (const chunk of chunks) {
    expect(chunk.length).toBeLessThanOrEqual(6 * 64 * 1024)
    pieces.push(chunk)
  }
  return Buffer.concat(pieces).toString('utf8')
}

/** Repeats a text until it is long, so that slices end within its characters. */
const longer = (text: string): string => text.repeat(Math.ceil(300_000 / Math.max(1, text.length)))

test('a long content is written as JSON.stringify writes it', async () => {
  const content = fc
    .string({ unit: 'binary', minLength: 1, maxLength: 20 })
    .filter((text) => text.isWellFormed())
  await fc.assert(
    fc.asyncProperty(content, content, async (one, other) => {
      const [long, second] = [longer(one), longer(other)]
      const value = (content: (text: string) => unknown) => ({
        a: 1,
        content: content(long),
        b: [content(second)],
        c: null,
      })
      const sent = jsonBody(
        value((text) => contentInJson(Buffer.from(text))),
        '{"data":',
        '}',
      )
      expect((await textOf(sent)) === `{"data":${JSON.stringify(value(String))}}`).toBe(true)
      expect(contentAsJson(Buffer.from(long)).equals(Buffer.from(JSON.stringify(long)))).toBe(true)
    }),
    { numRuns: 20 },
  )
})

test('a short content is a text, and needs no chunks', () => {
  expect(jsonBody({ content: contentInJson(Buffer.from('"é')) })).toEqual({ body: '{"content":"\\"é"}' })
})

test('a value that cannot be written leaves nothing for the next', () => {
  const long = contentInJson(Buffer.alloc(300_000, 'a'))
  const broken = {
    long,
    get now(): string {
      throw new Error('no')
    },
  }
  expect(() => jsonBody(broken)).toThrow('no')
  expect(jsonBody({ a: 1 })).toEqual({ body: '{"a":1}' })
})
