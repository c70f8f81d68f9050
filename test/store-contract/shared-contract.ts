import { describe, expect, test } from 'vitest'
import type { Change } from '../../src/core/decisions/changes.ts'
import { NAMESPACE } from '../../src/core/namespaces/namespace.ts'
import { SWITCH } from '../../src/core/switches/switch-records.ts'
import type { Unit } from '../../src/core/engine/ports.ts'
import type { Read } from '../../src/core/decisions/reads.ts'
import { recordRemoved, recordSaved } from '../../src/core/records/record-kind.ts'
import {
  deleted,
  instanceSaved,
  published,
  sampleInstance,
  sampleKey,
  sampleService,
  serviceSaved,
  stamps,
  START_MS,
} from './samples.ts'
import type { SharedContractStore, StoreBench } from './contract-store.ts'

const first = published(sampleKey('a'), { content: 'one' })
const service = sampleService('shop', 1)
const known = sampleInstance(80)
/** The state when the decisions are made. */
const THERE: readonly Change[] = [
  first,
  serviceSaved(service),
  instanceSaved(service, known, true),
  switchSaved('pushEnabled', false),
]

const item = (dataId: string, found: boolean): Read => ({ of: 'config', key: sampleKey(dataId), found })
const record = (id: string, found: boolean): Read => ({ of: 'record', recordKind: SWITCH.name, id, found })
const switches: Read = { of: 'records', recordKind: SWITCH.name }
const instances: Read = { of: 'instances', serviceKey: service.key, none: false }
const instance: Read = { of: 'instance', serviceKey: service.key, address: known.address, found: true }
const shop: Read = { of: 'service', key: service.key, found: true }
const cart = sampleService('cart', 2)
const instancesOfCart: Read = { of: 'instances', serviceKey: cart.key, none: true }

/** The read data, the change after it, and whether a decision on it is still written. */
const CASES: readonly [what: string, read: Read, later: () => Change, kind: 'held' | 'conflict'][] = [
  [
    'an item that is changed',
    item('a', true),
    () => published(sampleKey('a'), { content: '2', previous: first.item }),
    'conflict',
  ],
  ['an item that is deleted', item('a', true), () => deleted(first.item), 'conflict'],
  [
    'an item that is created',
    item('b', false),
    () => published(sampleKey('b'), { content: 'x' }),
    'conflict',
  ],
  [
    'an item, where another one is changed',
    item('a', true),
    () => published(sampleKey('b'), { content: 'x' }),
    'held',
  ],
  [
    'a record that is saved again',
    record('pushEnabled', true),
    () => switchSaved('pushEnabled', true),
    'conflict',
  ],
  ['a record that is removed', record('pushEnabled', true), () => switchRemoved('pushEnabled'), 'conflict'],
  ['a record that is created', record('checkTimes', false), () => switchSaved('checkTimes', 1), 'conflict'],
  ['all records of a kind, one of which is added', switches, () => switchSaved('checkTimes', 1), 'conflict'],
  [
    'all records of a kind, one of which is removed',
    switches,
    () => switchRemoved('pushEnabled'),
    'conflict',
  ],
  ['all records of a kind, where one of another is added', switches, () => namespaceSaved('dev'), 'held'],
  ['a service that is changed', shop, () => serviceSaved({ ...service, protectThreshold: 1 }), 'conflict'],
  ['an instance that is changed', instance, () => instanceSaved(service, known, false), 'conflict'],
  ['an instance that leaves', instance, instanceRemoved, 'conflict'],
  [
    'the instances of a service, one of which is added',
    instances,
    () => instanceSaved(service, sampleInstance(81), true),
    'conflict',
  ],
  ['the instances of a service, one of which leaves', instances, instanceRemoved, 'held'],
  [
    'that a service has no instance, and gets one',
    instancesOfCart,
    () => instanceSaved(cart, known, true),
    'conflict',
  ],
]

/** The promises of a store of several servers only: it writes a decision if the data that it has read is unchanged. */
export function sharedContract(bench: StoreBench<SharedContractStore>): void {
  const writes = () => [published(sampleKey('written'), { content: 'x' })]
  /** A store that has {@link THERE}, and the revision of that. */
  async function prepared() {
    const store = await (await bench.fresh()).follow()
    for (const change of THERE) await store.commit([unitOf([], change)], store.revision())
    return { ...store, decidedAt: store.revision() }
  }

  describe.each(CASES)('a decision that has read %s', (...[, read, later, kind]) => {
    test.each<[string, () => Change[]]>([
      ['writes', writes],
      ['confirms', () => []],
    ])(`${kind === 'held' ? '' : 'no longer '}%s`, async (_does, changes) => {
      const { commit, decidedAt, revision, seen } = await prepared()
      expect(await commit([{ reads: [read], changes: changes() }], decidedAt)).toEqual([{ kind: 'held' }])
      const before = revision()
      expect(await commit([unitOf([], later())], before)).toEqual([{ kind: 'held' }])
      const again = [published(sampleKey('again'), { content: 'x' })].slice(0, changes().length)
      expect(await commit([{ reads: [read], changes: again }], decidedAt)).toEqual([{ kind }])
      // The conflicting change is known then.
      expect(revision()).toBeGreaterThan(before)
      const isWritten = seen.some(
        (change) => change.kind === 'config-published' && change.item === again[0]?.item,
      )
      if (kind === 'conflict') expect(isWritten).toBe(false)
    })
  })

  test('what is changed without having been read must not have changed either', async () => {
    const { commit, decidedAt, revision } = await prepared()
    const next = published(sampleKey('a'), { content: 'two', previous: first.item })
    expect(await commit([unitOf([], next)], decidedAt)).toEqual([{ kind: 'held' }])
    const late = published(sampleKey('a'), { content: 'late', previous: first.item })
    expect(await commit([unitOf([], late)], decidedAt)).toEqual([{ kind: 'conflict' }])
    const third = published(sampleKey('a'), { content: 'three', previous: next.item })
    expect(await commit([unitOf([], third)], revision())).toEqual([{ kind: 'held' }])
  })

  test('a record of the history with an earlier id than that of its item is not written', async () => {
    const { commit, revision } = await prepared()
    const early = published(sampleKey('a'), { content: 'early', previous: first.item })
    const next = published(sampleKey('a'), { content: 'two', previous: first.item })
    expect(await commit([unitOf([], next)], revision())).toEqual([{ kind: 'held' }])
    expect(await commit([unitOf([], early)], revision())).toEqual([{ kind: 'conflict' }])
  })

  test('one unit that conflicts does not affect the others of its commit', async () => {
    const { commit, decidedAt } = await prepared()
    await commit([unitOf([], switchSaved('checkTimes', 1))], decidedAt)
    const units = ['x', 'y', 'z'].map((name) => unitOf([], published(sampleKey(name), { content: name })))
    units[1] = { ...units[1]!, reads: [record('checkTimes', false)] }
    const results = await commit(units, decidedAt)
    expect(results.map(({ kind }) => kind)).toEqual(['held', 'conflict', 'held'])
  })

  test('the follower has every change once, in the order of revisions, when its writer is answered', async () => {
    const store = await (await bench.fresh()).follow()
    const names = Array.from({ length: 20 }, (_, index) => `item-${index}`)
    for (const [index, name] of names.entries()) {
      await store.commit([unitOf([], published(sampleKey(name), { content: name }))], store.revision())
      expect(store.seen).toHaveLength(index + 1)
    }
    expect(store.seen.map((change) => change.kind === 'config-published' && change.item.key.dataId)).toEqual(
      names,
    )
    expect(store.revisions).toEqual([...new Set(store.revisions)].sort((a, b) => a - b))
  })
}

function unitOf(reads: readonly Read[], ...changes: readonly Change[]): Unit {
  return { reads, changes }
}

function switchSaved(id: string, value: unknown): Change {
  return recordSaved(SWITCH, { id, value: value as never, stamp: stamps.next(START_MS) })
}

function switchRemoved(id: string): Change {
  return recordRemoved(SWITCH, id, stamps.next(START_MS))
}

function namespaceSaved(id: string): Change {
  return recordSaved(NAMESPACE, { id, value: { id, showName: id, desc: '' }, stamp: stamps.next(START_MS) })
}

function instanceRemoved(): Change {
  const { address, serial } = known
  const stamp = stamps.next(START_MS)
  return { kind: 'instance-removed', serviceKey: service.key, address, serial, reason: 'deregistered', stamp }
}
