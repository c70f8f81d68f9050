import { beforeEach, expect, test } from 'vitest'
import { at, carryOut, published, WALL_MS } from '../../core.test-support.ts'
import { State } from '../../engine/state.ts'
import { configKey } from '../state/config-item.ts'
import { NO_NOTES } from '../state/config-notes.ts'
import { deleteConfig } from './publish-config.ts'
import {
  importConfig,
  type ImportedConfig,
  type ImportedRecord,
  importHistory,
  type ImportOptions,
} from './import-config.ts'

const KEY = configKey('public', 'G', 'a')
const BY = { ip: '10.0.0.1', user: 'ann' }
const OLD_MS = WALL_MS - 1_000_000

let state: State
beforeEach(() => void (state = new State(WALL_MS)))

function version(content: string, other: Partial<ImportedConfig> = {}): ImportedConfig {
  const bytes = { content: Buffer.from(content), md5: `md5 of ${content}` }
  const times = { createdMs: OLD_MS, modifiedMs: OLD_MS }
  return {
    key: KEY,
    ...bytes,
    type: 'yaml',
    notes: { ...NO_NOTES, desc: 'd' },
    ...times,
    operator: BY,
    ...other,
  }
}

function record(content: string, atMs: number, other: Partial<ImportedRecord> = {}): ImportedRecord {
  const bytes = { content: Buffer.from(content), md5: `md5 of ${content}` }
  const facts = { type: 'yaml', appName: '', encryptedDataKey: '', oldId: '7', op: 'U' } as const
  return { key: KEY, ...bytes, ...facts, atMs, operator: BY, ...other }
}

const take = (input: ImportedConfig, options: Partial<ImportOptions> = {}) =>
  carryOut(state, importConfig(input, { overwrite: false, ...options }), at(0)).outcome

test('an imported item has the times and the author that it had, and is marked', () => {
  expect(take(version('one'))).toBe('taken')
  const item = state.config(KEY)!
  expect(item).toMatchObject({
    modifiedMs: OLD_MS,
    origin: { createdMs: OLD_MS, createUser: 'ann', createIp: '10.0.0.1' },
    notes: { desc: 'd' },
  })
  expect(item.imported?.importedId).toBe('')
  expect(take(version('one'))).toBe('unchanged')
})

test('a time that is far ahead of the clock here becomes now: later changes here would have it too', () => {
  const aheadMs = WALL_MS + 2 * 86_400_000
  const { changes } = importHistory(record('one', aheadMs)).decide(state, at(0))
  expect(changes).toMatchObject([{ record: { atMs: WALL_MS } }])
  expect(take(version('one', { createdMs: aheadMs, modifiedMs: aheadMs }))).toBe('taken')
  expect(state.config(KEY)).toMatchObject({ modifiedMs: WALL_MS, origin: { createdMs: WALL_MS } })
  expect(take(version('one', { createdMs: aheadMs, modifiedMs: aheadMs }))).toBe('unchanged')
  expect(take(version('two', { modifiedMs: WALL_MS + 60_000 }))).toBe('taken')
  expect(state.config(KEY)?.modifiedMs).toBe(WALL_MS + 60_000)
})

test('a later version replaces an imported one, and nothing replaces a version that was written here', () => {
  take(version('one'))
  expect(take(version('older', { modifiedMs: OLD_MS - 1 }))).toBe('kept')
  expect(take(version('two', { modifiedMs: OLD_MS + 1 }))).toBe('taken')
  published(state, 'here', KEY)
  expect(take(version('three', { modifiedMs: OLD_MS + 2 }))).toBe('kept')
  expect(state.config(KEY)?.content.toString()).toBe('here')
  expect(take(version('three', { modifiedMs: OLD_MS + 2 }), { overwrite: true })).toBe('taken')
  expect(state.config(KEY)?.content.toString()).toBe('three')
})

test('an item that was deleted here stays deleted, unless it is overwritten', () => {
  take(version('one'))
  carryOut(state, deleteConfig(KEY, BY), at(1))
  expect(take(version('one'))).toBe('kept')
  expect(carryOut(state, importHistory(record('one', OLD_MS)), at(1)).outcome).toBe('kept')
  expect(take(version('one'), { overwrite: true })).toBe('taken')
})

test('a record is added as it is while the item is not here', () => {
  const { changes } = importHistory(record('zero', OLD_MS)).decide(state, at(0))
  expect(changes).toMatchObject([
    {
      kind: 'history-imported',
      record: { op: 'U', srcUser: 'ann', srcIp: '10.0.0.1', atMs: OLD_MS, note: { importedId: '7' } },
    },
  ])
})

test('a version that is older than its newest record has all records up to that one', () => {
  const newest = { oldId: '9', atMs: OLD_MS + 9_000 }
  take(version('one'), { change: newest })
  expect(state.config(KEY)?.imported?.importedId).toBe('')
  const again = record('zero', OLD_MS + 5_000, { oldId: '8' })
  expect(carryOut(state, importHistory(again), at(1)).outcome).toBe('unchanged')
  const later = record('two', OLD_MS + 5_000, { oldId: '10' })
  expect(carryOut(state, importHistory(later), at(1)).outcome).toBe('taken')
})

test('a version that is later than its newest record has the changes before its own time', () => {
  take(version('one'), { change: { oldId: '9', atMs: OLD_MS - 1 } })
  const missed = record('zero', OLD_MS, { oldId: '10' })
  expect(carryOut(state, importHistory(missed), at(1)).outcome).toBe('unchanged')
})

test('records of later changes publish the versions between, with the author of each', () => {
  take(version('one'))
  const later = (content: string, afterMs: number, oldId: string) =>
    record(content, OLD_MS + afterMs, { oldId, operator: { ip: '10.0.0.2', user: `by ${oldId}` } })
  const [first, second] = [later('one', 10, '8'), later('two', 20, '9')]
  expect(carryOut(state, importHistory(first), at(1)).outcome).toBe('unchanged')
  expect(carryOut(state, importHistory(second, first), at(1)).outcome).toBe('taken')
  const between = state.config(KEY)!
  expect([between.content.toString(), between.modifiedMs]).toEqual(['two', first.atMs])
  expect(between.imported?.importedId).toBe('8')
  expect(take(version('three', { modifiedMs: second.atMs }), { change: second })).toBe('taken')
  expect(state.config(KEY)?.imported?.importedId).toBe('9')
  expect(carryOut(state, importHistory(second, first), at(2)).outcome).toBe('unchanged')
})

test('records of an item with a history here, and deletions of an item that is here, stay out', () => {
  take(version('one'))
  const gone = record('one', OLD_MS + 10, { op: 'D' })
  expect(carryOut(state, importHistory(gone), at(1)).outcome).toBe('kept')
  published(state, 'here', KEY)
  expect(carryOut(state, importHistory(record('x', OLD_MS + 20)), at(1))).toEqual({
    outcome: 'kept',
    reason: 'the item has a history of its own here',
  })
})
