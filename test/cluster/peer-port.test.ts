/** Strangers who take every place of the peer port keep no member out. */
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientsOf } from '../interface/client.ts'
import { clusterForTests } from '../support/cluster.ts'
import { describeOnEtcd, ETCD_HOOK_MS } from '../support/etcd.ts'
import { freePort } from '../support/waypost.ts'

/** More silent connections than a server has places for, and some that send nonsense. */
const SENT = [
  ...Array.from({ length: 160 }, () => ''),
  'P',
  'POST /standing HTTP/1.1\r\nhost: a\r\n',
  '\u0000\u0001',
  `a: ${'x'.repeat(20_000)}`,
]

describeOnEtcd('the peer port of a server', 60_000, () => {
  const cluster = clusterForTests({ servers: 0 })
  let port: number
  const strangers = new Set<Socket>()
  let isOver = false
  beforeAll(async () => {
    port = await freePort()
    await cluster.join({ 'peer-port': port })
  }, ETCD_HOOK_MS)
  afterAll(async () => {
    isOver = true
    for (const socket of strangers) socket.destroy()
  })

  /** A connection that comes again whenever it is closed. */
  function keepOpen(sent: string): Promise<void> {
    const socket = connect(port, '127.0.0.1')
    strangers.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      strangers.delete(socket)
      if (!isOver) setTimeout(() => void keepOpen(sent), 100)
    })
    return new Promise((resolve) => socket.on('connect', () => resolve(void socket.write(sent))))
  }

  const missingAt = async (server: number): Promise<string[]> =>
    (await clientsOf(cluster.servers[server]!.url).svc.get('/console/clients')).json().missingServers

  test('answers members all the time that strangers take its other places', async () => {
    for (const sent of SENT) await keepOpen(sent)
    await cluster.join()
    let whole = 0
    for (let round = 0; round < 20; round++) {
      if ((await missingAt(1)).length === 0) whole++
      await new Promise((resolve) => setTimeout(resolve, 150))
    }
    // On a busy machine one may be late.
    expect(whole).toBeGreaterThanOrEqual(19)
    await cluster.join()
    await expect.poll(() => missingAt(2)).toEqual([])
    const metrics = await (await fetch(`${cluster.servers[0]!.url}/metrics`)).text()
    expect(metrics).toMatch(/waypost_peer_requests_total\{outcome="silent"\} [1-9]/)
  })
})
