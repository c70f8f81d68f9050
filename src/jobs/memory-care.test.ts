import { beforeEach, expect, test } from 'vitest'
import { DELETED_CONFIG } from '../core/config/state/deleted-config.ts'
import { deleteConfig, publishConfig } from '../core/config/commands/publish-config.ts'
import { configKey } from '../core/config/state/config-item.ts'
import { MEMBER, type MemberFacts } from '../core/cluster/members/member-records.ts'
import { at, carryOut, publishing, restartClock } from '../core/core.test-support.ts'
import type { Command } from '../core/decisions/decision.ts'
import { State } from '../core/engine/state.ts'
import { MemoryBudget, NO_MEMORY_LIMITS } from '../core/memory/memory-budget.ts'
import { recordRemoved, recordSaved } from '../core/records/record-kind.ts'
import type { MemoryLimits } from '../core/records/memory-limits.ts'
import { MemoryCare } from './memory-care.ts'

const BY = { ip: '10.0.0.1', user: 'ann' }
const SECOND_MS = 1_000
const MIB = 1024 * 1024
let state: State
let nowMs: number
let noted: string[]
let isElected: boolean
let isAway: boolean
let warned: object[]

beforeEach(() => {
  restartClock()
  state = new State(0)
  nowMs = 0
  noted = []
  warned = []
  isElected = true
  isAway = false
})

function careWith(limits: Partial<MemoryLimits>) {
  const budget = new MemoryBudget(state.memory, { ...NO_MEMORY_LIMITS, ...limits })
  const execute = <T>(command: Command<T>) => carryOut(state, command, at(nowMs))
  const remember = async (_name: string, value: string) => {
    if (isAway) throw new Error('the store is away')
    noted.push(value)
  }
  const care = new MemoryCare({
    state,
    engine: { execute, mostAtOnce: 20 },
    store: { remember },
    budget,
    isElected: () => isElected,
    monotonicMs: () => nowMs,
    log: { warn: (facts) => void warned.push(facts) },
  })
  return { budget, care }
}

/** Publishes an item, and deletes it: the record of the deletion keeps its description. */
function goes(dataId: string, desc = 'd'.repeat(1_000)): void {
  const key = configKey('public', 'G', dataId)
  carryOut(state, publishConfig(publishing('x', { key, notes: { desc } })), at(nowMs))
  carryOut(state, deleteConfig(key, BY, { comment: 'gone' }), at(nowMs))
}

const deleted = () => Array.from(state.records(DELETED_CONFIG), ([, { key }]) => key.dataId)

test('records of deleted items take a twentieth of the heap: the oldest go first', async () => {
  const { care } = careWith({ heapBytes: 1_000_000 })
  for (let index = 0; index < 30; index++) goes(`a${index}`)
  await care.tick()
  expect(deleted()).toHaveLength(30)
  for (let index = 0; index < 100; index++) goes(`b${index}`)
  // Deleted once more: it is among the newest.
  goes('a0')
  await care.tick()
  expect(state.memory.of('deleted configurations').heap).toBeLessThanOrEqual(50_000)
  expect(state.memory.of('deleted configurations').heap).toBeGreaterThan(47_000)
  expect(deleted().slice(-2)).toEqual(['b99', 'a0'])
  expect(deleted()[0]).toMatch(/^b/)
})

test('only the elected server removes them, and writes how much memory the data take', async () => {
  const { care } = careWith({ heapBytes: 1_000 })
  isElected = false
  goes('a')
  await care.tick()
  expect([deleted(), noted]).toEqual([['a'], []])
  isElected = true
  await care.tick()
  expect(deleted()).toEqual([])
  expect(noted).toEqual([JSON.stringify(state.memory.total)])
})

test('the memory is written when it has moved by a tenth of the heap, and otherwise once a minute', async () => {
  const { care } = careWith({ heapBytes: 1_000_000 })
  const publish = (dataId: string, letters: number) =>
    carryOut(
      state,
      publishConfig(
        publishing('x', { key: configKey('public', 'G', dataId), notes: { schema: 's'.repeat(letters) } }),
      ),
      at(nowMs),
    )
  await care.tick()
  publish('a', 50_000)
  await care.tick()
  expect(noted).toHaveLength(1)
  publish('b', 60_000)
  await care.tick()
  expect(noted).toHaveLength(2)
  publish('c', 10)
  nowMs += 59 * SECOND_MS
  await care.tick()
  expect(noted).toHaveLength(2)
  nowMs += 2 * SECOND_MS
  await care.tick()
  expect(noted).toHaveLength(3)
  nowMs += 120 * SECOND_MS
  await care.tick()
  expect(noted).toHaveLength(3)
})

test('the memory is written again after a failure, and when another server may have written it', async () => {
  const { care } = careWith({})
  isAway = true
  await expect(care.tick()).rejects.toThrow('away')
  isAway = false
  await care.tick()
  isElected = false
  await care.tick()
  isElected = true
  await care.tick()
  expect(noted).toHaveLength(2)
})

/** Its limits: of the heap, of the memory, of all contents; one number for all. */
function member(id: string, [heapBytes, memoryBytes = heapBytes, contentBytes = heapBytes]: Limits) {
  const memory = { heapBytes, memoryBytes, contentBytes }
  return recordSaved(MEMBER, { id, value: { memory } as MemberFacts, stamp: 1 })
}

type Limits = readonly [number, number?, number?]

test('of several servers the smallest limits count, until that server leaves', async () => {
  const own = { heapBytes: 10 * MIB, memoryBytes: 50 * MIB, contentBytes: 30 * MIB }
  const { care, budget } = careWith(own)
  state.apply([member('a', [20 * MIB, 40 * MIB, 90 * MIB]), member('b', [9 * MIB, 90 * MIB])], at(0))
  await care.tick()
  expect(budget.limits).toEqual({ heapBytes: 9 * MIB, memoryBytes: 40 * MIB, contentBytes: 9 * MIB })
  state.apply([recordRemoved(MEMBER, 'b', 2)], at(1))
  await care.tick()
  expect(budget.limits).toEqual({ ...own, memoryBytes: 40 * MIB })
  expect(warned).toEqual([])
})

test.each([0, 1, MIB - 1, 2 * MIB])(
  'a server that says %s bytes, less than it can have or than the data take, limits nobody and is named once',
  async (bytes) => {
    const own = { heapBytes: 100 * MIB, memoryBytes: 100 * MIB, contentBytes: 100 * MIB }
    const { care, budget } = careWith(own)
    const key = configKey('public', 'G', 'large')
    const content = 'x'.repeat(3 * MIB)
    const notes = { schema: content }
    carryOut(state, publishConfig(publishing(content, { key, notes })), at(nowMs))
    state.apply([member('liar', [bytes]), member('honest', [8 * MIB])], at(0))
    for (let ticks = 0; ticks < 3; ticks++) await care.tick()
    expect(budget.limits).toEqual({ heapBytes: 8 * MIB, memoryBytes: 8 * MIB, contentBytes: 8 * MIB })
    expect(warned).toEqual([{ member: 'liar' }])
    state.apply([recordRemoved(MEMBER, 'liar', 2)], at(1))
    await care.tick()
    state.apply([member('liar', [bytes])], at(2))
    await care.tick()
    expect(warned).toHaveLength(2)
  },
)
