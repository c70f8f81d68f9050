import { expect, test } from 'vitest'
import { youngBytes } from './memory-limits.ts'

// Measured with Node.js 20.20 in containers: `heap_size_limit` less the size of `--max-old-space-size`, in MiB.
test.each([
  [256, '', 3],
  [512, '--max-old-space-size=128', 3],
  [1_024, '--max-old-space-size=128', 12],
  [2_048, '', 24],
  [24_576, '--max-old-space-size=128', 48],
  [256, '--max-semi-space-size=8', 24],
  [24_576, '--max_semi_space_size 64 --max-old-space-size=128', 192],
])('in %i MiB with "%s" new objects have %i MiB of the heap', (memory, flags, young) => {
  expect(youngBytes(memory * 2 ** 20, flags) / 2 ** 20).toBe(young)
})
