/** All servers remember what silence has removed: a beat at any of them brings it back on all. */
import { expect, test } from 'vitest'
import { describeOnEtcd } from '../support/etcd.ts'
import { NamingClient } from '../grpc/naming-fixture.ts'
import { clusterForTests } from '../support/cluster.ts'
import { connectGrpc } from '../support/grpc-client.ts'
import type { Waypost } from '../support/waypost.ts'

const WHERE = { ip: '10.0.0.1', port: 80 }
const METADATA = { zone: 'a', 'preserved.heart.beat.timeout': '3000', 'preserved.ip.delete.timeout': '8000' }

describeOnEtcd('silence on three servers', 120_000, () => {
  const cluster = clusterForTests({ servers: 3 })

  const shown = async ({ url }: Waypost, page = 'instances', name = 's') => {
    const answer = await fetch(`${url}/svc/v1/console/${page}?serviceName=${name}`)
    const { pageItems = [] } = (await answer.json()) as { pageItems?: Record<string, unknown>[] }
    return pageItems
  }
  const send = async ({ url }: Waypost, [method, path]: readonly [string, string], form: object) => {
    const body = new URLSearchParams(Object.entries({ serviceName: 's', ...form }))
    const answer = await fetch(`${url}/nacos/v1/ns/instance${path}`, { method, body })
    expect(answer.status).toBe(200)
  }

  test('comes back on all by a beat at another server, offline as an operator wants, also after a crash', async () => {
    const [one, two, three] = cluster.servers as [Waypost, Waypost, Waypost]
    await send(one, ['POST', ''], { ...WHERE, weight: 5, metadata: JSON.stringify(METADATA) })
    await expect.poll(() => shown(two)).toHaveLength(1)
    await send(two, ['PUT', ''], { ...WHERE, enabled: false })
    for (const server of [two, three]) await expect.poll(() => shown(server)).toEqual([])
    await one.kill()
    await send(three, ['PUT', '/beat'], { beat: JSON.stringify({ ...WHERE, weight: 1, metadata: {} }) })
    const overrides = [{ field: 'enabled', value: 'false', application: 'true', fromIp: '127.0.0.1' }]
    for (const server of [two, three]) {
      await expect
        .poll(() => shown(server))
        .toMatchObject([{ weight: 5, enabled: false, metadata: METADATA, overrides }])
      expect(await shown(server, 'explain')).toMatchObject([{ overrides, came: { cause: 'memory' } }])
    }
  })

  test('is no goodbye on any while a connection has the address, and is remembered', async () => {
    const [, two, three] = cluster.servers as [Waypost, Waypost, Waypost]
    const where = { serviceName: 's2', ...WHERE }
    const there = (server: Waypost) => shown(server, 'instances', 's2')
    const client = new NamingClient(await connectGrpc(two))
    await send(three, ['POST', ''], { ...where, weight: 5, metadata: JSON.stringify(METADATA) })
    await client.register('s2', WHERE)
    for (const server of [two, three]) await expect.poll(() => there(server)).toMatchObject([{ claims: 1 }])
    for (const server of [two, three]) await expect.poll(() => there(server)).toMatchObject([{ claims: 0 }])
    await client.grpc.close()
    for (const server of [two, three]) await expect.poll(() => there(server)).toEqual([])
    await send(three, ['PUT', '/beat'], { ...where, beat: JSON.stringify(WHERE) })
    for (const server of [two, three])
      await expect.poll(() => there(server)).toMatchObject([{ weight: 5, metadata: METADATA }])
  })
})
