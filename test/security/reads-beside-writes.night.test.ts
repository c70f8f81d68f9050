/**
 * The dearest reads of history and of the audit, many at once, beside one writer: the writer does not wait longer when there are
 * more. The time of the clock is measured, on a machine that does nothing else.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { AuditEvent } from '../../src/core/audit/audit-event.ts'
import type { ConfigItem } from '../../src/core/config/state/config-item.ts'
import type { KeptRecords } from '../../src/core/engine/ports.ts'
import { Refusal } from '../../src/core/refusal.ts'
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts'
import { systemClock } from '@waypost/etcd-client/clock'
import { openEtcd } from '../../src/store/etcd/open-etcd.ts'
import { commitAll, imported, published, sampleKey, stamps } from '../store-contract/samples.ts'
import { sharedStateStore } from '../store-contract/shared-state-store.ts'
import { ETCD_HOOK_MS, etcdTools, startEtcd } from '../support/etcd.ts'

const RECORDS = 10_000
const EVENTS = 10_000
const AT_ONCE = [10, 300, 3_000]
/** The numbers of reads take turns, so that a machine which becomes slower is slower for all of them. */
const ROUNDS = 3
const WRITES = 100
const MOST_MORE_MS = 50
const LONG = sampleKey('long')
let writers = 0
const NO_EVENT = {
  username: 'nobody',
  operation: undefined,
  itemPart: undefined,
  ip: undefined,
  result: undefined,
  fromMs: undefined,
  toMs: undefined,
  before: undefined,
}
const SETTLE_MS = 1_000
/** A refused reader asks again after about this time, as Retry-After says. */
const RETRY_MS = 1_000

type Change = ReturnType<typeof imported> | ReturnType<typeof published>

/** A store that is open, and how to write to it. */
interface Opened {
  readonly kept: KeptRecords
  write(...changes: readonly Change[]): Promise<unknown>
  close(): Promise<void>
}

async function embedded(): Promise<Opened> {
  const directory = mkdtempSync(join(tmpdir(), 'waypost-reads-'))
  const store = await openEmbeddedStore({ directory, log: { info() {}, warn() {}, error() {} } })
  await store.load()
  return {
    kept: store,
    write: (...changes) => commitAll(store, ...changes),
    async close() {
      await store.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function onEtcd(): Promise<Opened> {
  const etcd = await startEtcd()
  const { endpoints } = etcd
  const where = { endpoints, prefix: 'reads', member: '127.0.0.1:1', process: 'one' }
  const { store } = openEtcd({ ...where, clock: systemClock, failed() {} })
  const loadElsewhere = () => Promise.reject(new Error('not used here'))
  const { write } = sharedStateStore({ store, loadElsewhere, close: () => store.close() })
  return {
    kept: store,
    write,
    async close() {
      await store.close()
      await etcd.stop()
    },
  }
}

/** Fills a store: a long history, and many events. Returns the oldest record of the history. */
async function fill({ kept, write }: Opened): Promise<number> {
  const content = Buffer.from('x')
  const records = Array.from({ length: RECORDS }, () => imported(LONG, { content }))
  for (let at = 0; at < RECORDS; at += 30) await write(...records.slice(at, at + 30))
  const facts = { username: 'ada', by: 'token', ip: '10.0.0.1', operation: 'publish config' } as const
  const eventOf = (): AuditEvent => {
    const id = stamps.next(0)
    return { id, atMs: 1, ...facts, item: 'x', result: 'done', code: '', detail: '', count: 1 }
  }
  for (let at = 0; at < EVENTS; at += 1_000) await kept.saveAudit(Array.from({ length: 1_000 }, eventOf))
  return records[0]!.record.id
}

/** The dearest reads, in turn. */
function readOf({ kept }: Opened, oldest: number, at: number): Promise<unknown> {
  const reads = kept.reads(`user ${at % 5}`)
  switch (at % 3) {
    case 0:
      return reads.history([LONG], { pageNo: RECORDS / 500, pageSize: 500 })
    case 1:
      return reads.historyAfter(LONG, oldest)
    default:
      return reads.findAudit(NO_EVENT, 500)
  }
}

/** The times of a writer in ms beside this number of reads, which are all made again as soon as they end. */
async function timesBeside(opened: Opened, oldest: number, atOnce: number): Promise<number[]> {
  let isOver = false
  let answered = 0
  const readers = Array.from({ length: atOnce }, async (_, at) => {
    while (!isOver)
      try {
        await readOf(opened, oldest, at)
        answered++
      } catch (error) {
        if (!(error instanceof Refusal) || error.code !== 'too-many-reads') throw error
        await sleep(RETRY_MS * (0.5 + Math.random()))
      }
  })
  await sleep(SETTLE_MS)
  const times: number[] = []
  const key = sampleKey(`other ${writers++}`)
  let previous: ConfigItem | undefined
  for (let at = 0; at < WRITES; at++) {
    const change = published(key, { content: `${at}`, previous })
    const beganMs = performance.now()
    await opened.write(change)
    times.push(performance.now() - beganMs)
    previous = change.item
    await sleep(5)
  }
  isOver = true
  await Promise.all(readers)
  expect(answered).toBeGreaterThan(0)
  return times
}

function p99(times: readonly number[]): number {
  return times.toSorted((one, other) => one - other)[Math.floor(times.length * 0.99)]!
}

const STORES = [
  { name: 'the embedded store', open: embedded, skip: false },
  { name: 'etcd', open: onEtcd, skip: etcdTools.skip },
]

describe.each(STORES)('$name', ({ name, open, skip }) => {
  test.skipIf(skip)(
    'a writer waits no longer beside 3,000 reads than beside 10',
    async () => {
      const opened = await open()
      onTestFinished(() => opened.close())
      const oldest = await fill(opened)
      const times = AT_ONCE.map((): number[] => [])
      for (let round = 0; round < ROUNDS; round++)
        for (const [index, atOnce] of AT_ONCE.entries())
          times[index]!.push(...(await timesBeside(opened, oldest, atOnce)))
      const found = times.map(p99)
      console.log(
        `${name}: p99 of a writer beside ${AT_ONCE.join(', ')} reads: ${found.map(Math.round).join(', ')} ms`,
      )
      expect(found.at(-1)! - found[0]!).toBeLessThan(MOST_MORE_MS)
    },
    ETCD_HOOK_MS + 300_000,
  )
})
