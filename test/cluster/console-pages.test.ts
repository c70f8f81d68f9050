/** In a browser: what the pages of a cluster say of its servers and clients. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Browser } from 'playwright-core'
import { browserTool, startBrowser, Visit } from '../browser/chromium.ts'
import { clientsOf, md5 } from '../interface/client.ts'
import { clusterForTests } from '../support/cluster.ts'
import { ETCD_HOOK_MS, etcdTools } from '../support/etcd.ts'
import { connectGrpc, type GrpcClient } from '../support/grpc-client.ts'

describe.skipIf(etcdTools.skip || browserTool.skip)(
  'the console of three servers',
  { timeout: 180_000 },
  () => {
    const cluster = clusterForTests()
    let browser: Browser
    const open: GrpcClient[] = []
    beforeAll(async () => {
      browser = await startBrowser()
    }, ETCD_HOOK_MS)
    afterAll(async () => {
      await Promise.all(open.map((client) => client.close()))
      await browser?.close()
    })

    test('counts the listeners of all servers, and knows when a killed server last answered', async () => {
      const [first, , third] = cluster.servers
      const { svc } = clientsOf(first!.url)
      await svc.post('/cs/configs', { dataId: 'shared.txt', group: 'G', content: 'x', type: 'text' })
      for (const server of cluster.servers) {
        const client = await connectGrpc(server)
        open.push(client)
        const configListenContexts = [{ dataId: 'shared.txt', group: 'G', tenant: '', md5: md5('x') }]
        await client.ask('ConfigBatchListenRequest', { listen: true, configListenContexts })
      }
      const visit = await Visit.open(browser, `${first!.url}/ui/`)
      await visit.at('#/configs')
      const listed = visit.page.getByRole('row', { name: /shared\.txt/ })
      await listed.getByRole('cell', { name: '3', exact: true }).waitFor()
      await visit.at('#/config?ns=public&group=G&dataId=shared.txt&tab=watchers')
      await visit.page.getByText('3 of 3 clients have the current version.').waitFor()

      await visit.at('#/servers')
      const row = visit.page.getByRole('row', { name: new RegExp(`:${third!.port}`) })
      await row.getByText('Up').waitFor()
      await row.getByText(/^\d+ services, \d+ instances$/).waitFor()
      await third!.kill()
      await visit.at('#/home')
      await visit.page.getByText('This server does not reply').waitFor()
      expect(await visit.page.getByText('Everything is fine.').count()).toBe(0)
      await visit.at('#/servers')
      await row.getByText('Does not reply').or(row.getByText('Away')).waitFor()
      await row.getByText('Away').waitFor()
      const heardMs = Date.parse((await row.locator('time').getAttribute('datetime'))!)
      expect(Date.now() - heardMs).toBeGreaterThan(5_000)
      expect(await row.locator('time').textContent()).not.toBe('now')
      expect(visit.faults).toEqual([])
      await visit.close()
    })
  },
)
