import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Prober } from './prober.ts'

const quick = { max: 40, min: 20, factor: 0.5 }

test('a port that closes and opens again changes its health, among hundreds of refused addresses', async () => {
  const reports: [string, boolean][] = []
  const prober = new Prober({
    limit: 64,
    now: () => performance.now(),
    random: Math.random,
    params: () => ({ enabled: true, checkTimes: 3, http: quick, tcp: quick, mysql: quick }),
    report: (key, healthy) => void (key === 'port' && reports.push([key, healthy])),
    log: { info: () => {} },
  })
  const ticking = setInterval(() => prober.tick(), 10)
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const service = { namespaceId: 'public', groupedName: 'g@@s' }
  const tcp = { type: 'TCP' } as const
  try {
    prober.watch('port', { service, host: '127.0.0.1', port, checker: tcp }, true)
    for (let i = 0; i < 200; i++)
      prober.watch(`bad${i}`, { service, host: '169.254.1.1', port: 1, checker: tcp }, true)
    await sleep(200)
    expect(reports).toEqual([])
    await new Promise((done) => server.close(done))
    await expect.poll(() => reports).toEqual([['port', false]])
    await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
    await expect.poll(() => reports.at(-1)).toEqual(['port', true])
  } finally {
    clearInterval(ticking)
    await prober.close()
    await new Promise((done) => server.close(done))
  }
})
