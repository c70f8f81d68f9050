import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Client } from '../interface/client.ts'
import type { Json } from '../interface/client.ts'
import { needTool } from '../support/need-tool.ts'
import { isNightly } from '../support/nightly.ts'
import { startWaypost } from '../support/waypost.ts'
import { isLong, report } from './fault-run.ts'
import { type BeatingInstances, startBeating } from './load/beating-instances.ts'
import { SettableClock } from './shims/settable-clock.ts'

const HOUR = 3_600_000
const YEAR = 365 * 24 * HOUR
/** How long the server is watched after each jump: longer than silence may last. */
const WATCHED_MS = isLong ? 8_000 : 2_600
const BEATS = { beatMs: 250, unhealthyMs: 1_500, removeMs: 2_200 }
const COUNT = 20
const HISTORY = 25
/** History would be empty at once if it aged by the wall clock. */
const SETTINGS = { 'history-retention': '30m', 'history-keep': 0, 'history-clean-interval': '1s' }
/** The offset from the true time at each step; the server is restarted before those marked. */
const ALL_JUMPS = [
  { name: 'an hour ahead', offsetMs: HOUR, inShort: true },
  { name: 'back again', offsetMs: 0 },
  { name: 'an hour behind', offsetMs: -HOUR, inShort: true },
  { name: 'a year ahead', offsetMs: YEAR, inShort: true },
  { name: 'a year ahead, after a restart', offsetMs: YEAR, restart: true },
  { name: 'back from a year ahead', offsetMs: 0 },
  { name: 'back, after a restart', offsetMs: 0, restart: true, inShort: true },
]
const JUMPS = isLong || isNightly ? ALL_JUMPS : ALL_JUMPS.filter(({ inShort }) => inShort)

test(
  'jumps of the wall clock expire nothing, empty no history and turn no lastRefTime back',
  { timeout: 40_000 + JUMPS.length * (WATCHED_MS + 5_000) },
  async ({ skip }) => {
    const gcc = needTool('gcc')
    skip(gcc.skip, gcc.reason)
    const clock = new SettableClock()
    let server = await startWaypost({ env: clock.env, settings: SETTINGS })
    const client = new Client(`${server.url}/svc/v1`)
    try {
      await writeHistory(client)
      const instances = await startBeating(client, 'live', { count: COUNT, times: BEATS })
      const seen = { lastRefTime: 0, lists: 0 }
      for (const { name, offsetMs, restart } of JUMPS) {
        if (restart) {
          await server.kill()
          server = await server.restart()
          instances.failures.length = 0
        }
        clock.set(offsetMs)
        const before = instances.judged
        await watchJump({ client, instances, seen, name })
        expect(instances.judged, name).toBeGreaterThan(before)
        expect(instances.failures, name).toEqual([])
        await expectClock(client, offsetMs)
      }
      await instances.stop()
      report(
        `clock jumps: ${JUMPS.length}, ${COUNT} beating instances, ${seen.lists} lists with a rising lastRefTime`,
      )
    } finally {
      client.close()
      await server.kill()
      clock.close()
    }
  },
)

async function writeHistory(client: Client): Promise<void> {
  for (let n = 0; n < HISTORY; n++)
    await client.post('/cs/configs', { dataId: 'item', group: 'G', content: `v${n}` })
}

interface Jump {
  readonly client: Client
  readonly instances: BeatingInstances
  readonly seen: { lastRefTime: number; lists: number }
  readonly name: string
}

/** A poll that must time out, a poll that must report a change, lists that change, and the history. */
async function watchJump(jump: Jump): Promise<void> {
  const { client, name } = jump
  const held = poll(client, 'quiet', 2_000)
  const changed = poll(client, name, 30_000)
  const end = performance.now() + WATCHED_MS
  while (performance.now() < end) await watchList(jump)
  const ended = await held
  expect(ended.text, `${name}: the poll without a change`).toBe('')
  // The clock has jumped by an hour or more.
  expect(ended.afterMs, name).toBeLessThan(30_000)
  expect(ended.afterMs, name).toBeGreaterThan(1_000)
  await client.post('/cs/configs', { dataId: name.replaceAll(/\W/g, '.'), group: 'G', content: 'x' })
  expect((await changed).text, name).not.toBe('')
  const history = (await client.get('/cs/history', { search: 'accurate', dataId: 'item', group: 'G' })).json()
  expect(history.totalCount, `${name}: history`).toBe(HISTORY)
}

async function poll(
  client: Client,
  item: string,
  timeoutMs: number,
): Promise<{ text: string; afterMs: number }> {
  const headers = { 'Long-Pulling-Timeout': String(timeoutMs) }
  const begunMs = performance.now()
  const listening = `${item.replaceAll(/\W/g, '.')}\u0002G\u0002\u0001`
  const { text } = await client.post('/cs/configs/listener', { 'Listening-Configs': listening }, headers)
  return { text, afterMs: performance.now() - begunMs }
}

/** Changes the list and looks at it: all instances that beat are there, and its time is later than the time of the last list. */
async function watchList({ client, instances, seen, name }: Jump): Promise<void> {
  const change = {
    serviceName: 'live',
    ip: '127.0.0.4',
    port: 1,
    ephemeral: false,
    weight: 1 + (seen.lists % 100),
  }
  expect((await client.post('/ns/instance', change)).text).toBe('ok')
  const list: Json = (await client.get('/ns/instance/list', { serviceName: 'live' })).json()
  expect(instances.missingIn(list.hosts), name).toEqual([])
  expect(list.lastRefTime, name).toBeGreaterThan(seen.lastRefTime)
  seen.lastRefTime = list.lastRefTime
  seen.lists++
  await sleep(50)
}

/** Makes sure that the jump has reached the server at all, and that it shows the time it has. */
async function expectClock(client: Client, offsetMs: number): Promise<void> {
  const reply = await client.get('/ns/operator/servers')
  const offset = (shownMs: number): number => Math.abs(shownMs - Date.now() - offsetMs)
  expect(offset(Date.parse(reply.headers.date ?? ''))).toBeLessThan(10_000)
  expect(offset(reply.json().servers[0].lastRefTime)).toBeLessThan(10_000)
}
