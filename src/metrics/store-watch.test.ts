import { expect, test } from 'vitest'
import { NAMESPACE } from '../core/namespaces/namespace.ts'
import type { CommitResult, UnitResult } from '../core/engine/ports.ts'
import { recordSaved } from '../core/records/record-kind.ts'
import { Refusal } from '../core/refusal.ts'
import { Readiness } from './readiness.ts'
import { StoreWatch } from './store-watch.ts'

const NAMED = { id: 'a', showName: 'a', desc: '' }

/** A watch on a store that fails while `store.failing` is set. */
function watchedStore() {
  const store = { failing: false, tries: 0 }
  const lines: [level: string, facts: object, text: string][] = []
  const clock = { ms: 0 }
  const write = async (): Promise<CommitResult> => {
    if (store.failing) throw new Refusal('store-unavailable', 'the disk is full')
    return { kind: 'committed', revision: 1 }
  }
  const remember = async (): Promise<void> => {
    store.tries++
    await write()
  }
  const log = (level: string) => (facts: object, text: string) => void lines.push([level, facts, text])
  const monotonicMs = () => clock.ms
  const outages = new StoreWatch({
    store: { remember },
    log: { info: log('info'), warn: log('warn'), error: log('error') },
    monotonicMs,
  })
  const watch = Object.assign(
    outages,
    outages.sole({ commit: write, mayHave: () => true, surelyHas: () => true }),
  )
  const nothing = () => undefined
  const outage = () => watch.outage()
  const readiness = new Readiness({ full: nothing, scarce: nothing, outage, monotonicMs })
  return { store, lines, clock, watch, readiness }
}

test('an outage is logged once when it begins and once, with counts, when it ends', async () => {
  const { store, lines, clock, watch } = watchedStore()
  store.failing = true
  for (let round = 0; round < 50; round++)
    await expect(watch.commit([[], []])).rejects.toThrow('disk is full')
  expect(lines.map(([level]) => level)).toEqual(['error'])
  store.failing = false
  clock.ms = 7_000
  await watch.commit([[]])
  expect(lines.slice(1)).toEqual([
    ['info', { outageMs: 7_000, failedCommits: 50, failedChanges: 100 }, 'the store writes again'],
  ])
})

test('the watch tries to write every 5 s during an outage, and a success makes the server ready', async () => {
  const { store, clock, watch, readiness } = watchedStore()
  expect(readiness.problems()).toEqual([])
  store.failing = true
  await expect(watch.commit([[]])).rejects.toThrow('disk is full')
  expect(readiness.problems()).toEqual([{ code: 'store-unavailable', detail: 'the disk is full', forMs: 0 }])
  for (clock.ms = 1_000; clock.ms <= 12_000; clock.ms += 1_000) await watch.tick()
  expect(store.tries).toBe(2)
  store.failing = false
  clock.ms = 15_000
  await watch.tick()
  expect(readiness.problems()).toEqual([])
})

test('only an error of the whole store starts an outage', async () => {
  const { store, lines, watch } = watchedStore()
  expect(watch.noteFailure(new Error('something else'))).toBe(false)
  expect(watch.noteFailure(new Refusal('config-changed', 'no'))).toBe(false)
  expect(lines).toEqual([])
  store.failing = true
  expect(watch.noteFailure(new Refusal('store-unavailable', 'the disk is full'))).toBe(true)
  expect(watch.outage()?.reason).toBe('the disk is full')
})

test.each(['refused', 'unwritten'] as const)(
  'a shared store whose units are %s has an outage, until it writes: to confirm is not enough',
  async (kind) => {
    const { watch } = watchedStore()
    const limits: (number | undefined)[] = []
    let result: UnitResult = { kind, error: new Refusal('store-unavailable', 'no etcd') }
    const { commit } = watch.shared({
      mostChanges: 1,
      commit: (units, _decidedAt, withinMs) => {
        limits.push(withinMs)
        return Promise.resolve(units.map(() => result))
      },
    })
    const writing = { reads: [], changes: [recordSaved(NAMESPACE, { id: 'a', value: NAMED, stamp: 1 })] }
    await commit([writing], 7, 1_234)
    expect(watch.outage()?.reason).toBe('no etcd')
    result = { kind: 'held' }
    await commit([{ reads: [], changes: [] }], 7)
    expect(watch.outage()).toBeDefined()
    await commit([writing], 7)
    expect(watch.outage()).toBeUndefined()
    result = { kind: 'conflict' }
    await commit([writing], 7)
    expect(watch.outage()).toBeUndefined()
    expect(limits).toEqual([1_234, undefined, undefined, undefined])
  },
)

test('a server that stops is not ready', () => {
  const { readiness, clock } = watchedStore()
  readiness.stopping()
  clock.ms = 20
  expect(readiness.problems()).toMatchObject([{ code: 'stopping', forMs: 20 }])
})

test('an outage of a full store has its room measured at once, and only then', () => {
  let looks = 0
  const watch = new StoreWatch({
    store: { remember: async () => {} },
    log: { info: () => {}, warn: () => {}, error: () => {} },
    monotonicMs: () => 0,
    isFull: () => void looks++,
  })
  expect(watch.noteFailure(new Refusal('store-full', 'its alarm'))).toBe(true)
  expect(watch.noteFailure(new Refusal('store-full', 'its alarm'))).toBe(true)
  expect([looks, watch.outage()?.reason]).toEqual([1, 'its alarm'])
})
