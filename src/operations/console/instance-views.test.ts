import { expect, test } from 'vitest'
import type { Instance } from '../../core/naming/state/service-entry.ts'
import { inAddressOrder } from './instance-views.ts'

const instanceAt = (ip: string, port = 1, cluster = 'C'): Instance =>
  ({ record: { address: { ip, port, cluster } } }) as Instance

test('addresses are sorted by number, then names by text, then by port and cluster', () => {
  const sorted = [
    instanceAt('9.0.0.1'),
    instanceAt('10.0.0.2'),
    instanceAt('10.0.0.10', 80),
    instanceAt('10.0.0.10', 443, 'A'),
    instanceAt('10.0.0.10', 443, 'B'),
    instanceAt('a.example'),
    instanceAt('b.example'),
  ]
  expect(inAddressOrder(sorted.toReversed())).toEqual(sorted)
})

test('too many stay as they are', () => {
  const many = Array.from({ length: 20_001 }, (_, index) => instanceAt('10.0.0.1', 30_000 - index))
  expect(inAddressOrder(many)).toBe(many)
})
