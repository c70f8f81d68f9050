import { expect, test } from 'vitest'
import { collectOnOneThread } from './young-collector.ts'

test.each([
  [1, ['--no-parallel-scavenge']],
  [2, ['--no-parallel-scavenge']],
  [3, []],
  [64, []],
])('on %i cores V8 gets the flags %j', (cores, expected) => {
  const flags: string[] = []
  collectOnOneThread(cores, (flag) => flags.push(flag))
  expect(flags).toEqual(expected)
})
