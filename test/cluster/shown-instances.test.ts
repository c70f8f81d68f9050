/** Why instances are as they are, as each of several servers shows it to people. */
import { expect, test } from 'vitest'
import { type Client, clientsOf, type Json, unique, until } from '../interface/client.ts'
import { expectProblem } from '../interface/problem.ts'
import { clusterForTests } from '../support/cluster.ts'
import { describeOnEtcd } from '../support/etcd.ts'
import type { Waypost } from '../support/waypost.ts'
import { connectGrpc } from '../support/grpc-client.ts'
import { NamingClient } from '../grpc/naming-fixture.ts'

const cluster = clusterForTests({ servers: 2 })

describeOnEtcd('two servers', 30_000, () => {
  const healths = async (serviceName: string): Promise<Json[]> =>
    Promise.all(
      cluster.servers.map(async ({ url }) => {
        const shown = await clientsOf(url).svc.get('/console/instances', { serviceName })
        return shown.json().pageItems?.[0]?.health
      }),
    )

  test('say both that an instance is probed, and the one that does it what it has found', async () => {
    const serviceName = unique('svc')
    const [{ url, port }] = cluster.servers as [Waypost]
    const instance = { serviceName, ip: '127.0.0.1', port, ephemeral: false }
    await clientsOf(url).svc.post('/ns/instance', instance)
    const found = await until(
      () => healths(serviceName),
      (all) => all.some((health) => health?.check) && all.every((health) => health !== undefined),
    )
    expect(found.map(({ reason }) => reason)).toEqual(['probe', 'probe'])
    expect(found.filter(({ check }) => check !== null)).toMatchObject([{ check: { type: 'TCP', up: true } }])
  })

  test('say where the connection of an instance is', async () => {
    const serviceName = unique('svc')
    const [one] = cluster.servers
    const client = new NamingClient(await connectGrpc(one!))
    await client.register(serviceName)
    const found = await until(
      () => healths(serviceName),
      (all) => all.every((health) => health !== undefined),
    )
    const server = `127.0.0.1:${one!.port}`
    expect(found.map(({ connection }) => connection)).toMatchObject([
      { where: 'here', ip: '127.0.0.1' },
      { where: 'elsewhere', server },
    ])
    await client.grpc.close()
  })

  test('know an address by every spelling, also if both register it at once', async () => {
    const spellings = ['[2001:db8::5]', '2001:DB8:0:0:0:0:0:5']
    const clients = cluster.servers.map(({ url }) => clientsOf(url).svc)
    const listed = async (serviceName: string): Promise<number[]> =>
      Promise.all(
        clients.map(
          async (svc) => (await svc.get('/ns/instance/list', { serviceName })).json().hosts?.length,
        ),
      )
    const both = (length: number) => (found: number[]) => found.every((one) => one === length)
    for (let round = 0; round < 10; round++) {
      const serviceName = unique('svc')
      await Promise.all(
        clients.map((svc, index) =>
          svc.post('/ns/instance', { serviceName, ip: spellings[index], port: 80 }),
        ),
      )
      await until(() => listed(serviceName), both(1))
      await clients[round % 2]!.delete('/ns/instance', { serviceName, ip: '2001:db8::5', port: 80 })
      await until(() => listed(serviceName), both(0))
    }
  })

  test('count the same waits, and take no beat interval of one alone', async () => {
    const serviceName = unique('svc')
    const [one, two] = cluster.servers.map(({ url }) => clientsOf(url).svc) as [Client, Client]
    const metadata = '{"preserved.heart.beat.timeout":"3000"}'
    await one.post('/ns/instance', { serviceName, ip: '10.0.0.1', port: 80, metadata })
    const set = (value: number, debug: boolean) =>
      two.put('/ns/operator/switches', { entry: 'clientBeatInterval', value, debug })
    const beat = () => one.put('/ns/instance/beat', { serviceName, ip: '10.0.0.1', port: 80 })
    const explained = (svc: Client) => async () => {
      await beat()
      const [shown] = (await svc.get('/console/instances', { serviceName })).json().pageItems ?? []
      const [why] = (await svc.get('/console/explain', { serviceName })).json().pageItems ?? []
      return [shown?.unhealthyAfterMs, shown?.removedAfterMs, why?.reasons]
    }
    const expectBoth = async (...expected: unknown[]): Promise<void> => {
      for (const svc of [one, two])
        await until(explained(svc), (found) => JSON.stringify(found) === JSON.stringify(expected))
    }
    await expectBoth(3_000, 30_000, ['healthy', 'short-wait'])
    expectProblem(await set(20_000, true), 400, 'debug')
    expect((await set(20_000, false)).text).toBe('ok')
    await expectBoth(41_000, 41_500, ['healthy'])
    await set(5_000, false)
    await expectBoth(41_000, 41_500, ['healthy'])
  })
})
