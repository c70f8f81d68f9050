/** Gray versions on three servers: what a client sees is the same on each, also when one is killed. */
import { expect, test } from 'vitest'
import { clusterForTests } from '../support/cluster.ts'
import { describeOnEtcd } from '../support/etcd.ts'
import { connectGrpc, type GrpcClient } from '../support/grpc-client.ts'

const KEY = { dataId: 'gray', group: 'G' }
const PATH = '/nacos/v1/cs/configs'

describeOnEtcd('three servers with gray versions', 60_000, () => {
  const cluster = clusterForTests({ servers: 3 })

  const publish = async (url: string, content: string, betaIps?: string): Promise<void> => {
    const body = new URLSearchParams({ ...KEY, content })
    const headers: Record<string, string> = betaIps === undefined ? {} : { betaIps }
    expect(await (await fetch(`${url}${PATH}`, { method: 'POST', body, headers })).text()).toBe('true')
  }
  const seenBy = async (client: GrpcClient): Promise<unknown> =>
    (await client.ask('ConfigQueryRequest', KEY)).body['content']

  test('all give one client its version, and the others the formal one', async () => {
    const [one, two, three] = cluster.servers
    await publish(one!.url, 'formal')
    await publish(two!.url, 'beta', '10.0.0.7')
    const clients = await Promise.all(
      cluster.servers.flatMap((server) =>
        ['10.0.0.7', '10.0.0.8'].map((clientIp) => connectGrpc(server, { clientIp })),
      ),
    )
    await expect
      .poll(() => Promise.all(clients.map(seenBy)))
      .toEqual(['beta', 'formal', 'beta', 'formal', 'beta', 'formal'])
    const listening = clients[4]!
    await listening.ask('ConfigBatchListenRequest', { configListenContexts: [{ ...KEY, md5: '' }] })
    await cluster.servers[0]!.kill()
    // Out of the list, by another server than the one that it is connected to.
    await publish(two!.url, 'beta', '10.0.0.9')
    expect((await listening.next('ConfigChangeNotifyRequest')).body).toMatchObject(KEY)
    expect(await seenBy(listening)).toBe('formal')
    const late = await connectGrpc(three!, { clientIp: '10.0.0.9' })
    expect(await seenBy(late)).toBe('beta')
    await Promise.all([...clients.slice(2), late].map((client) => client.close()))
  })
})
