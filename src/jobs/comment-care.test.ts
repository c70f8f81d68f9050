import { beforeEach, expect, test } from 'vitest'
import { CONFIG_COMMENT, importMarked } from '../core/config/state/config-comment.ts'
import { publishConfig } from '../core/config/commands/publish-config.ts'
import { configKey } from '../core/config/state/config-item.ts'
import { at, carryOut, publishing, restartClock } from '../core/core.test-support.ts'
import type { Command } from '../core/decisions/decision.ts'
import { State } from '../core/engine/state.ts'
import { MemoryBudget, NO_MEMORY_LIMITS } from '../core/memory/memory-budget.ts'
import { CommentCare } from './comment-care.ts'

const HEAP_BYTES = 1_000_000
let state: State
let care: CommentCare

beforeEach(() => {
  restartClock()
  state = new State(0)
  const budget = new MemoryBudget(state.memory, { ...NO_MEMORY_LIMITS, heapBytes: HEAP_BYTES })
  const execute = <T>(command: Command<T>) => carryOut(state, command, at(0))
  care = new CommentCare({ state, engine: { execute, mostAtOnce: 20 }, budget })
})

let content = 0
/** Changes an item as often, with a comment each time. */
function change(dataId: string, times: number): void {
  for (let each = 0; each < times; each++) {
    const comment = `${dataId} ${each}`.padEnd(500, 'c')
    const key = configKey('public', 'G', dataId)
    carryOut(state, publishConfig(publishing(`${content++}`, { key, comment })), at(0))
  }
}

function left(): Record<string, string[]> {
  const comments = Array.from(state.records(CONFIG_COMMENT), ([, { comment }]) => comment.trimEnd())
  const names = comments.map((comment) => comment.replace(/c+$/, '').split(' '))
  return Object.fromEntries(
    ['a', 'b', 'few'].map((item) => [item, names.flatMap(([of, each]) => (of === item ? [each!] : []))]),
  )
}

test('comments that take less than a tenth of the heap stay', async () => {
  change('a', 100)
  await care.tick()
  expect(left()['a']).toHaveLength(100)
})

test('items with most comments lose their oldest, and others keep theirs', async () => {
  change('few', 10)
  change('a', 300)
  change('b', 100)
  await care.tick()
  const { heap } = state.memory.of('comments')
  expect(heap).toBeLessThanOrEqual(0.09 * HEAP_BYTES)
  expect(heap).toBeGreaterThan(0.08 * HEAP_BYTES)
  const { a, b, few } = left()
  expect(few).toHaveLength(10)
  expect(Math.abs(a!.length - b!.length)).toBeLessThanOrEqual(1)
  expect([a!.at(-1), b!.at(-1)]).toEqual(['299', '99'])
})

test('marks of imports stay', async () => {
  const mark = importMarked({ importedId: 'x'.repeat(200_000) }, { historyId: 7, stamp: 7 })
  state.apply([mark], at(0))
  change('a', 10)
  await care.tick()
  expect([...state.records(CONFIG_COMMENT)].map(([id]) => id)).toEqual(['7'])
})
