import { expect, test } from 'vitest'
import { ORDERS } from '../../core/core.test-support.ts'
import type { KnownInstance } from '../../core/decisions/view.ts'
import { auditedBatch } from './audited-instances.ts'

const known = (ip: string) => ({ record: { address: { ip, port: 80, cluster: 'c' } } }) as KnownInstance

test('an instance that a batch has updated is not left as it was, however its address is written', () => {
  const instances = ['FE80:0:0:0:0:0:0:1', 'fe80::2', '10.0.0.3', '10.0.0.4'].map((ip) => ({
    ip,
    port: 80,
    cluster: undefined,
  }))
  const updated = [known('fe80::1'), known('FE80::0:2'), known('10.0.0.3')]
  const { names } = auditedBatch(updated, { serviceKey: ORDERS, instances })
  expect([names?.changed.count, names?.left]).toMatchObject([
    3,
    { count: 1, names: [expect.stringContaining('10.0.0.4')] },
  ])
})
