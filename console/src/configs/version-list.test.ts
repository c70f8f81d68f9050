import { expect, test } from 'vitest'
import type { HistoryRecord } from '../server/configs.ts'
import { versionsOf } from './version-list.ts'

const record = (id: string, opType: string): HistoryRecord => ({
  id,
  opType: `${opType} `,
  srcIp: '10.0.0.1',
  srcUser: null,
  createdTime: '2026-11-21T11:31:18.579+0000',
  content: null,
  md5: null,
})

test('the text of a version is in the record of the change after it; that of the newest is the current one', () => {
  const versions = versionsOf([
    record('5', 'U'),
    record('4', 'I'),
    record('3', 'D'),
    record('2', 'U'),
    record('1', 'I'),
  ])
  expect(versions.map(({ id, op, text }) => [id, op, 'id' in text ? text.id : text.kind])).toEqual([
    ['5', 'U', 'current'],
    ['4', 'I', '5'],
    ['3', 'D', 'none'],
    ['2', 'U', '3'],
    ['1', 'I', '2'],
  ])
  expect(versions[0]!.atMs).toBe(Date.UTC(2026, 10, 21, 11, 31, 18, 579))
})
