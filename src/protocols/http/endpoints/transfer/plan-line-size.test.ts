import { describe, expect, test } from 'vitest'
import { FREEZING_SWITCHES } from '../../../../plan/freezing-switches.ts'
import { checkPlanLine } from './plan-line-size.ts'
import { thingOf } from './plan-things.ts'

const MAX_BYTES = 8_192
const LIMITS = { maxContentBytes: 1_048_576, maxInstanceMetadataBytes: MAX_BYTES }

const keys = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`key${at}`, '']))
const check = (line: object) => () => checkPlanLine(JSON.stringify(line), 2, MAX_BYTES)

describe('a line is refused before it is parsed', () => {
  test.each([
    ['metadata of an instance', { kind: 'instance', metadata: keys(4_200) }],
    ['metadata of a service', { kind: 'service', metadata: keys(4_200) }],
    ['metadata of a cluster', { kind: 'service', clusters: [{ metadata: {} }, { metadata: keys(4_200) }] }],
    ['fields of a checker', { kind: 'service', clusters: [{ checker: keys(4_200) }] }],
    ['fields of the line', { kind: 'user', ...keys(4_200) }],
  ])('for the %s', (...[, line]) => expect(check(line)).toThrow(/line 2 of the plan: .* more keys/))

  test('for many metadata together', () => {
    const clusters = Array.from({ length: 10 }, () => ({ metadata: keys(4_000) }))
    expect(check({ kind: 'service', clusters })).toThrow(/brackets and commas/)
  })
})

test('a line with all that may be there is read', () => {
  const metadata = Object.fromEntries(Array.from({ length: 1_300 }, (_, at) => [`key${at}`, '']))
  const cluster = { name: 'c', checker: { type: 'TCP' }, checkPort: 80, useInstancePort: true, metadata: {} }
  expect(check({ kind: 'service', metadata, clusters: Array(1_000).fill(cluster) })).not.toThrow()
  expect(check({ kind: 'config', content: '{,['.repeat(1_000_000) })).not.toThrow()
  expect(check({ kind: 'x', list: Array(20_000).fill(1) })).not.toThrow()
})

describe('a switch that stops requests', () => {
  const kindOf = (name: string, value: string) => thingOf({ kind: 'switch', name, value }, LIMITS)
  const VALUES = {
    overriddenServerStatus: 'DOWN',
    limitedUrlMap: '/svc:503',
    disableAddIP: 'true',
    sendBeatOnly: 'true',
  }

  test.each(FREEZING_SWITCHES)('%s is left out', (name) =>
    expect(kindOf(name, VALUES[name])).toEqual({
      kind: 'refused',
      reason: 'it would stop requests here, too; set it here if you want it',
    }),
  )

  test('is left out among several, and others come', () => {
    expect(kindOf('batch', '{"sendBeatOnly":true,"pushEnabled":false}')).toMatchObject({ kind: 'refused' })
    expect(kindOf('pushEnabled', 'false')).toMatchObject({ kind: 'switch' })
  })
})
