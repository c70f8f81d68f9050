import { expect, test } from 'vitest'
import { violations } from './check-recording.ts'
import type { Recording, RecordedLife } from './check-recording.ts'

const span = (begunMs: number, endedMs: number) => ({ begunMs, endedMs })
const write = (value: string | undefined, begunMs: number, endedMs: number) => ({
  item: 'i',
  value,
  begunMs,
  endedMs,
})
const read = (value: string | undefined, begunMs: number, endedMs: number) => ({
  ...write(value, begunMs, endedMs),
  client: 'r',
})
const list = (begunMs: number, hosts: Record<string, boolean>) => ({
  ...span(begunMs, begunMs + 5),
  hosts: new Map(Object.entries(hosts)),
})
const life: RecordedLife = {
  address: 'a',
  unhealthyMs: 2_000,
  removeMs: 3_000,
  registered: span(100, 110),
  beats: [span(1_000, 1_010), span(2_000, 2_010)],
}
const none: Recording = { writes: [], reads: [], finalViews: [], lives: [], lists: [] }
const writes = [write('1', 0, 10), write('2', 20, 30), write(undefined, 40, 50), write('3', 60, 70)]

function found(recording: Partial<Recording>): number {
  return violations({ ...none, ...recording }).length
}

test('reads of the last write or of one at the same time are right', () => {
  const reads = [
    read(undefined, -5, -1),
    read('1', 11, 19),
    read('1', 21, 31),
    read('2', 22, 32),
    read('3', 65, 66),
  ]
  expect(found({ writes, reads })).toBe(0)
  expect(found({ writes, reads: [read(undefined, 51, 55), read(undefined, 58, 61)] })).toBe(0)
})

test('a read of an overwritten, deleted or future value is found', () => {
  expect(found({ writes, reads: [read('1', 31, 35)] })).toBe(1)
  expect(found({ writes, reads: [read('2', 51, 55)] })).toBe(1)
  expect(found({ writes, reads: [read(undefined, 71, 75)] })).toBe(1)
  expect(found({ writes, reads: [read('3', 51, 55)] })).toBe(1)
  expect(found({ writes, reads: [read('foreign', 51, 55)] })).toBe(1)
})

test('a client that goes back to an older version is found, two clients are not compared', () => {
  const long = [write('1', 0, 10), write('2', 20, 90)]
  expect(found({ writes: long, reads: [read('2', 30, 35), read('1', 36, 40)] })).toBe(1)
  expect(found({ writes: long, reads: [read('2', 30, 35), { ...read('1', 36, 40), client: 'other' }] })).toBe(
    0,
  )
})

test('a watcher that misses the final state is found', () => {
  const views = (value: string | undefined) => [{ client: 'w', item: 'i', value }]
  expect(found({ writes, finalViews: views('3') })).toBe(0)
  expect(found({ writes, finalViews: views('2') })).toBe(1)
  expect(found({ writes, finalViews: views(undefined) })).toBe(1)
  expect(
    found({ writes: [...writes, write('4', 65, 75)], finalViews: views('3') }),
    'either may be the last',
  ).toBe(0)
})

test('a beating instance that is absent or unhealthy is found', () => {
  expect(
    found({ lives: [life], lists: [list(50, {}), list(500, { a: true }), list(3_500, { a: true })] }),
  ).toBe(0)
  expect(found({ lives: [life], lists: [list(500, {})] })).toBe(1)
  expect(found({ lives: [life], lists: [list(3_500, { a: false })] })).toBe(1)
  expect(found({ lives: [life], lists: [list(4_500, { a: false })] }), 'silent for 2.5 s').toBe(0)
  expect(found({ lives: [{ ...life, beats: [span(2_500, 2_510)] }], lists: [list(3_000, {})] })).toBe(0)
})

test('a silent or deregistered instance that is listed is found', () => {
  expect(found({ lives: [life], lists: [list(5_900, { a: false })] })).toBe(0)
  expect(found({ lives: [life], lists: [list(6_100, { a: false })] })).toBe(1)
  const left = { ...life, left: span(2_500, 2_510) }
  expect(found({ lives: [left], lists: [list(2_505, { a: true }), list(2_600, {})] })).toBe(0)
  expect(found({ lives: [left], lists: [list(2_600, { a: true })] })).toBe(1)
})
