/** The programs of the chart with the store in etcd, started here. */
import { describe, expect, test } from 'vitest'
import { ETCD_HOOK_MS, etcdTools, startEtcd } from '../support/etcd.ts'
import { expanded, manifestsOf, workloads } from './chart.ts'
import { probed, startTwice } from './chart-programs.ts'

describe.skipIf(etcdTools.skip)(`what the chart starts ${etcdTools.reason}`, () => {
  test(
    'a server on etcd does so too, on the etcd that the chart describes',
    async () => {
      const firstAdministrator = { existingSecret: 'admin' }
      const values = { store: 'etcd', firstAdministrator, etcd: { replicas: 1, quota: '64Mi' } }
      const [container] = workloads(await manifestsOf(values)).get('etcd')!.spec.template.spec.containers
      // The places are those of the test; what else the chart says must be flags that etcd knows.
      const flags = Object.fromEntries(
        container!.args
          .map((word) => /^--([a-z-]+)=(.*)$/.exec(expanded(word, { POD_NAME: 'etcd-1' }))!.slice(1, 3))
          .filter(([name]) => !/-urls$|^(?:name|data-dir|initial-cluster)$/.test(name!)),
      ) as Record<string, string>
      expect(Object.keys(flags).toSorted()).toEqual([
        'initial-cluster-state',
        'initial-cluster-token',
        'quota-backend-bytes',
      ])
      const etcd = await startEtcd({ flags })
      try {
        const metrics = Number(new URL(etcd.members[0]!.health).port)
        expect(await probed(container!, { metrics })).toEqual([200, 200, 200])
        await startTwice(values, etcd.endpoints.join(','))
      } finally {
        await etcd.stop()
      }
    },
    ETCD_HOOK_MS + 120_000,
  )
})
