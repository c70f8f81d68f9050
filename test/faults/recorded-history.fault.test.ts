import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { Client } from '../interface/client.ts'
import { startWaypost } from '../support/waypost.ts'
import { FILE_SECONDS, report, seed, times } from './fault-run.ts'
import { randomFrom } from './random.ts'
import { violations } from './recorded/check-recording.ts'
import type { Recording } from './recorded/check-recording.ts'
import { reader, watcher, writer } from './recorded/config-clients.ts'
import type { ClientOptions } from './recorded/config-clients.ts'
import { instance, lister } from './recorded/naming-clients.ts'

const seconds = Math.min(times('FAULT_RECORDED_SECONDS', { short: 6, long: 120 }), FILE_SECONDS)
const SERVICE = 'recorded'
const ITEMS = ['item.a', 'item.b', 'item.c', 'item.d']
const CLIENTS = { writers: 6, readers: 6, watchers: 8, lasting: 4, passing: 4, listers: 4 }
/** After the last write: time for watchers to hear of it, much more than they need. */
const QUIET_MS = 1_500

/** How long a client goes on: until the last write, or until all is quiet after it. */
interface Phase {
  readonly stopped: () => boolean
}

test(
  `32 clients at once see what a single copy would show them, for ${seconds} s`,
  { timeout: seconds * 1_000 + 60_000 },
  async () => {
    const server = await startWaypost()
    try {
      const recording = await record(server.url)
      expect(recording.reads.length).toBeGreaterThan(200)
      expect(recording.lists.length).toBeGreaterThan(100)
      expect(violations(recording).slice(0, 10), `seed ${seed}`).toEqual([])
      const { writes, reads, lists, lives } = recording
      report(
        `recorded history: ${seconds} s, 32 clients, ${writes.length} writes, ${reads.length} reads, ` +
          `${lists.length} lists, ${lives.length} instances`,
      )
    } finally {
      await server.kill()
    }
  },
)

async function record(url: string): Promise<Recording> {
  const clients = [new Client(`${url}/svc/v1`), new Client(`${url}/nacos/v1`)]
  const endMs = performance.now() + seconds * 1_000
  const state = { ended: false }
  const writing = { stopped: () => performance.now() > endMs }
  const watching = { stopped: () => state.ended }
  const start = <T>(
    kind: keyof typeof CLIENTS,
    phase: Phase,
    run: (options: ClientOptions, n: number) => Promise<T>,
  ) =>
    Promise.all(
      Array.from({ length: CLIENTS[kind] }, (_, n) => {
        const random = randomFrom(seed + n)
        return run({ client: clients[n % 2]!, name: `${kind}.${n}`, random, stopped: phase.stopped }, n)
      }),
    )
  const lives = (net: number, forever: boolean) => (options: ClientOptions, n: number) =>
    instance(options, { serviceName: SERVICE, ip: `127.0.${net}.${n}`, forever })
  const work = Promise.all([
    start('writers', writing, (options, n) => writer(options, [itemOf(n), itemOf(n + 1)])),
    start('readers', watching, (options, n) => reader(options, ITEMS.slice(n % 2))),
    start('watchers', watching, (options, n) => watcher(options, itemOf(n))),
    start('lasting', writing, lives(1, true)),
    start('passing', writing, lives(2, false)),
    start('listers', watching, (options) => lister(options, SERVICE)),
  ])
  await Promise.race([work, sleep(seconds * 1_000 + QUIET_MS)])
  state.ended = true
  await wakeWatchers(clients[0]!)
  const [writes, reads, watched, lasting, passing, lists] = await work
  for (const client of clients) client.close()
  return {
    writes: writes.flat(),
    reads: [...reads.flat(), ...watched.flatMap((one) => one.reads)],
    finalViews: watched.map((one) => one.view),
    lives: [...lasting.flat(), ...passing.flat()],
    lists: lists.flat(),
  }
}

function itemOf(n: number): string {
  return ITEMS[n % ITEMS.length]!
}

/** Ends the held polls, after the watchers have stopped. */
async function wakeWatchers(client: Client): Promise<void> {
  for (const dataId of ITEMS) await client.post('/cs/configs', { dataId, group: 'G', content: 'the end' })
}
