import { expect, test } from 'vitest'
import { BodyPieces } from './request-body.ts'

function gathered(
  sizes: readonly number[],
  isDeclared = false,
): { pieces: Buffer[]; isWhole: boolean; left: number } {
  const length = sizes.reduce((a, b) => a + b)
  const bytes = Buffer.from(Array.from({ length }, (_, at) => at % 251))
  let at = 0
  const body = new BodyPieces(isDeclared ? length : NaN)
  for (const size of sizes) body.add(bytes.subarray(at, (at += size)))
  return { pieces: [...body], isWhole: body.whole().equals(bytes), left: [...body].length }
}

const SHAPES: [string, number[], number][] = [
  ['one piece', [5], 1],
  ['a few', [1, 2, 3], 3],
  ['very many of one byte', Array<number>(100_000).fill(1), 100_000 / 256 + 256],
  ['small ones among larger ones', [1, 1, 1000, 1, 1].concat(Array<number>(2_000).fill(3)), 300],
]

test.each(SHAPES)('%s are one body, in few pieces', (_, sizes, most) => {
  const { pieces, isWhole } = gathered(sizes)
  expect(isWhole).toBe(true)
  expect(pieces.length).toBeLessThanOrEqual(most)
})

test.each(SHAPES)('%s of a declared length are one body', (_, sizes) => {
  expect(gathered(sizes, true).isWhole).toBe(true)
})

test('large pieces are not copied', () => {
  const { pieces, isWhole } = gathered(Array<number>(600).fill(2_000))
  expect(isWhole).toBe(true)
  expect(pieces).toHaveLength(600)
})

test('a body of a declared length is not there twice: its pieces are put in their places', () => {
  expect(gathered(Array<number>(600).fill(2_000), true).left).toBe(0)
})

test('a length is believed once a quarter has arrived', () => {
  const body = new BodyPieces(4_000)
  body.add(Buffer.alloc(999))
  expect([...body]).toHaveLength(1)
  body.add(Buffer.alloc(1))
  expect([...body]).toHaveLength(0)
  expect(body.whole()).toHaveLength(1_000)
})
