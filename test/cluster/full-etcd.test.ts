/** Servers whose etcd has no space left (docs/cluster.md, Sizing of etcd). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { NamingClient, portsOf } from '../grpc/naming-fixture.ts'
import { clientsOf, type Reply } from '../interface/client.ts'
import { describeOnEtcd, ETCD_HOOK_MS, type Etcd, startEtcd } from '../support/etcd.ts'
import { connectGrpc } from '../support/grpc-client.ts'
import { freePort, startWaypost, type Waypost } from '../support/waypost.ts'

const QUOTA_BYTES = 16 * 1024 * 1024
const SPACE = 'etcd has raised its alarm NOSPACE'

let etcd: Etcd
let server: Waypost
let client: NamingClient
const start = async (): Promise<Waypost> =>
  startWaypost({
    settings: {
      store: 'etcd',
      'etcd-endpoints': etcd.endpoints.join(','),
      'etcd-prefix': 'full',
      'peer-port': await freePort(),
      // Nothing is refused before etcd itself does.
      'store-reserve': '0',
    },
  })

describeOnEtcd('while etcd is full', 30_000, () => {
  let refused: Reply
  const http = () => clientsOf(server.url)

  beforeAll(async () => {
    etcd = await startEtcd({ quotaBytes: QUOTA_BYTES })
    server = await start()
    client = new NamingClient(await connectGrpc(server))
    await client.register('there', { port: 1 })
    for (let number = 0; (refused?.status ?? 200) === 200 && number < 100; number++) {
      const content = `${number} ${'x'.repeat(900_000)}`
      refused = await http().svc.post('/cs/configs', { dataId: `item-${number}`, group: 'G', content })
    }
  }, ETCD_HOOK_MS)

  afterAll(async () => {
    await client?.grpc.close()
    await server?.kill()
    await etcd?.stop()
  })

  test('changes are refused with the reason, also removals', async () => {
    expect(refused.json()).toMatchObject({ status: 507, detail: expect.stringContaining(SPACE) as string })
    const removed = await http().svc.delete('/cs/configs', { dataId: 'item-0', group: 'G' })
    expect([removed.status, removed.text]).toEqual([507, expect.stringContaining(SPACE)])
    const { body } = await client.grpc.ask('ConfigPublishRequest', { dataId: 'a', group: 'G', content: 'x' })
    expect(body).toMatchObject({ success: false, message: expect.stringContaining(SPACE) as string })
  })

  test('what is there is read, and the server is ready with a warning', async () => {
    expect((await http().svc.get('/cs/configs', { dataId: 'item-0', group: 'G' })).status).toBe(200)
    expect(portsOf(await client.query('there'))).toEqual([1])
    const ready = await fetch(`${server.url}/readyz`)
    expect([ready.status, await ready.text()]).toEqual([200, expect.stringContaining(SPACE)])
  })

  test('another server does not start, and says why', async () => {
    const waiting = 'the start waits until its alarm NOSPACE is lifted'
    await expect(start()).rejects.toThrow(waiting)
  })
})
