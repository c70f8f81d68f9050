import { expect, test } from 'vitest'
import { wrongInHistory } from './check-history-of-item.ts'
import type { Record } from './check-history-of-item.ts'
import type { Write } from './journal.ts'

const acknowledged = (value?: string): Write => ({ value, begunMs: 0, endedMs: 1, outcome: 'acknowledged' })
const unknown = (value?: string): Write => ({ value, begunMs: 0, endedMs: Infinity, outcome: 'unknown' })
const record = (id: number, op: string, content: string): Record => ({ id, op, content })

const writes = [acknowledged('a'), acknowledged('b'), acknowledged(undefined), acknowledged('c')]
const records = [record(1, 'I', 'a'), record(2, 'U', 'a'), record(3, 'D', 'b'), record(4, 'I', 'c')]

test('a correct history has no complaints', () => {
  expect(wrongInHistory(records, writes, 'c')).toEqual([])
  expect(wrongInHistory([], [], undefined)).toEqual([])
})

test('an unknown write is there completely or not at all', () => {
  const more = [...writes, unknown('d')]
  expect(wrongInHistory(records, more, 'c')).toEqual([])
  expect(wrongInHistory([...records, record(9, 'U', 'c')], more, 'd')).toEqual([])
  expect(wrongInHistory([...records, record(9, 'U', 'c')], more, 'c')).not.toEqual([])
  expect(wrongInHistory(records, more, 'd')).not.toEqual([])
})

test('an unknown delete leaves its record and no content, or neither', () => {
  const more = [...writes, unknown(undefined)]
  expect(wrongInHistory([...records, record(9, 'D', 'c')], more, undefined)).toEqual([])
  expect(wrongInHistory([...records, record(9, 'D', 'c')], more, 'c')).not.toEqual([])
  expect(wrongInHistory(records, more, undefined)).not.toEqual([])
})

test('lost records, lost changes, foreign records and falling ids are found', () => {
  expect(wrongInHistory(records.slice(0, 3), writes, undefined)).not.toEqual([])
  expect(wrongInHistory([records[0]!, ...records.slice(2)], writes, 'c')).not.toEqual([])
  expect(wrongInHistory(records, writes.slice(0, 3), 'c')).not.toEqual([])
  expect(wrongInHistory([record(7, 'I', 'a'), ...records.slice(1)], writes, 'c')).not.toEqual([])
  expect(wrongInHistory(records, writes, undefined)).not.toEqual([])
})

test('deleting an item that does not exist leaves no record', () => {
  expect(wrongInHistory([], [unknown('a'), acknowledged(undefined)], undefined)).toEqual([])
  expect(wrongInHistory(records, [...writes, acknowledged(undefined)], 'c')).not.toEqual([])
})
