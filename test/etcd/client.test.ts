import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { systemClock } from '@waypost/etcd-client/clock'
import { connectTo } from '@waypost/etcd-client/connection'
import { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { TxnOperation, Txn } from '@waypost/etcd-client/messages'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import { describeOnEtcd, ETCD_HOOK_MS, startEtcd, type Etcd, type EtcdMember } from '../support/etcd.ts'
import { recordWatch, type WatchRecord } from './watch-record.ts'

const TEST_MS = 90_000

/** Tests run on machines that are busy: these limits only bound what would hang. */
const LIMITS = { callMs: 15_000, attemptMs: 3_000 }

function clientOf(etcd: Pick<Etcd, 'endpoints'>, callMs = LIMITS.callMs): EtcdClient {
  return new EtcdClient({
    endpoints: etcd.endpoints,
    clock: systemClock,
    random: () => 0,
    open: connectTo(systemClock),
    limits: { ...LIMITS, callMs },
  })
}

const put = (key: string, value = 'v'): TxnOperation => ({ do: 'put', key, value: Buffer.from(value) })
const always = (...success: TxnOperation[]): Txn => ({ compare: [], success })

describeOnEtcd('the client on one member', TEST_MS, () => {
  let etcd: Etcd
  let client: EtcdClient
  beforeAll(async () => {
    etcd = await startEtcd()
    client = clientOf(etcd)
  }, ETCD_HOOK_MS)
  afterAll(async () => {
    client?.close()
    await etcd?.stop()
  })

  test('reads what a transaction wrote, as it is and as it was', async () => {
    const first = await client.txn(always(put('r/1', 'one'), put('r/2', 'two')))
    const second = await client.txn(always(put('r/1', 'later')))
    expect(second.revision).toBe(first.revision + 1)
    const range = { key: 'r/', end: prefixEnd('r/') }
    const now = await client.range(range)
    expect(now.kvs.map(({ key, value }) => [key, Buffer.from(value).toString()])).toEqual([
      ['r/1', 'later'],
      ['r/2', 'two'],
    ])
    expect(now.kvs[0]).toMatchObject({
      createRevision: first.revision,
      modRevision: second.revision,
      version: 2,
    })
    const before = await client.range({ ...range, revision: first.revision, limit: 1 })
    expect(before).toMatchObject({ count: 2, more: true, revision: second.revision })
    expect(Buffer.from(before.kvs[0]!.value).toString()).toBe('one')
    const reverse = await client.range({ ...range, descending: true, keysOnly: true })
    expect(reverse.kvs.map(({ key }) => key)).toEqual(['r/2', 'r/1'])
  })

  test('reads pages as of one revision while keys change', async () => {
    await client.txn(always(...Array.from({ length: 25 }, (_, i) => put(`p/${100 + i}`))))
    const keys: string[] = []
    for await (const page of client.pages({ key: 'p/', end: prefixEnd('p/'), pageSize: 10 })) {
      keys.push(...page.kvs.map(({ key }) => key))
      await client.txn(always(put(`p/${keys.length}`), { do: 'delete', key: 'p/124' }))
    }
    expect(keys).toEqual(Array.from({ length: 25 }, (_, i) => `p/${100 + i}`))
  })

  test('compares the revision, the existence and the value of keys, and of all keys of a range', async () => {
    const { revision } = await client.txn(always(put('c/1')))
    const holds = async (comparison: Txn['compare'][number]) =>
      (await client.txn({ compare: [comparison], success: [] })).succeeded
    expect(await holds({ key: 'c/1', of: 'mod', is: '=', to: revision })).toBe(true)
    expect(await holds({ key: 'c/1', of: 'create', is: '>', to: 0 })).toBe(true)
    expect(await holds({ key: 'c/1', of: 'value', is: '=', to: Buffer.from('v') })).toBe(true)
    expect(await holds({ key: 'c/1', of: 'value', is: '=', to: Buffer.from('w') })).toBe(false)
    // A key that is not there has the revision 0.
    expect(await holds({ key: 'c/2', of: 'mod', is: '<', to: revision })).toBe(true)
    const range = { key: 'c/', end: prefixEnd('c/') }
    expect(await holds({ ...range, of: 'mod', is: '<', to: revision })).toBe(false)
    expect(await holds({ ...range, of: 'create', is: '=', to: 0 })).toBe(false)
    expect(await holds({ key: 'd/', end: prefixEnd('d/'), of: 'create', is: '=', to: 0 })).toBe(true)
  })

  test('nested transactions decide each for themselves, in one revision', async () => {
    await client.txn(always(put('n/old')))
    const unit = (key: string, other: string): TxnOperation => ({
      do: 'txn',
      compare: [{ key, of: 'create', is: '=', to: 0 }],
      success: [put(key)],
      failure: [{ do: 'range', key: other }],
    })
    const { results, revision } = await client.txn(always(unit('n/new', 'x'), unit('n/old', 'n/old')))
    expect(results).toMatchObject([
      { did: 'txn', succeeded: true, results: [{ did: 'put' }] },
      { did: 'txn', succeeded: false, results: [{ did: 'range', count: 1 }] },
    ])
    expect((await client.range({ key: 'n/new' })).kvs[0]!.modRevision).toBe(revision)
  })

  test('a request may have 128 operations: the nested transactions and those of the largest one', async () => {
    const nested = (count: number, size: number) =>
      client.txn(
        always(
          ...Array.from({ length: count }, (_, i): TxnOperation => {
            const success = Array.from({ length: size }, (_, n) => put(`o/${i}/${n}`))
            return { do: 'txn', compare: [], success }
          }),
        ),
      )
    expect((await nested(100, 28)).succeeded).toBe(true)
    expect((await nested(120, 8)).succeeded).toBe(true)
    const tooMany = {
      kind: 'invalid',
      inDoubt: false,
      message: expect.stringContaining('too many operations'),
    }
    await expect(nested(100, 29)).rejects.toMatchObject(tooMany)
    await expect(nested(128, 1)).rejects.toMatchObject(tooMany)
  })

  test('a key twice and a value that is too large are refused as invalid', async () => {
    const twice = always({ do: 'txn', ...always(put('t/1')) }, { do: 'txn', ...always(put('t/1')) })
    await expect(client.txn(twice)).rejects.toMatchObject({ kind: 'invalid' })
    const large = (bytes: number) => client.txn(always(put('t/2', 'x'.repeat(bytes))))
    expect((await large(1024 * 1024)).succeeded).toBe(true)
    await expect(large(1.5 * 1024 * 1024)).rejects.toMatchObject({ kind: 'invalid', inDoubt: false })
    await expect(large(3 * 1024 * 1024)).rejects.toMatchObject({ kind: 'invalid', inDoubt: false })
  })

  test('a compacted revision can no longer be read, and compacting it again does nothing', async () => {
    const { revision } = await client.txn(always(put('z/1')))
    await client.txn(always(put('z/1')))
    await client.compact(revision + 1)
    await client.compact(revision + 1)
    await expect(client.range({ key: 'z/1', revision })).rejects.toMatchObject({ kind: 'compacted' })
  })

  test('keys of a lease stay while it is renewed, and go with it', async () => {
    const lease = await client.lease(6)
    const put: TxnOperation = { do: 'put', key: 'l/1', value: Buffer.from('v'), lease: lease.id }
    await client.txn(always(put))
    const granted = lease.certainUntilMs()
    await sleep(300)
    await lease.renew()
    expect(lease.certainUntilMs()).toBeGreaterThan(granted)
    expect((await client.range({ key: 'l/1' })).kvs[0]!.lease).toBe(lease.id)
    const deadline = Date.now() + 30_000
    while ((await client.range({ key: 'l/1' })).count > 0 && Date.now() < deadline) await sleep(100)
    expect(performance.now()).toBeGreaterThan(lease.certainUntilMs())
    await expect(lease.renew()).rejects.toMatchObject({ kind: 'no-lease' })
    await lease.revoke()
  })

  test('a revoked lease takes its keys at once', async () => {
    const lease = await client.lease(60)
    await client.txn(always({ do: 'put', key: 'l/2', value: Buffer.from('v'), lease: lease.id }))
    await lease.revoke()
    expect((await client.range({ key: 'l/2' })).count).toBe(0)
  })

  test('the version and the state of the member are known', async () => {
    await client.checkVersions()
    expect(await client.status()).toMatchObject([
      { version: expect.stringMatching(/^3\.6\./), hasLeader: true, errors: [] },
    ])
  })

  test('a watch reports large revisions whole', async () => {
    const value = 'x'.repeat(300_000)
    const { revision: from } = await client.txn(always(put('w/0')))
    for (let i = 0; i < 5; i++)
      await client.txn(always(...Array.from({ length: 4 }, (_, n) => put(`w/${n}`, `${i}${value}`))))
    const record = recordWatch(client, { key: 'w/', end: prefixEnd('w/'), from })
    await record.until((seen) => seen.revisions.length === 6)
    expect(record.revisions.map(({ revision }) => revision)).toEqual([0, 1, 2, 3, 4, 5].map((i) => from + i))
    expect(record.revisions.map(({ changes }) => changes.length)).toEqual([1, 4, 4, 4, 4, 4])
  })

  test('a watch says how far it has come when it is asked', async () => {
    const { revision } = await client.txn(always(put('y/1')))
    const record = recordWatch(client, { key: 'y/', end: prefixEnd('y/'), from: revision + 1 })
    await record.until((seen) => seen.connections > 0)
    const elsewhere = await client.txn(always(put('elsewhere')))
    record.watch.requestProgress()
    await record.until((seen) => seen.reached >= elsewhere.revision)
    expect(record.revisions).toEqual([])
  })
})

describeOnEtcd('the client on three members', TEST_MS, () => {
  let etcd: Etcd
  let client: EtcdClient
  let record: WatchRecord
  beforeAll(async () => void (etcd = await startEtcd({ members: 3 })), ETCD_HOOK_MS)
  afterAll(() => etcd?.stop())
  afterEach(() => client.close())

  test('writes and watches go on over the kill of the member that they use', async () => {
    client = clientOf(etcd)
    const { revision } = await client.range({ key: 'x', countOnly: true })
    record = recordWatch(client, { key: 'k/', end: prefixEnd('k/'), from: revision + 1 })
    await record.until((seen) => seen.connections > 0)
    const written = await write(client, 10)
    await etcd.members[0]!.kill()
    const later = await write(client, 10)
    await record.until((seen) => seen.revisions.at(-1)?.revision === later.at(-1))
    expect(record.connections).toBeGreaterThan(1)
    const seen = record.revisions.map((one) => one.revision)
    // Once each, in order; a write in doubt may be among them besides.
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b))
    expect(seen).toEqual(expect.arrayContaining([...written, ...later]))
    await etcd.members[0]!.restart()
  })

  test('a watch leaves a member that is frozen, and misses nothing', async () => {
    client = clientOf(etcd)
    const other = clientOf({ ...etcd, endpoints: etcd.endpoints.slice(1) })
    const { revision } = await client.range({ key: 'x', countOnly: true })
    record = recordWatch(client, { key: 'k/', end: prefixEnd('k/'), from: revision + 1 })
    await record.until((seen) => seen.connections > 0)
    await freeze(etcd.members[0]!)
    const written = await write(other, 5)
    await record.until((seen) => seen.revisions.length === written.length)
    etcd.members[0]!.resume()
    other.close()
    expect(record.revisions.map((one) => one.revision)).toEqual(written)
  })

  test('a write whose member freezes is in doubt, and a later one goes to another member', async () => {
    await serves(etcd.members[0]!)
    client = clientOf(etcd, 2_000)
    await client.range({ key: 'x' })
    await freeze(etcd.members[0]!)
    await expect(client.txn(always(put('d/1')))).rejects.toMatchObject({ kind: 'unavailable', inDoubt: true })
    const written = await write(client, 1)
    etcd.members[0]!.resume()
    expect(written).toHaveLength(1)
  })

  test('a watch of what was compacted while it was away is broken', async () => {
    client = clientOf(etcd)
    const written = await write(client, 3)
    await client.compact(written.at(-1)!)
    record = recordWatch(client, { key: 'k/', end: prefixEnd('k/'), from: written[0]! })
    await record.until((seen) => seen.broken !== undefined)
    expect(record.broken).toBe('compacted')
    expect(record.revisions).toEqual([])
  })

  test('without a majority nothing is read or written, and afterwards all of it continues', async () => {
    client = clientOf(etcd, 3_000)
    await etcd.members[0]!.kill()
    await etcd.members[1]!.kill()
    await expect(client.range({ key: 'x' })).rejects.toMatchObject({ kind: 'unavailable', inDoubt: false })
    await expect(client.txn(always(put('m/1')))).rejects.toMatchObject({ kind: 'unavailable' })
    await Promise.all([etcd.members[0]!.restart(), etcd.members[1]!.restart()])
    expect(await write(client, 1)).toHaveLength(1)
  })
})

/** Waits until a member that was away has a leader again: until then clients leave it. */
async function serves({ endpoint }: EtcdMember): Promise<void> {
  const own = clientOf({ endpoints: [endpoint] })
  await expect.poll(() => own.range({ key: 'x' }), { timeout: 60_000 }).toBeDefined()
  own.close()
}

/** Pauses a member, and waits until all of it has stopped: a signal takes a moment. */
async function freeze(member: EtcdMember): Promise<void> {
  member.pause()
  const tasks = `/proc/${member.pid}/task`
  if (!existsSync(tasks)) return
  const state = (task: string): string => readFileSync(join(tasks, task, 'stat'), 'utf8').split(') ')[1]![0]!
  await expect
    .poll(() => readdirSync(tasks).every((task) => state(task) === 'T'), { timeout: 60_000 })
    .toBe(true)
}

/** Writes so many keys, each in a revision of its own, again where a write fails; returns the revisions that were acknowledged. */
async function write(client: EtcdClient, count: number): Promise<number[]> {
  const revisions: number[] = []
  const deadline = Date.now() + 60_000
  while (revisions.length < count && Date.now() < deadline) {
    const written = await client.txn(always(put(`k/${revisions.length}`))).catch(() => undefined)
    if (written !== undefined) revisions.push(written.revision)
  }
  return revisions
}
