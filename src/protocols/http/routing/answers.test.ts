import { expect, test } from 'vitest'
import { jsonOfTexts } from './answers.ts'

/** Notes how many texts were made. */
function texts(count: number, length: number) {
  const made = { count: 0 }
  function* all(): Generator<string> {
    for (; made.count < count; made.count++) yield `${made.count % 10}`.repeat(length)
  }
  return {
    made,
    all: all(),
    whole: Array.from({ length: count }, (_, at) => `${at % 10}`.repeat(length)).join(''),
  }
}

async function* inTurns<T>(made: Iterator<T, void>): AsyncGenerator<T, void> {
  for (let next = made.next(); next.done !== true; next = made.next()) yield next.value
}

test.each([0, 1, 100])('a short answer of %i texts is made at once', (count) => {
  const { all, whole } = texts(count, 100)
  const body = Buffer.from(whole)
  expect(jsonOfTexts(all, inTurns)).toEqual({ status: 200, contentType: 'application/json', body })
})

test('a long answer is made while it is read, about 256 KiB at once', async () => {
  const { all, made, whole } = texts(1_000, 10_000)
  const { chunks, body, kept } = jsonOfTexts(all, inTurns)
  expect([body, kept]).toEqual(['', [expect.any(Buffer)]])
  const read: Buffer[] = []
  for await (const chunk of chunks!) {
    read.push(chunk)
    expect(made.count).toBeLessThanOrEqual(27 * read.length)
  }
  expect(Buffer.concat(read).toString() === whole).toBe(true)
  expect(Math.max(...read.map(({ length }) => length))).toBeLessThan(300 * 1024)
})
