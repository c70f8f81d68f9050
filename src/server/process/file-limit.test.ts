import { expect, test } from 'vitest'
import { withinFiles } from './file-limit.ts'

const DEFAULTS = { maxConnections: 20_000, maxHeldPolls: 18_000, grpcPort: 'auto' } as const

test.each([
  ['enough files', DEFAULTS, 65_536, [20_000, 18_000]],
  ['no limit', DEFAULTS, undefined, [20_000, 18_000]],
  ['as many files as connections', DEFAULTS, 20_000, [9_644, 8_679]],
  ['a port for HTTP alone', { ...DEFAULTS, grpcPort: 0 } as const, 20_000, [19_544, 17_589]],
  ['few polls', { ...DEFAULTS, maxHeldPolls: 100 }, 20_000, [9_644, 100]],
  ['hardly any files', DEFAULTS, 256, [1, 1]],
])(
  'with %s, connections and polls leave files for the others',
  (...[, limits, files, [connections, polls]]) => {
    expect(withinFiles(limits, files)).toEqual({
      ...limits,
      maxConnections: connections,
      maxHeldPolls: polls,
    })
  },
)
