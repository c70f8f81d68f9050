/** Servers with different memory on one etcd: the smallest limit counts, and a server that is too small does not join. */
import { beforeAll, expect, test } from 'vitest'
import { clientsOf, until } from '../interface/client.ts'
import { clusterForTests } from '../support/cluster.ts'
import { describeOnEtcd, ETCD_HOOK_MS } from '../support/etcd.ts'

const MIB = 2 ** 20
/** Each second the servers look at the limits of all; the lease of one that has stopped is over in ten. */
const NEAR_MS = 30_000

describeOnEtcd('three servers with different memory', 120_000, () => {
  const cluster = clusterForTests({ servers: 2, settings: { 'max-state-memory': '32MiB' } })

  beforeAll(async () => {
    await cluster.join({ 'max-state-memory': '4MiB' })
  }, ETCD_HOOK_MS)

  const svcOf = (server: number) => clientsOf(cluster.servers[server]!.url).svc
  const publish = async (server: number, dataId: string) => {
    const form = { dataId, group: 'G', content: 'x', schema: `→${dataId}`.padEnd(32_768, 'x') }
    return svcOf(server).post('/cs/configs', form)
  }

  /** The figures of a server: how much all data may take on the heap, and how much they take. */
  async function memoryOf(server: number): Promise<{ limit: number; taken: number }> {
    const text = await (await fetch(`${cluster.servers[server]!.url}/metrics`)).text()
    const limit = Number(/^waypost_memory_limit_bytes\{where="heap"\} (\S+)/m.exec(text)?.[1])
    const kinds = [...text.matchAll(/^waypost_memory_bytes\{[^}]*where="heap"\} (\S+)/gm)]
    return { limit, taken: kinds.reduce((sum, [, bytes]) => sum + Number(bytes), 0) }
  }

  const limits = async () => Promise.all([0, 1, 2].map(async (server) => (await memoryOf(server)).limit))
  let published = 0

  /** Publishes until it is refused; returns the text of the refusal. */
  async function fill(server: number): Promise<string> {
    for (; published < 1_000; published++) {
      const { status, text } = await publish(server, `d${published}`)
      if (status === 507) return text
      expect([status, text]).toEqual([200, 'true'])
    }
    return expect.unreachable('nothing was refused')
  }

  test('the smallest limit counts on all of them', async () => {
    await until(limits, (all) => all.every((limit) => limit === 4 * MIB), NEAR_MS)
    expect(await fill(0)).toContain('for configurations')
    const { taken } = await memoryOf(0)
    expect(taken).toBeGreaterThan(0.65 * 4 * MIB)
    expect(taken).toBeLessThan(0.75 * 4 * MIB)
    for (const server of [0, 1, 2]) {
      expect((await publish(server, 'more')).status).toBe(507)
      await until(
        () => memoryOf(server),
        (one) => one.taken === taken,
        NEAR_MS,
      )
    }
    const deleted = await svcOf(1).delete('/cs/configs', { dataId: 'd0', group: 'G' })
    expect(deleted.status).toBe(200)
    expect((await publish(2, 'more')).status).toBe(200)
  })

  test('when the smallest server has left, the others take more, and it does not join again', async () => {
    await cluster.servers[2]!.stop()
    for (const server of [0, 1])
      await until(
        () => memoryOf(server),
        ({ limit }) => limit === 32 * MIB,
        NEAR_MS,
      )
    await fill(1)
    expect((await memoryOf(1)).taken).toBeGreaterThan(0.65 * 32 * MIB)
    const small = cluster.join({ 'max-state-memory': '4MiB' })
    await expect(small).rejects.toThrow(/ended with 2; .*The data need \d+ MiB .*--max-old-space-size=\d+/s)
    expect((await memoryOf(0)).limit).toBe(32 * MIB)
    expect((await svcOf(0).get('/cs/configs', { dataId: 'd1', group: 'G' })).text).toBe('x')
  })

  test('a server with as much memory joins', async () => {
    await cluster.join()
    const { taken } = await memoryOf(cluster.servers.length - 1)
    expect(taken).toBeCloseTo((await memoryOf(0)).taken, -4)
  })
})
