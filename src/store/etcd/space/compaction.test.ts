import { expect, test } from 'vitest'
import { Compaction, type CompactMode } from './compaction.ts'
import { EtcdError } from '@waypost/etcd-client/etcd-error'

const MINUTE_MS = 60_000

/** Compaction of an etcd with or without keys of others; a revision a second. */
function start(mode: CompactMode, others: 'none' | 'some' | 'denied' = 'none') {
  const etcd = { nowMs: 0, restoredBy: 0 }
  const compacted: number[] = []
  const client = {
    range: async ({ end }: { key: string; end?: string }) => {
      if (end !== undefined && others === 'denied') throw new EtcdError('denied', 'etcd: permission denied')
      const kvs = end !== undefined && others === 'some' ? [{}] : []
      return { revision: etcd.nowMs / 1_000 + 1 - etcd.restoredBy, kvs, count: 0, more: false } as never
    },
    compact: async (revision: number) => void compacted.push(revision),
  }
  const compaction = new Compaction({ client, prefix: 'waypost/', mode, nowMs: () => etcd.nowMs })
  const minutes = async (count: number) => {
    for (let i = 0; i < count; i++, etcd.nowMs += MINUTE_MS) await compaction.step()
  }
  return { minutes, compacted, etcd }
}

test('etcd is compacted to ten minutes ago, each minute', async () => {
  const { minutes, compacted } = start('on', 'some')
  await minutes(10)
  expect(compacted).toEqual([])
  await minutes(3)
  expect(compacted).toEqual([1, 61, 121])
})

test('an etcd with keys of others is compacted only if that was asked for', async () => {
  for (const others of ['some', 'denied'] as const) {
    const { minutes, compacted } = start('auto', others)
    await minutes(20)
    expect(compacted).toEqual([])
  }
  const alone = start('auto')
  await alone.minutes(12)
  expect(alone.compacted).toEqual([1, 61])
  const off = start('off')
  await off.minutes(20)
  expect(off.compacted).toEqual([])
})

test('after a restore to a smaller revision it waits ten minutes again', async () => {
  const { minutes, compacted, etcd } = start('on')
  await minutes(12)
  etcd.restoredBy = 600
  compacted.splice(0)
  await minutes(10)
  expect(compacted).toEqual([])
  await minutes(1)
  expect(compacted).toEqual([121])
})
