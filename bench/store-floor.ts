/**
 * The store without a server: callers that publish to it in groups, as the engine does, with no HTTP and no decisions
 * before it. What a publish cannot be faster than. Started as a process of its own.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Change } from '../src/core/changes.ts'
import { type ConfigItem, configKey } from '../src/core/config/config-item.ts'
import { NO_NOTES } from '../src/core/config/config-notes.ts'
import type { Store } from '../src/core/ports.ts'
import { answerJob, type CallersJob, driveCallers } from './callers.ts'
import type { LoadResult } from './jobs.ts'
import { configContent } from './request-text.ts'

type Open = (options: {
  directory: string
  log: Record<'info' | 'warn' | 'error', () => void>
}) => Promise<Store>

answerJob(run)

async function run(job: CallersJob): Promise<LoadResult> {
  const { directory, dist, count } = job
  const file = pathToFileURL(join(dist, 'store', 'embedded', 'embedded-store.js')).href
  const { openEmbeddedStore } = (await import(file)) as { openEmbeddedStore: Open }
  const quiet = (): void => {}
  const store = await openEmbeddedStore({ directory, log: { info: quiet, warn: quiet, error: quiet } })
  await store.load()
  const items = new Map<string, ConfigItem>()
  const make = (number: number): Change[] => [
    publishChange(`store-${number % count}`, configContent(number), items),
  ]
  const result = await driveCallers(job, make, async (groups) => {
    const outcome = await store.commit(groups)
    if (outcome.kind === 'failed') throw outcome.error
  })
  await store.close()
  return result
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
    notes: NO_NOTES,
    modifiedMs: now,
  }
  items.set(dataId, item)
  const operator = { ip: '127.0.0.1', user: null }
  return { kind: 'config-published', op: previous === undefined ? 'I' : 'U', item, previous, operator }
}
