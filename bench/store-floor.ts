/**
 * The store without a server: callers that publish to it in groups, as the engine does, with no HTTP and no decisions
 * before it. What a publish cannot be faster than. Started as a process of its own.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Change } from '../src/core/changes.ts'
import { type ConfigItem, configKey } from '../src/core/config/config-item.ts'
import type { Store } from '../src/core/ports.ts'
import { Histogram } from './histogram.ts'
import type { LoadResult } from './jobs.ts'
import { configContent } from './request-text.ts'

/** What to do: as many callers as connections would be, on `count` items. */
export interface StoreFloorJob {
  readonly directory: string
  /** The directory of the built server. */
  readonly dist: string
  readonly callers: number
  readonly count: number
  readonly seconds: number
}

type Open = (options: {
  directory: string
  log: Record<'info' | 'warn' | 'error', () => void>
}) => Promise<Store>

process.once('message', (job: StoreFloorJob) => {
  run(job).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ problem: String(error) }),
  )
})

async function run({ directory, dist, callers, count, seconds }: StoreFloorJob): Promise<LoadResult> {
  const file = pathToFileURL(join(dist, 'store', 'embedded', 'embedded-store.js')).href
  const { openEmbeddedStore } = (await import(file)) as { openEmbeddedStore: Open }
  const quiet = (): void => {}
  const store = await openEmbeddedStore({ directory, log: { info: quiet, warn: quiet, error: quiet } })
  await store.load()
  const histogram = new Histogram()
  const items = new Map<string, ConfigItem>()
  let version = 0
  const began = performance.now()
  let waiting: { changes: Change[]; sinceMs: number }[] = []
  const ask = (): void => {
    const number = version++
    const change = publishChange(`store-${number % count}`, configContent(number), items)
    waiting.push({ changes: [change], sinceMs: performance.now() })
  }
  for (let caller = 0; caller < callers; caller++) ask()
  while (performance.now() - began < seconds * 1_000) {
    const batch = waiting
    waiting = []
    const result = await store.commit(batch.map(({ changes }) => changes))
    if (result.kind === 'failed') throw result.error
    const now = performance.now()
    for (const { sinceMs } of batch) {
      histogram.add(now - sinceMs)
      ask()
    }
  }
  const elapsedMs = performance.now() - began
  await store.close()
  return { counts: histogram.counts(), answered: histogram.total, failed: 0, elapsedMs }
}

function publishChange(dataId: string, text: string, items: Map<string, ConfigItem>): Change {
  const content = Buffer.from(text)
  const previous = items.get(dataId)
  const now = Date.now()
  const item: ConfigItem = {
    key: previous?.key ?? configKey('public', 'DEFAULT_GROUP', dataId),
    origin: previous?.origin ?? { id: 0, createdMs: now, createUser: null, createIp: '127.0.0.1' },
    historyId: 0,
    content,
    md5: createHash('md5').update(content).digest('hex'),
    type: 'text',
    notes: {
      appName: '',
      desc: null,
      use: null,
      effect: null,
      schema: null,
      configTags: null,
      encryptedDataKey: '',
    },
    modifiedMs: now,
  }
  items.set(dataId, item)
  const operator = { ip: '127.0.0.1', user: null }
  return { kind: 'config-published', op: previous === undefined ? 'I' : 'U', item, previous, operator }
}
