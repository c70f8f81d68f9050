import { expect, test } from 'vitest'
import type { AuditLimit } from '../core/audit/audit-event.ts'
import { AuditCleaner } from './audit-cleaner.ts'

function startCleaner(steps: number, clock: string | null = '100000') {
  const asked: AuditLimit[] = []
  const cleaner = new AuditCleaner({
    store: {
      cleanAudit: async (limit) => {
        asked.push(limit)
        return { removed: 1, more: asked.length < steps }
      },
      recall: async () => clock ?? undefined,
    },
    wallMs: () => 500_000,
    retentionMs: 1_000,
    maxEvents: 400,
  })
  return { cleaner, asked }
}

test('a round removes records that are too old by the history clock, or too many, in steps, until the rest may stay', async () => {
  const { cleaner, asked } = startCleaner(3)
  await cleaner.clean()
  const limit = { beforeMs: 99_000, keep: 400, keepRefused: 100, most: 200 }
  expect(asked).toEqual([limit, limit, limit])
})

test('a cleaner that was stopped asks the store for nothing', async () => {
  const { cleaner, asked } = startCleaner(3)
  cleaner.stop()
  await cleaner.clean()
  expect(asked).toEqual([])
})

test.each([
  ['4000000000000', 499_000],
  ['600000', 499_000],
  ['9e15', -1_000],
  ['9000000000000000', -1_000],
  ['abc', -1_000],
  ['', -1_000],
  [null, -1_000],
])('with the history clock %s events age by no more than by the wall clock', async (clock, beforeMs) => {
  const { cleaner, asked } = startCleaner(1, clock)
  await cleaner.clean()
  expect(asked).toMatchObject([{ beforeMs }])
})
