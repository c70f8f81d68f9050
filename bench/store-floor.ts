/**
 * The store without a server: callers publish to it in groups, as the engine does, without HTTP and decisions. A publish
 * cannot be faster than this. It runs in its own process.
 */
import { createHash } from 'node:crypto'
import type { Change } from '../src/core/decisions/changes.ts'
import { type ConfigItem, configKey } from '../src/core/config/state/config-item.ts'
import { NO_NOTES } from '../src/core/config/state/config-notes.ts'
import { historyIdOf, itemIdOf, Stamps } from '../src/core/decisions/stamps.ts'
import { openEmbeddedStore } from '../src/store/embedded/embedded-store.ts'
import { answerJob, type CallersJob, driveCallers } from './callers.ts'
import type { LoadResult } from './jobs.ts'
import { configContent } from './request-text.ts'

const stamps = new Stamps()

answerJob(run)

async function run(job: CallersJob): Promise<LoadResult> {
  const { directory, count } = job
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
  const stamp = stamps.next(now)
  const item: ConfigItem = {
    key: previous?.key ?? configKey('public', 'DEFAULT_GROUP', dataId),
    origin: previous?.origin ?? {
      id: itemIdOf(stamp),
      createdMs: now,
      createUser: null,
      createIp: '127.0.0.1',
    },
    historyId: historyIdOf(stamp),
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
