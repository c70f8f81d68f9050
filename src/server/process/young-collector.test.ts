import { expect, test } from 'vitest'
import { collectOnOneThread } from './young-collector.ts'

test.each([
  [1, ['--no-parallel-scavenge']],
  [4, ['--no-parallel-scavenge']],
  [5, []],
  [64, []],
])('on %i cores V8 gets the flags %j', (cores, expected) => {
  const flags: string[] = []
  collectOnOneThread(cores, (flag) => flags.push(flag))
  expect(flags).toEqual(expected)
})
