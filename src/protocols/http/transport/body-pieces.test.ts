import { expect, test } from 'vitest'
import { BodyPieces } from './body-pieces.ts'

function gathered(sizes: readonly number[]): { pieces: Buffer[]; isWhole: boolean } {
  const bytes = Buffer.from(Array.from({ length: sizes.reduce((a, b) => a + b) }, (_, at) => at % 251))
  let at = sizes[0]!
  const body = new BodyPieces(bytes.subarray(0, at))
  for (const size of sizes.slice(1)) body.add(bytes.subarray(at, (at += size)))
  return { pieces: [...body], isWhole: body.whole(bytes.length).equals(bytes) }
}

test.each([
  ['one piece', [5], 1],
  ['a few', [1, 2, 3], 3],
  ['very many of one byte', Array<number>(100_000).fill(1), 100_000 / 256 + 256],
  ['small ones among larger ones', [1, 1, 1000, 1, 1].concat(Array<number>(2_000).fill(3)), 300],
])('%s are one body, in few pieces', (_, sizes, most) => {
  const { pieces, isWhole } = gathered(sizes)
  expect(isWhole).toBe(true)
  expect(pieces.length).toBeLessThanOrEqual(most)
})

test('large pieces are not copied', () => {
  const { pieces, isWhole } = gathered(Array<number>(600).fill(2_000))
  expect(isWhole).toBe(true)
  expect(pieces).toHaveLength(600)
})
