/** The programs of the chart, started here. Those on etcd are in chart-on-etcd.night.test.ts. */
import { describe, test } from 'vitest'
import { etcdTools } from '../support/etcd.ts'
import { startTwice } from './chart-programs.ts'

describe.skipIf(etcdTools.skip)(`what the chart starts ${etcdTools.reason}`, () => {
  test('one server makes its administrator once, and answers its probes', async () => {
    await startTwice({ firstAdministrator: { existingSecret: 'admin' } })
  }, 600_000)
})
