import { beforeEach, describe, expect, test } from 'vitest'
import type { SharedCommit, Loaded } from '../../../core/engine/ports.ts'
import { SERVICE_DEFAULTS } from '../../../core/naming/state/service.ts'
import { MissingChunk } from '../contents/chunks.ts'
import type { Clock } from '@waypost/etcd-client/clock'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import type { TxnResult } from '@waypost/etcd-client/messages'
import type { RangeOptions, RangeResult } from '@waypost/etcd-client/etcd-client'
import type { WatchListener, WatchOptions } from '@waypost/etcd-client/watch'
import { DamagedKeys } from '../failures/damaged-keys.ts'
import { Following, type FollowingParts } from './following.ts'
import { Keys } from '../keys/keys.ts'
import { KnownKeys } from '../keys/known-keys.ts'
import { LAYOUTS } from '../format/layout.ts'
import { StoreInUse } from '../format/store-in-use.ts'
import { contentValue, serviceValue, toJson } from '../keys/values.ts'

const keys = new Keys('w/')
const AWAY = new EtcdError('unavailable', 'etcd is down')

let nowMs: number
let sleeps: number[]
/** The errors of the next reads, in order; later reads succeed. */
let troubles: Error[]
/** The newest revision of etcd. */
let revision: number
let watches: { from: number; listener: WatchListener; isClosed: boolean }[]
let failures: unknown[]
let reasons: string[]
let applied: SharedCommit[]
let snapshots: Loaded[]
/** How often the watch was asked how far it has come. */
let asked = 0
/** How often the member of the watch was said to stand still. */
let suspected = 0

beforeEach(() => {
  nowMs = 0
  sleeps = []
  troubles = []
  revision = 5
  watches = []
  failures = []
  reasons = []
  applied = []
  snapshots = []
  asked = 0
  suspected = 0
})

const clock: Clock = {
  nowMs: () => nowMs,
  sleep: (ms, cancellation) => {
    sleeps.push(ms)
    // A wait for a revision lasts until it is applied.
    return ms > 10_000 ? new Promise((resolve) => cancellation?.onCancel(resolve)) : Promise.resolve()
  },
}

const client = {
  range(): Promise<RangeResult> {
    const trouble = troubles.shift()
    if (trouble !== undefined) return Promise.reject(trouble)
    return Promise.resolve({ revision, kvs: [], count: 0, more: false })
  },
  // oxlint-disable-next-line typescript/require-await
  async *pages() {
    yield { revision, kvs: [], count: 0, more: false }
  },
  watch({ from }: WatchOptions, listener: WatchListener) {
    const watch = { from, listener, isClosed: false }
    watches.push(watch)
    const requestProgress = (): void => void asked++
    const suspect = (): void => void suspected++
    return { close: () => void (watch.isClosed = true), requestProgress, suspect, ended: Promise.resolve() }
  },
}

function readingNothing(): Promise<TxnResult> {
  const trouble = troubles.shift()
  if (trouble !== undefined) return Promise.reject(trouble)
  return Promise.resolve({ revision, succeeded: true, results: [] })
}

async function follow(more: Partial<FollowingParts> = {}): Promise<Following> {
  const { following } = await Following.load({
    client,
    keys,
    known: new KnownKeys(keys),
    inUse: new StoreInUse({ client: { ...client, txn: readingNothing }, keys }),
    member: 'me',
    readParts: ({ stamp }) => Promise.reject(new MissingChunk(stamp, 0)),
    clock,
    failed: (error) => failures.push(error),
    reloading: (why) => reasons.push(String(why)),
    ...more,
  })
  following.follow({
    applied: (commit) => applied.push(commit),
    reloaded: (snapshot) => snapshots.push(snapshot),
  })
  return following
}

/** The watch reports a revision that puts a key. */
function put(at: number, key: string, value: Buffer): void {
  const kv = { key, value, createRevision: at, modRevision: at, version: 1, lease: 0n }
  watches.at(-1)!.listener.changed({ revision: at, changes: [{ kind: 'put', kv }] })
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const itemInChunks = contentValue({ facts: {}, content: Buffer.alloc(0), parts: { stamp: 7, count: 1 } })

describe('following etcd', () => {
  test('continues after the loaded revision', async () => {
    const following = await follow()
    expect(watches.map(({ from }) => from)).toEqual([6])
    put(6, 'w/b/me', toJson({ number: 1, process: 'p', stamp: 9 }))
    await settled()
    expect(applied).toEqual([{ revision: 6, changes: [], stamp: 9 }])
    expect(following.keysOf(6)).toEqual(['w/b/me'])
  })

  test('has reached the revision of something else in etcd when the watch says so', async () => {
    const following = await follow()
    let isReached = false
    const waiting = following.reachedAll(9, 60_000).then((is) => (isReached = is))
    expect(asked).toBe(1)
    put(7, 'w/b/me', toJson({ number: 1, process: 'p', stamp: 9 }))
    await settled()
    expect(isReached).toBe(false)
    watches[0]!.listener.reached(9)
    await waiting
    expect(isReached).toBe(true)
    expect(following.figures.applied).toBe(7)
  })

  test('has the member of the watch asked whether it serves when a revision does not come', async () => {
    const following = await follow()
    const waiting = following.reached(7, 60_000)
    await settled()
    expect([sleeps.includes(300), suspected]).toEqual([true, 1])
    put(7, 'w/b/me', toJson({ number: 1, process: 'p', stamp: 9 }))
    expect(await waiting).toBe(true)
  })

  test('loads everything again if the watch cannot go on, until it succeeds', async () => {
    const following = await follow()
    const waiting = following.reached(20, 60_000)
    revision = 20
    troubles = [AWAY, AWAY, AWAY]
    watches[0]!.listener.broken('compacted')
    await settled()
    expect(await waiting).toBe(true)
    expect(snapshots).toMatchObject([{ revision: 20 }])
    expect(reasons).toEqual([
      expect.stringContaining('compacted'),
      ...Array.from({ length: 3 }, () => String(AWAY)),
    ])
    expect(sleeps.toSorted((a, b) => a - b)).toEqual([100, 200, 300, 400, 59_700])
    expect(watches).toMatchObject([{ isClosed: true }, { from: 21, isClosed: false }])
    expect(following.figures).toMatchObject({ applied: 20, newest: 20, reloads: 1 })
    expect(following.keysOf(20)).toBeUndefined()
  })

  test('loads everything again if a content is gone, without the changes after it', async () => {
    await follow()
    put(6, 'w/c/public/G/a', itemInChunks)
    put(7, 'w/b/me', toJson({ number: 1, process: 'p', stamp: 9 }))
    revision = 8
    await settled()
    expect(applied).toEqual([])
    expect(snapshots).toMatchObject([{ revision: 8 }])
    expect(reasons).toEqual([expect.stringContaining('Chunk 0')])
    put(9, 'w/b/me', toJson({ number: 2, process: 'p', stamp: 9 }))
    await settled()
    expect(applied).toMatchObject([{ revision: 9 }])
  })

  test('begins at an earlier revision if etcd was restored', async () => {
    await follow()
    revision = 3
    watches[0]!.listener.broken('restored')
    await settled()
    expect(watches.at(-1)).toMatchObject({ from: 4 })
  })

  test.each([
    ['a kind of records that it does not know', 'w/r/of-the-future/a', toJson({ value: {}, stamp: 1 })],
    ['a layout that it does not know', 'w/format', Buffer.from(String(LAYOUTS.to + 1))],
  ])('ends for %s', async (_what, key, value) => {
    await follow()
    put(6, key, value)
    await settled()
    expect(failures).toHaveLength(1)
    expect([snapshots, reasons]).toEqual([[], []])
    expect(watches).toMatchObject([{ isClosed: true }])
  })

  test('does not load again after it was closed', async () => {
    const following = await follow()
    troubles = [AWAY]
    watches[0]!.listener.broken('compacted')
    following.close()
    await settled()
    expect(watches).toHaveLength(1)
    expect(snapshots).toEqual([])
  })

  test('reports how old its data may be', async () => {
    const following = await follow()
    nowMs = 700
    expect(following.figures.lagMs).toBe(700)
    watches[0]!.listener.reached(9)
    expect(following.figures).toMatchObject({
      applied: 5,
      newest: 9,
      lagMs: 0,
      reloads: 0,
      drifts: 0,
      mends: 0,
    })
    troubles = [AWAY, AWAY]
    put(10, 'w/c/public/G/a', itemInChunks)
    nowMs = 900
    expect(following.figures).toMatchObject({ newest: 10, lagMs: 200 })
    await settled()
    expect(following.figures).toMatchObject({ newest: 5, lagMs: 0, reloads: 1 })
  })

  test('at a start, tries again if the revision was compacted meanwhile', async () => {
    troubles = [new EtcdError('compacted', 'gone')]
    await follow()
    expect(watches).toHaveLength(1)
    troubles = [AWAY]
    await expect(follow()).rejects.toBe(AWAY)
  })
})

/** Keys and their values, at each revision at which they are read. */
type StoredAt = Record<number, Readonly<Record<string, Buffer>>>

/** An etcd whose reads at the revision 5 wait while `waits` is set, until `letGo` is called. */
class StoredKeys {
  readonly stored: StoredAt
  /** The beginnings of the ranges that were read. */
  readonly read: string[] = []
  waits = false
  letGo: () => void = () => undefined
  readonly #gone = new Promise<void>((resolve) => (this.letGo = resolve))

  constructor(stored: StoredAt) {
    this.stored = stored
  }

  readonly range = ({ key, end, revision: at }: RangeOptions): Promise<RangeResult> =>
    Promise.resolve(this.#found(key, end, at))

  async *pages({ key, end, revision: at }: RangeOptions): AsyncGenerator<RangeResult> {
    this.read.push(key)
    if (this.waits && at === 5) await this.#gone
    yield this.#found(key, end, at)
  }

  #found(key: string, end: string | undefined, at = revision): RangeResult {
    const all = Object.entries(this.stored[at] ?? {}).filter(([one]) =>
      end === undefined ? one === key : one >= key && one < end,
    )
    const of = { createRevision: 1, modRevision: 1, version: 1, lease: 0n }
    const kvs = all.map(([one, value]) => ({ key: one, value, ...of }))
    return { revision, kvs, count: kvs.length, more: false }
  }
}

describe('a part that is loaded again', () => {
  const ITEM = 'w/c/public/G/a'
  const damage = Buffer.from('x')

  async function followKeys(stored: StoredAt): Promise<{ etcd: StoredKeys; following: Following }> {
    const etcd = new StoredKeys(stored)
    const parts = {
      range: etcd.range,
      pages: (range: RangeOptions) => etcd.pages(range),
      watch: client.watch,
    }
    const following = await follow({ client: parts, damaged: new DamagedKeys(() => undefined) })
    return { etcd, following }
  }

  test('ends before everything is loaded again, and its keys are not known then', async () => {
    const { etcd, following } = await followKeys({ 5: { [ITEM]: damage }, 20: { 'w/c/public/G/b': damage } })
    etcd.waits = true
    const comparing = following.compare({ counts: { config: 7 } })
    await settled()
    revision = 20
    watches[0]!.listener.broken('compacted')
    await settled()
    expect(snapshots).toEqual([])
    etcd.letGo()
    await comparing
    await settled()
    expect(snapshots).toMatchObject([{ revision: 20 }])
    expect(await following.compare({ each: true })).toEqual([])
  })

  test('is not compared before it is whole', async () => {
    const { etcd, following } = await followKeys({ 5: { [ITEM]: damage } })
    etcd.waits = true
    const first = following.compare({ counts: { config: 7 } })
    await settled()
    const second = following.compare()
    etcd.letGo()
    expect(await second).toEqual([])
    expect(await first).toHaveLength(1)
    expect(following.figures).toMatchObject({ drifts: 1, mends: 1 })
  })

  test('ends a comparison that has begun before', async () => {
    const { etcd, following } = await followKeys({ 5: { [ITEM]: damage } })
    etcd.waits = true
    const ofEach = following.compare({ each: true })
    const ofCounts = following.compare({ counts: { config: 7 } })
    await settled()
    etcd.letGo()
    expect(await ofEach).toEqual([])
    expect(await ofCounts).toHaveLength(1)
  })

  test('comes before the records, which have the marks of damaged services', async () => {
    const key = { namespaceId: 'public', groupedName: 'G@@a' }
    const service = keys.of({ of: 'service', service: key })
    const { etcd, following } = await followKeys({ 5: { [service]: damage } })
    const sound = serviceValue({ ...SERVICE_DEFAULTS, key, serial: 0, madeBy: 'operator' }, 9)
    etcd.stored[5] = { [service]: sound, 'w/r/user/ann': damage }
    etcd.read.length = 0
    expect(await following.compare()).toEqual([{ kind: 'small-record', known: 0, stored: 1 }])
    expect(etcd.read.indexOf(keys.every('service'))).toBe(0)
    expect(snapshots.at(-1)).toMatchObject({ records: [] })
  })
})
