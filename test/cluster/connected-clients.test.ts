/** The connected clients of all servers are one list, and each server sends any client away. */
import { expect, test } from 'vitest'
import { clientsOf, unique, until } from '../interface/client.ts'
import { clusterForTests } from '../support/cluster.ts'
import { describeOnEtcd } from '../support/etcd.ts'
import { connectGrpc, type GrpcClient } from '../support/grpc-client.ts'

describeOnEtcd('the clients of two servers', 60_000, () => {
  const cluster = clusterForTests({ servers: 2 })

  const addressOf = (server: number): string => `127.0.0.1:${cluster.servers[server]!.port}`
  const svcOf = (server: number) => clientsOf(cluster.servers[server]!.url).svc
  const connect = (server: number, clientVersion: string): Promise<GrpcClient> =>
    connectGrpc(cluster.servers[server]!, { setup: { clientVersion } })

  test('are listed by each, in pages, and leave by the word of the other', async () => {
    const search = unique('library')
    const open = [await connect(0, search), await connect(1, search), await connect(1, search)]
    const places = open.map(({ connectionId: id }, index) => ({ id, server: addressOf(index === 0 ? 0 : 1) }))
    const servers = [addressOf(0), addressOf(1)].sort()
    const expected = servers.flatMap((each) => places.filter(({ server }) => server === each))
    for (const server of [0, 1]) {
      const page = async (pageNo: number) =>
        (await svcOf(server).get('/console/clients', { search, pageNo, pageSize: 2 })).json()
      const first = await until(
        () => page(1),
        ({ missingServers }) => missingServers.length === 0,
      )
      const second = await page(2)
      expect(first).toMatchObject({ totalCount: 3, server: addressOf(server) })
      expect([...first.pageItems, ...second.pageItems]).toMatchObject(expected)
    }

    const [, moved, closed] = open as [GrpcClient, GrpcClient, GrpcClient]
    expect((await svcOf(0).put('/console/clients/move', { id: moved.connectionId })).status).toBe(200)
    const { body } = await moved.next('ConnectResetRequest')
    expect(`${body['serverIp']}:${body['serverPort']}`).toBe(addressOf(0))
    expect((await svcOf(0).delete('/console/clients', { id: closed.connectionId })).status).toBe(200)
    await Promise.all([moved.ended, closed.ended])
    const answer = await svcOf(0).delete('/console/clients', { id: closed.connectionId })
    expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('client-not-found')])
    const { events } = await until(
      async () => (await svcOf(0).get('/audit', { item: closed.connectionId })).json(),
      (audit) => audit.events.length === 2,
    )
    expect(events).toMatchObject([{ result: 'refused' }, { operation: 'close client', result: 'done' }])
    await open[0]!.close()
  })

  test('are listed without those of a server that does not reply, which is named', async () => {
    const client = await connect(0, unique('library'))
    await cluster.servers[1]!.kill()
    const answer = await svcOf(0).get('/console/clients')
    expect(answer.json()).toMatchObject({ missingServers: [addressOf(1)] })
    const listed = await until(
      async () => (await svcOf(0).get('/console/clients')).json().pageItems,
      (items) => items.length === 1,
    )
    expect(listed).toMatchObject([{ id: client.connectionId }])
    const unknown = await svcOf(0).put('/console/clients/move', { id: 'nobody' })
    expect(unknown.text).toContain(addressOf(1))
    await client.close()
  })
})
