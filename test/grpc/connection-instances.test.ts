/** What becomes of the instances of connections when operators, clients of HTTP or a restart meet them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientsOf, type Examined, serverForThisFile, unique } from '../interface/client.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import { clientsOfTests } from './naming-fixture.ts'

const INSTANCE = { ip: '10.0.0.1', port: 8080 }

describe('an instance of a connection', () => {
  const waypost = serverForThisFile()
  const connected = clientsOfTests(waypost)
  const shown = async (serviceName: string) =>
    (await (await waypost.svc.get('/console/instances', { serviceName })).json()).pageItems

  test('is shown with its client', async () => {
    const serviceName = unique('svc')
    await (await connected()).register(serviceName)
    const [instance] = await shown(serviceName)
    expect(instance.health).toMatchObject({
      reason: 'connection',
      connection: {
        where: 'here',
        library: expect.stringMatching(/Client/),
        ip: '127.0.0.1',
        removedInMs: null,
      },
    })
    expect(Math.abs(Date.now() - instance.health.connection.connectedMs)).toBeLessThan(60_000)
  })

  test('stays when HTTP deregisters it, and says why where people ask', async () => {
    const serviceName = unique('svc')
    await (await connected()).register(serviceName)
    const asked = await waypost.nacos.delete('/ns/instance', { serviceName, ...INSTANCE })
    expect([asked.status, asked.text]).toEqual([200, 'ok'])
    const refused = await waypost.svc.delete('/ns/instance', { serviceName, ...INSTANCE })
    expect(refused.status).toBe(409)
    expect(refused.text).toContain('instance-connected')
    expect(await shown(serviceName)).toHaveLength(1)
  })

  test('is known to a beat over HTTP', async () => {
    const serviceName = unique('svc')
    await (await connected()).register(serviceName)
    const beat = await waypost.nacos.put('/ns/instance/beat', { serviceName, ...INSTANCE })
    expect(await beat.json()).toMatchObject({ code: 10_200 })
  })

  test('stays disabled, with its weight, when its client connects again', async () => {
    const serviceName = unique('svc')
    const first = await connected()
    await first.register(serviceName)
    await waypost.svc.put('/ns/instance', { serviceName, ...INSTANCE, enabled: false, weight: 3 })
    await first.grpc.close()
    const again = await connected()
    await again.register(serviceName)
    expect(await shown(serviceName)).toMatchObject([{ enabled: false, weight: 3 }])
    await waypost.svc.put('/ns/instance', { serviceName, ...INSTANCE, enabled: true })
    await again.register(serviceName)
    expect((await again.query(serviceName)).hosts).toMatchObject([{ enabled: true, weight: 3 }])
  })
})

describe('after a restart', () => {
  const waypost = {} as Examined
  let server: Waypost
  beforeAll(async () => {
    server = await startWaypost()
    Object.assign(waypost, { server }, clientsOf(server.url))
  })
  afterAll(async () => {
    waypost.svc.close()
    waypost.nacos.close()
    await server.stop()
  })
  const connected = clientsOfTests(waypost)
  const shown = async (serviceName: string) =>
    (await (await waypost.svc.get('/console/instances', { serviceName })).json()).pageItems

  test('instances of connections are listed until their clients have registered again', async () => {
    const [one, two] = [unique('svc'), unique('svc')]
    const client = await connected()
    for (const serviceName of [one, two]) await client.register(serviceName)
    server = await server.restart()
    Object.assign(waypost, { server }, clientsOf(server.url))
    const [gone] = await shown(one)
    expect(gone).toMatchObject({ healthy: true, health: { connection: { where: 'gone' } } })
    expect(gone.health.connection.removedInMs).toBeGreaterThan(20_000)
    await (await connected()).register(one)
    expect(await shown(one)).toMatchObject([{ healthy: true, health: { connection: { where: 'here' } } }])
    const removed = await waypost.svc.delete('/ns/instance', { serviceName: two, ...INSTANCE })
    expect([removed.status, await shown(two)]).toEqual([200, []])
  })
})
