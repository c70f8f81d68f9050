import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Client, hostsOf, until } from '../interface/client.ts'
import { startWaypost } from '../support/waypost.ts'
import type { Waypost } from '../support/waypost.ts'
import { report, times } from './fault-run.ts'
import { type BeatingInstances, startBeating } from './load/beating-instances.ts'

const pauseMs = times('FAULT_PAUSE_SECONDS', { short: 5, long: 20 }) * 1_000
const COUNT = 50
/** Far shorter than the pause. */
const BEATS = { beatMs: 700, unhealthyMs: 2_000, removeMs: 3_000 }
const WATCHED_AFTER_MS = 4_500

test(
  `a pause of ${pauseMs / 1_000} s expires no live instance and loses no poll`,
  { timeout: pauseMs + 40_000 },
  async () => {
    const server = await startWaypost()
    const client = new Client(`${server.url}/svc/v1`)
    try {
      const instances = await startBeating(client, 'paused', { count: COUNT, times: BEATS })
      await client.post('/ns/instance', { serviceName: 'silent', ip: '127.0.0.6', port: 1 })
      const { answered, missing } = await pause(server, client, instances)
      const lists = await watchLists(client, instances)
      expect([answered.status, answered.text]).toEqual([200, 'item%02G%01'])
      expect(missing, 'what was asked during the pause').toEqual([])
      expect(instances.judged).toBeGreaterThan(0)
      expect(instances.failures).toEqual([])
      await instances.stop()
      await until(
        () => hostsOf(client, { serviceName: 'paused' }),
        (hosts) => hosts.length === 0,
      )
      report(
        `pause: ${pauseMs / 1_000} s with ${COUNT} beating instances, ${lists} lists afterwards, none lacked one`,
      )
    } finally {
      client.close()
      process.kill(server.pid, 'SIGCONT')
      await server.kill()
    }
  },
)

/** Stops the process with a poll held; a publish and a list are asked for while it cannot answer. */
async function pause(server: Waypost, client: Client, instances: BeatingInstances) {
  const headers = { 'Long-Pulling-Timeout': '60000' }
  const poll = client.post(
    '/cs/configs/listener',
    { 'Listening-Configs': 'item\u0002G\u0002\u0001' },
    headers,
  )
  await sleep(300)
  process.kill(server.pid, 'SIGSTOP')
  const published = client.post('/cs/configs', { dataId: 'item', group: 'G', content: 'x' })
  const listed = hostsOf(client, { serviceName: 'paused' }).then((hosts) => instances.missingIn(hosts))
  await sleep(pauseMs)
  process.kill(server.pid, 'SIGCONT')
  const [answered, { text }, missing] = await Promise.all([poll, published, listed])
  expect(text).toBe('true')
  return { answered: { status: answered.status, text: answered.text.trim() }, missing }
}

async function watchLists(client: Client, instances: BeatingInstances): Promise<number> {
  const end = performance.now() + WATCHED_AFTER_MS
  for (let lists = 0; ; lists++) {
    if (performance.now() > end) return lists
    expect(instances.missingIn(await hostsOf(client, { serviceName: 'paused' }))).toEqual([])
    await sleep(20)
  }
}
