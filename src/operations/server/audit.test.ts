import { expect, test } from 'vitest'
import { ANONYMOUS } from '../../core/access/identity.ts'
import type { AuditEvent, AuditSearch, FoundEvents } from '../../core/audit/audit-event.ts'
import { auditOperations } from './audit.ts'
import { Guard } from '../guard.ts'

const caller = { ip: '10.0.0.1', identity: ANONYMOUS }
const search: AuditSearch = {
  username: 'ann',
  operation: undefined,
  itemPart: undefined,
  ip: undefined,
  result: undefined,
  fromMs: undefined,
  toMs: undefined,
  before: undefined,
}
const event = (id: number) => ({ id }) as AuditEvent

function auditOf(answers: (asked: { search: AuditSearch; most: number }, call: number) => FoundEvents) {
  const asked: { search: AuditSearch; most: number }[] = []
  const findAudit = async (given: AuditSearch, most: number) => {
    asked.push({ search: given, most })
    return answers({ search: given, most }, asked.length)
  }
  return { asked, audit: auditOperations({ guard: new Guard(), store: { reads: () => ({ findAudit }) } }) }
}

test('a page continues where the store stopped, until it is full', async () => {
  const { asked, audit } = auditOf((_, call) => ({ events: [event(100 - call)], goOn: 100 - call }))
  expect(await audit.search({ search, pageSize: 3 }, caller)).toEqual({
    events: [event(99), event(98), event(97)],
    next: 97,
  })
  expect(asked).toEqual([
    { search, most: 3 },
    { search: { ...search, before: 99 }, most: 2 },
    { search: { ...search, before: 98 }, most: 1 },
  ])
})

test('a page ends where nothing older is left', async () => {
  const { audit } = auditOf(() => ({ events: [event(5)], goOn: undefined }))
  expect(await audit.search({ search, pageSize: 3 }, caller)).toEqual({ events: [event(5)], next: undefined })
})

test('a request looks at a bounded number of events: its page may be short', async () => {
  const { asked, audit } = auditOf((_, call) => ({ events: [], goOn: 1_000_000 - call }))
  const { events, next } = await audit.search({ search, pageSize: 3 }, caller)
  expect([events.length, next]).toEqual([0, 1_000_000 - asked.length])
  expect(asked.length).toBeLessThan(1_000)
})

test('a page has at most 500 events', async () => {
  const { asked, audit } = auditOf(() => ({ events: [], goOn: undefined }))
  await audit.search({ search, pageSize: 100_000 }, caller)
  expect(asked[0]?.most).toBe(500)
})
