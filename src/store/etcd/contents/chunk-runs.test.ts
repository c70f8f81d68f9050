import { expect, test } from 'vitest'
import { Keys } from '../keys/keys.ts'
import { chunkRuns } from './chunk-runs.ts'

const keys = new Keys('w/')
const chunk = (stamp: number, index: number): { key: string } => ({
  key: keys.of({ of: 'chunk', stamp, index }),
})

test('chunks of one content are one run, and no run has a key of another form', () => {
  const foreign = { key: `${chunk(7, 1).key}x` }
  const found = [chunk(7, 0), chunk(7, 1), foreign, chunk(7, 2), chunk(8, 0), chunk(8, 1)]
  const runs = chunkRuns(keys, found)
  const within = runs.map(({ range: { key, end = '' } }) =>
    found.flatMap((one, index) => (one.key >= key && one.key < end ? [index] : [])),
  )
  expect(within).toEqual([[0, 1], [3], [4, 5]])
  expect(runs.map(({ stamp }) => stamp)).toEqual([7, 7, 8])
})
