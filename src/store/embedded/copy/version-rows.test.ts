import { expect, test } from 'vitest'
import { type ConfigItem, configKey } from '../../../core/config/state/config-item.ts'
import { NO_NOTES } from '../../../core/config/state/config-notes.ts'
import type { HistoryOp, HistoryRecord } from '../../../core/config/state/history-record.ts'
import type { RevisionRow } from '../rows/tables.ts'
import { VersionRows } from './version-rows.ts'

const key = configKey('public', 'g', 'item')

function record(id: number, op: HistoryOp, text: string): HistoryRecord {
  const of = { appName: '', encryptedDataKey: '', srcIp: '10.0.0.1', srcUser: null, type: 'text' } as const
  return { id, key, op, content: Buffer.from(text), md5: text, atMs: id, ...of }
}

function item(id: number, historyId: number, text: string): ConfigItem {
  const origin = { id, createdMs: 1, createUser: null, createIp: '' }
  const of = { key, type: 'text', notes: NO_NOTES, modifiedMs: historyId } as const
  return { ...of, origin, historyId, content: Buffer.from(text), md5: text }
}

/** The rows of these records, by their ids: op, own text, the version before, and whether it is hidden. */
function rowsOf(records: readonly HistoryRecord[], present?: ConfigItem): unknown[] {
  const rows = new VersionRows(7, present)
  const all: RevisionRow[] = [...records.flatMap((one) => rows.add(one)), ...rows.end()]
  return all
    .toSorted((a, b) => a.id - b.id)
    .map(({ id, op, content, prevId, itemId, hidden }) => [
      id,
      op,
      content?.toString() ?? null,
      prevId,
      itemId,
      hidden,
    ])
}

test('each version has its own text, and each record finds the text before it', () => {
  const records = [record(21, 'I', 'one'), record(31, 'U', 'one'), record(41, 'U', 'two')]
  expect(rowsOf(records, item(20, 41, 'three'))).toEqual([
    [21, 'I', 'one', null, 20, false],
    [31, 'U', 'two', 21, 20, false],
    [41, 'U', 'three', 31, 20, false],
  ])
})

test('an item that was deleted and made again has two ids', () => {
  const records = [record(21, 'I', 'one'), record(31, 'D', 'one'), record(41, 'I', 'new')]
  expect(rowsOf(records, item(40, 41, 'new'))).toEqual([
    [21, 'I', 'one', null, 20, false],
    [31, 'D', null, 21, 20, false],
    [41, 'I', 'new', null, 40, false],
  ])
})

test('a version whose record is gone is hidden, with the id of the first version of the item', () => {
  expect(rowsOf([record(41, 'U', 'two'), record(51, 'U', 'three')], item(20, 51, 'four'))).toEqual([
    [21, 'I', 'two', null, 20, true],
    [41, 'U', 'three', 21, 20, false],
    [51, 'U', 'four', 41, 20, false],
  ])
})

test('if nobody knows the id of the item, the hidden version has an id that no record can have', () => {
  expect(rowsOf([record(41, 'U', 'two'), record(51, 'D', 'three')])).toEqual([
    [40, 'I', 'two', null, 38, true],
    [41, 'U', 'three', 40, 38, false],
    [51, 'D', null, 41, 38, false],
  ])
  expect(rowsOf([record(51, 'D', 'only')])).toEqual([
    [50, 'I', 'only', null, 48, true],
    [51, 'D', null, 50, 48, false],
  ])
})

test('an item without any record has its version, hidden', () => {
  expect(rowsOf([], item(20, 21, 'one'))).toEqual([[21, 'I', 'one', null, 20, true]])
  expect(rowsOf([], item(20, 31, 'two'))).toEqual([[31, 'U', 'two', null, 20, true]])
})

test('a record that is gone between two others leaves a hidden version', () => {
  expect(rowsOf([record(21, 'I', 'one'), record(41, 'U', 'two')], item(20, 41, 'three'))).toEqual([
    [21, 'I', 'one', null, 20, false],
    [40, 'I', 'two', null, 20, true],
    [41, 'U', 'three', 40, 20, false],
  ])
})
