import { beforeEach, expect, test } from 'vitest'
import { at } from '../core.test-support.ts'
import type { AuditEntry } from './audit-event.ts'
import { EventMerger } from './event-merger.ts'

const refusal: AuditEntry = {
  username: 'ann',
  by: 'token',
  ip: '10.0.0.1',
  operation: 'read config',
  item: 'dev:G:config/a',
  result: 'refused',
  code: 'forbidden',
  detail: '',
}

const others: AuditEntry = { ...refusal, username: '-', by: 'none', ip: '-', operation: 'several' }

let merger: EventMerger
beforeEach(() => (merger = new EventMerger({ most: 3, others })))

test('equal refusals are one event with a count, which names the first item and time', () => {
  const first = merger.eventOf(refusal, at(0))
  expect(first).toMatchObject({ ...refusal, count: 1, atMs: at(0).wallMs })
  expect(merger.eventOf({ ...refusal, item: 'dev:G:config/b' }, at(1_000))).toBe(first)
  expect(first).toMatchObject({ item: 'dev:G:config/a', count: 2, atMs: at(0).wallMs })
})

test.each<Partial<AuditEntry>>([
  { username: 'bob' },
  { by: 'password' },
  { ip: '10.0.0.2' },
  { operation: 'publish config' },
  { result: 'failed' },
  { code: 'token-expired' },
])('a refusal with %j is another event', (other) => {
  expect(merger.eventOf(refusal, at(0))).not.toBe(merger.eventOf({ ...refusal, ...other }, at(0)))
})

test('all events beyond the limit of a window are one, which names nobody', () => {
  const from = (host: number) => merger.eventOf({ ...refusal, ip: `10.0.0.${host}` }, at(0))
  const events = [1, 2, 3].map(from)
  const beyond = [4, 5, 6].map(from)
  expect(new Set(events).size).toBe(3)
  expect(new Set(beyond).size).toBe(1)
  expect(beyond[0]).toMatchObject({ ...others, count: 3 })
  expect(from(2)).toBe(events[1])
})

test('a window ends after a minute, with those events that came more than once', () => {
  const repeated = merger.eventOf(refusal, at(0))
  merger.eventOf({ ...refusal, ip: '10.0.0.2' }, at(1))
  merger.eventOf(refusal, at(59_999))
  expect(merger.closed(at(59_999).wallMs)).toEqual([])
  expect(merger.closed(at(60_000).wallMs)).toEqual([repeated])
  expect(merger.eventOf(refusal, at(60_001))).not.toBe(repeated)
})

test('a clock that is set back ends a window', () => {
  const first = merger.eventOf(refusal, at(0))
  merger.closed(at(-1).wallMs)
  expect(merger.eventOf(refusal, at(-1))).not.toBe(first)
})
