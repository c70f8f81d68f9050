import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { clientsOf, type Client } from '../interface/client.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'
import { SEED, secondsOf } from './found.ts'
import { fuzz } from './fuzz-run.ts'
import { expectUnharmed } from './unharmed.ts'

/** Sends mutated requests and looks whether the server bears them. */
const SECONDS = secondsOf(10)
const WARM_UP_SECONDS = 1

/** How long an answer may take during the run, on a busy machine. */
const PROBE_LIMIT_MS = 5_000
const PROBE_EVERY_MS = 250

/** How much memory may grow: most requests create or change something. */
const GROWTH_BYTES = 300 * 1024 * 1024
const GROWTH_OF_REQUEST_BYTES = 400

let server: Waypost
let svc: Client
let nacos: Client

beforeAll(async () => {
  server = await startWaypost({ settings: { 'log-level': 'error', 'request-timeout': '3s' } })
  ;({ svc, nacos } = clientsOf(server.url))
  // Instances that are registered at random must not be probed.
  await svc.put('/ns/operator/switches', { entry: 'healthCheckEnabled', value: 'false', debug: true })
})

afterAll(async () => {
  svc.close()
  nacos.close()
  await server.stop()
})

test(
  `mutated requests do no harm (seed ${SEED})`,
  async () => {
    const canaries = await setCanaries()
    await fuzz({ url: server.url, seconds: WARM_UP_SECONDS, seed: SEED + 1 })
    const before = residentBytes(server.pid)
    const probing = probe()
    const began = performance.now()
    const result = await fuzz({ url: server.url, seconds: SECONDS, seed: SEED })
    const slowestMs = await probing.stop()
    const grown = residentBytes(server.pid) - before
    tell({ ...result, seconds: (performance.now() - began) / 1000, slowestMs, grownMiB: grown / 2 ** 20 })
    expect(result.faults).toEqual([])
    expect(result.answered).toBeGreaterThan(result.sent / 10)
    expect(result.statuses.get(200)).toBeGreaterThan(result.sent / 50)
    expect(slowestMs).toBeLessThan(PROBE_LIMIT_MS)
    expect(grown).toBeLessThan(GROWTH_BYTES + result.sent * GROWTH_OF_REQUEST_BYTES)
    await expectUnharmed(server)
    await canaries.check()
    expect(server.output()).not.toMatch(/"level":(50|60)/)
  },
  SECONDS * 1_000 + 120_000,
)

/** Items that no request of the run names. They must not change. */
async function setCanaries() {
  const items = Array.from({ length: 20 }, (_, i) => ({
    dataId: `canary-a7f3-${i}`,
    group: 'CANARY',
    tenant: 'canary-a7f3',
  }))
  for (const item of items) await svc.post('/cs/configs', { ...item, content: `content of ${item.dataId}` })
  const service = { serviceName: 'canary-a7f3', groupName: 'CANARY', namespaceId: 'canary-a7f3' }
  const instance = { ...service, ip: '127.0.0.77', port: 7777, ephemeral: false, metadata: 'a=b' }
  await svc.post('/ns/instance', instance)
  const check = async () => {
    for (const item of items)
      expect((await svc.get('/cs/configs', item)).text).toBe(`content of ${item.dataId}`)
    const { hosts } = (await svc.get('/ns/instance/list', service)).json()
    expect(hosts).toMatchObject([{ ip: '127.0.0.77', port: 7777, weight: 1, metadata: { a: 'b' } }])
    // They are also on disk, and the server can read everything that the run has stored.
    server = await server.restart()
    for (const item of items)
      expect((await svc.get('/cs/configs', item)).text).toBe(`content of ${item.dataId}`)
  }
  return { check }
}

/** Sends one request after the other; `stop` returns the duration of the slowest. */
function probe() {
  let slowestMs = 0
  let stopped = false
  const asking = (async () => {
    while (!stopped) {
      const began = performance.now()
      const { status } = await svc.get('/ns/operator/metrics')
      slowestMs = Math.max(slowestMs, performance.now() - began)
      expect(status).toBe(200)
      await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS))
    }
  })()
  return {
    stop: async () => {
      stopped = true
      await asking
      return slowestMs
    },
  }
}

function residentBytes(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) * 1024
}

function tell(run: {
  sent: number
  answered: number
  statuses: ReadonlyMap<number, number>
  seconds: number
  slowestMs: number
  grownMiB: number
}): void {
  const statuses = [...run.statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`)
  console.log(
    `${run.sent} requests in ${run.seconds.toFixed(1)} s, ${run.answered} answers (${statuses.join(', ')}), ` +
      `slowest probe ${run.slowestMs.toFixed(0)} ms, memory +${run.grownMiB.toFixed(0)} MiB, seed ${SEED}`,
  )
}
