import { createHash } from 'node:crypto'
import { type ConfigItem, configKey } from '../../src/core/config/state/config-item.ts'
import { NO_NOTES } from '../../src/core/config/state/config-notes.ts'
import { historyIdOf, itemIdOf } from '../../src/core/decisions/stamps.ts'
import type { ShownRecord, StoredPart, StoredSource } from '../../src/store/stored-data.ts'

const START_MS = 1_795_000_000_000

/** A source of many items: each has as many records, the newest of which made its version. */
export function sampleSource(options: { items: number; records: number; bytes: number }): StoredSource {
  const { items, records, bytes } = options
  const stampOf = (item: number, version: number): number => START_MS * 1024 + item * records + version
  const contentOf = (item: number, version: number): Buffer =>
    Buffer.from(`${item} ${version} `.padEnd(bytes, `${item * 31 + version} `))
  const keyOf = (item: number) => configKey('public', `g-${item % 7}`, `item-${(item * 7919) % items}`)
  const shownOf = (content: Buffer) => {
    const md5 = createHash('md5').update(content).digest('hex')
    return { content, md5, type: 'text' as const }
  }
  const itemOf = (item: number): ConfigItem => ({
    key: keyOf(item),
    origin: { id: itemIdOf(stampOf(item, 0)), createdMs: START_MS, createUser: 'ada', createIp: '10.0.0.1' },
    historyId: historyIdOf(stampOf(item, records - 1)),
    ...shownOf(contentOf(item, records - 1)),
    notes: NO_NOTES,
    modifiedMs: START_MS + records,
  })
  const recordOf = (item: number, version: number): ShownRecord => {
    const shown = shownOf(contentOf(item, Math.max(0, version - 1)))
    const of = { srcIp: '10.0.0.1', srcUser: null, appName: '', encryptedDataKey: '' }
    const id = historyIdOf(stampOf(item, version))
    const op = version === 0 ? 'I' : 'U'
    const record = { id, key: keyOf(item), op, atMs: START_MS + version + 1, ...of, ...shown } as const
    return { record, versionId: historyIdOf(stampOf(item, Math.max(0, version - 1))) }
  }
  return {
    place: 'samples',
    revision: 1,
    largestStamp: stampOf(items, 0),
    size: { records: items * (records + 1), bytes: 0 },
    *parts(): Generator<StoredPart> {
      for (let from = 0; from < items; from += 500)
        yield { of: 'items', all: numbers(from, Math.min(items, from + 500)).map(itemOf) }
      for (let from = 0; from < items; from += 50) {
        const some = numbers(from, Math.min(items, from + 50))
        const all = some.flatMap((item) => numbers(0, records).map((version) => recordOf(item, version)))
        yield { of: 'history', all, isWhole: true }
      }
    },
    close: () => undefined,
  }
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, at) => from + at)
}
