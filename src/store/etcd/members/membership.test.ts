import { beforeEach, describe, expect, test } from 'vitest'
import { ELECTION, type MemberFacts } from '../../../core/cluster/members/member-records.ts'
import { VERSIONS } from '../../../core/cluster/members/versions.test-support.ts'
import type { Clock } from '@waypost/etcd-client/clock'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import type { Lease } from '@waypost/etcd-client/lease'
import type {
  KeyCondition,
  KeyValue,
  TxnOperation,
  TxnOperationResult,
  Txn,
  TxnResult,
} from '@waypost/etcd-client/messages'
import { memberOf } from '../keys/living-members.ts'
import { readRecord } from '../keys/read-values.ts'
import { Keys } from '../keys/keys.ts'
import { StoreInUse } from '../format/store-in-use.ts'
import { EtcdMembership } from './membership.ts'
import { toJson } from '../keys/values.ts'

const keys = new Keys('w/')
const FACTS: MemberFacts = {
  ip: '10.0.0.1',
  port: 1,
  peerPort: 2,
  site: 's',
  version: '1',
  process: 'p',
  auth: 'off',
  versions: VERSIONS,
}
const ID = '10.0.0.1:1'
const PLACE = keys.of({ of: 'member', id: ID })

/** The keys and leases of etcd, with a time of its own. */
class FakeStore {
  nowMs = 0
  isDown = false
  /** How long each call takes. */
  callMs = 0
  #underway: { atMs: number; arrive: () => void }[] = []
  /** The next change is made, and its answer is lost. */
  losesAnswer = false
  /** The first call after the next change fails. */
  failsAfterChange = false
  #failsNow = false
  readonly kvs = new Map<string, KeyValue>()
  readonly #leases = new Map<bigint, number>()
  #revision = 1

  get leases(): number {
    return this.#leases.size
  }

  async lease(seconds: number): Promise<Lease> {
    await this.#reach()
    const id = BigInt(this.#leases.size + this.#revision * 100)
    this.#leases.set(id, this.nowMs + seconds * 1_000)
    let certainMs = this.nowMs + seconds * 1_000 - 1_000
    return {
      id,
      certainUntilMs: () => certainMs,
      renew: async () => {
        const sentMs = this.nowMs
        await this.#reach()
        if (!this.#leases.has(id)) throw new EtcdError('no-lease', 'it has ended')
        this.#leases.set(id, this.nowMs + seconds * 1_000)
        certainMs = sentMs + seconds * 1_000 - 1_000
      },
      revoke: async () => {
        await this.#reach()
        this.end(id)
      },
    }
  }

  end(lease: bigint): void {
    this.#leases.delete(lease)
    for (const [key, kv] of this.kvs) if (kv.lease === lease) this.kvs.delete(key)
  }

  async txn({ compare, success, failure = [] }: Txn): Promise<TxnResult> {
    await this.#reach()
    if (this.#failsNow) {
      this.#failsNow = false
      throw new EtcdError('unavailable', 'no answer')
    }
    const succeeded = compare.every((comparison) => this.#holds(comparison))
    const operations = succeeded ? success : failure
    const isChange = operations.some(({ do: what }) => what === 'put')
    if (isChange) this.#revision++
    const results = operations.map((operation) => this.#carryOut(operation))
    if (isChange && this.failsAfterChange) {
      this.failsAfterChange = false
      this.#failsNow = true
    }
    if (isChange && this.losesAnswer) {
      this.losesAnswer = false
      throw new EtcdError('unavailable', 'no answer', { inDoubt: true })
    }
    return { revision: this.#revision, succeeded, results }
  }

  passTo(ms: number): void {
    this.nowMs = ms
    const arrived = this.#underway.filter(({ atMs }) => atMs <= ms)
    this.#underway = this.#underway.filter(({ atMs }) => atMs > ms)
    for (const { arrive } of arrived) arrive()
    for (const [id, untilMs] of this.#leases) if (untilMs < ms) this.end(id)
  }

  #range({ key, end }: { key: string; end?: string }): KeyValue[] {
    return [...this.kvs.values()].filter((kv) =>
      end === undefined ? kv.key === key : kv.key >= key && kv.key < end,
    )
  }

  #holds({ to, of, is, ...range }: KeyCondition): boolean {
    const found = this.#range(range)
    if (of === 'value') return found.some(({ value }) => Buffer.from(value).equals(to as Uint8Array))
    const revisions = found.length === 0 && range.end === undefined ? [0] : found.map((kv) => kv.modRevision)
    return revisions.every((revision) => (is === '<' ? revision < Number(to) : revision === to))
  }

  #carryOut(operation: TxnOperation): TxnOperationResult {
    if (operation.do === 'range') {
      const kvs = this.#range(operation)
      return { did: 'range', kvs, count: kvs.length, more: false }
    }
    if (operation.do !== 'put') throw new Error('not used here')
    const { key, value, lease = 0n } = operation
    if (lease !== 0n && !this.#leases.has(lease)) throw new EtcdError('no-lease', 'it has ended')
    const created = this.kvs.get(key)?.createRevision ?? this.#revision
    this.kvs.set(key, { key, value, lease, createRevision: created, modRevision: this.#revision, version: 1 })
    return { did: 'put' }
  }

  #reach(): Promise<void> {
    if (this.isDown) return Promise.reject(new EtcdError('unavailable', 'etcd is down'))
    if (this.callMs === 0) return Promise.resolve()
    return new Promise((arrive) => this.#underway.push({ atMs: this.nowMs + this.callMs, arrive }))
  }
}

let etcd: FakeStore
let membership: EtcdMembership
let failures: unknown[]
let wake: (() => void) | undefined

beforeEach(() => {
  etcd = new FakeStore()
  failures = []
  const clock: Clock = {
    nowMs: () => etcd.nowMs,
    sleep: (_ms, cancellation) =>
      new Promise((resolve) => {
        wake = resolve
        cancellation?.onCancel(resolve)
      }),
  }
  const unused = (): Promise<never> => Promise.reject(new Error('not used'))
  const inUse = new StoreInUse({
    client: { txn: (txn) => etcd.txn(txn), range: unused, pages: unused as never },
    keys,
  })
  const failed = (error: unknown) => failures.push(error)
  membership = new EtcdMembership({ client: etcd, keys, inUse, clock, failed })
})

/** A second passes, with the member's work of each second. */
async function second(count = 1): Promise<void> {
  for (let passed = 0; passed < count; passed++) {
    etcd.passTo(etcd.nowMs + 1_000)
    wake?.()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const elected = () => {
  const kv = etcd.kvs.get(keys.of({ of: 'elected' }))
  return kv && readRecord(ELECTION.name, '', kv.value).value
}

describe('a member', () => {
  test('renews its lease each second', async () => {
    await membership.join(FACTS)
    expect(membership.leaseUntilMs()).toBe(9_000)
    await second(20)
    expect(membership.leaseUntilMs()).toBe(29_000)
    expect(etcd.kvs.has(PLACE)).toBe(true)
    expect(elected()).toEqual({ member: ID, term: 1 })
  })

  test('is certain for as long as its last renewal says while etcd is away, and joins again when its lease has ended', async () => {
    await membership.join(FACTS)
    await second(2)
    etcd.isDown = true
    await second(30)
    expect(membership.leaseUntilMs()).toBe(11_000)
    expect(etcd.kvs.has(PLACE)).toBe(false)
    etcd.isDown = false
    await second()
    expect(membership.leaseUntilMs()).toBe(42_000)
    expect(etcd.kvs.has(PLACE)).toBe(true)
    expect(elected()).toEqual({ member: ID, term: 2 })
    expect(failures).toEqual([])
  })

  test('continues with its lease if etcd was away for a short time', async () => {
    await membership.join(FACTS)
    etcd.isDown = true
    await second(8)
    etcd.isDown = false
    await second()
    expect(membership.leaseUntilMs()).toBe(18_000)
    expect(elected()).toEqual({ member: ID, term: 1 })
  })

  test('stays certain with an etcd that takes two seconds for each call', async () => {
    await membership.join(FACTS)
    etcd.callMs = 2_000
    for (let passed = 0; passed < 60; passed++) {
      await second()
      expect(membership.leaseUntilMs() - etcd.nowMs).toBeGreaterThanOrEqual(4_000)
    }
    expect(elected()).toEqual({ member: ID, term: 1 })
  })

  test('forgets a lease that lives only when its key is gone: the others do not count it then', async () => {
    await membership.join(FACTS)
    await second(2)
    for (const change of ['renewed', 'away', 'away', 'renewed', 'away']) {
      etcd.isDown = change === 'away'
      const untilMs = membership.leaseUntilMs()
      await second()
      expect(membership.leaseUntilMs()).toBe(change === 'away' ? untilMs : etcd.nowMs + 9_000)
    }
    etcd.isDown = false
    etcd.kvs.delete(PLACE)
    etcd.losesAnswer = true
    await second()
    expect(membership.leaseUntilMs()).toBe(0)
    await second()
    expect(membership.leaseUntilMs()).toBe(etcd.nowMs + 9_000)
  })

  test('takes another lease if the answer to its joining was lost', async () => {
    etcd.losesAnswer = true
    await expect(membership.join(FACTS)).rejects.toMatchObject({ code: 'store-unavailable' })
    await new Promise((resolve) => setImmediate(resolve))
    expect(etcd.kvs.has(PLACE)).toBe(false)
    await membership.join(FACTS)
    expect(membership.leaseUntilMs()).toBe(9_000)
    expect(etcd.leases).toBe(1)
  })

  test('that cannot look at the election when it has joined is a member, and is a candidate later', async () => {
    etcd.failsAfterChange = true
    await membership.join(FACTS)
    expect([membership.leaseUntilMs(), etcd.kvs.has(PLACE), elected()]).toEqual([9_000, true, undefined])
    await second(20)
    expect(etcd.leases).toBe(1)
    expect(membership.leaseUntilMs()).toBe(29_000)
    expect(elected()).toEqual({ member: ID, term: 1 })
  })

  test('joins again if its key was deleted', async () => {
    await membership.join(FACTS)
    etcd.kvs.delete(PLACE)
    await second()
    expect(etcd.kvs.has(PLACE)).toBe(true)
    expect(failures).toEqual([])
  })

  test.each([PLACE, keys.of({ of: 'elected' })])(
    'writes %s again that another hand has damaged, on its lease or on none',
    async (key) => {
      await membership.join(FACTS)
      const sound = etcd.kvs.get(key)!
      const values = [
        'x',
        '{"number":1,"process":"x","stamp":1}',
        '{"value":{"member":"nobody:1","term":9},"stamp":0}',
      ]
      for (const lease of [sound.lease, 0n])
        for (const value of values) {
          etcd.kvs.set(key, { ...sound, value: Buffer.from(value), lease })
          await second(2)
          expect([value, memberOf(etcd.kvs.get(PLACE)!)?.process]).toEqual([value, FACTS.process])
          expect(elected()).toMatchObject({ member: ID })
          expect(etcd.kvs.get(key)!.lease).not.toBe(0n)
        }
      expect(failures).toEqual([])
    },
  )

  test('stops if another process is in its place, also while its lease is lost', async () => {
    await membership.join(FACTS)
    etcd.isDown = true
    await second(20)
    etcd.isDown = false
    const value = toJson({ value: { ...FACTS, process: 'other' }, stamp: 0 })
    const { id: lease } = await etcd.lease(60)
    await etcd.txn({ compare: [], success: [{ do: 'put', key: PLACE, value, lease }] })
    await second(3)
    expect(String(failures)).toMatch(/PlaceTaken/)
    expect(failures).toHaveLength(1)
    expect(membership.leaseUntilMs()).toBe(0)
  })

  test('stops if another process has written in its name, and is gone again', async () => {
    await membership.join(FACTS)
    const key = keys.of({ of: 'request', id: ID })
    const value = toJson({ number: 1, process: 'other', stamp: 0 })
    await etcd.txn({ compare: [], success: [{ do: 'put', key, value }] })
    await second()
    expect(String(failures)).toMatch(/PlaceTaken/)
  })

  test('stops if others judge callers otherwise when it joins again', async () => {
    await membership.join(FACTS)
    etcd.isDown = true
    await second(20)
    etcd.isDown = false
    const key = keys.of({ of: 'member', id: '10.0.0.2:1' })
    const value = toJson({ value: { ...FACTS, ip: '10.0.0.2', auth: 'on' }, stamp: 0 })
    const { id: lease } = await etcd.lease(60)
    await etcd.txn({ compare: [], success: [{ do: 'put', key, value, lease }] })
    await second()
    expect(String(failures)).toMatch(/10\.0\.0\.1:1 has auth=off, but server 10\.0\.0\.2:1.*auth=on/)
    expect(etcd.kvs.has(PLACE)).toBe(false)
  })

  test('stops if the data has a layout that it does not know when it joins again', async () => {
    await membership.join(FACTS)
    etcd.isDown = true
    await second(20)
    etcd.isDown = false
    const value = Buffer.from('5')
    await etcd.txn({ compare: [], success: [{ do: 'put', key: keys.of({ of: 'format' }), value }] })
    await second()
    expect(String(failures)).toMatch(/has the layout 5 .*knows layout 4\./)
    expect(etcd.kvs.has(PLACE)).toBe(false)
  })

  test('that leaves is no member at once, and does not come back', async () => {
    await membership.join(FACTS)
    await membership.leave()
    expect([...etcd.kvs.keys()]).toEqual([keys.of({ of: 'remembered', name: 'term' })])
    await second(3)
    expect(etcd.leases).toBe(0)
  })
})
