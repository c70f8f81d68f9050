import { forgetHistory, type GoneItem } from '../core/config/commands/forget-history.ts'
import { DELETED_CONFIG } from '../core/config/state/config-comment.ts'
import type { Engine, KeptRecords } from '../core/engine/ports.ts'
import type { State } from '../core/engine/state.ts'
import { MEMBER } from '../core/cluster/members/member-records.ts'
import type { MemoryBudget } from '../core/memory/memory-budget.ts'
import { type MemoryLimits, NOTED_MEMORY } from '../core/records/memory-limits.ts'

/** The share of the heap for records of deleted items. */
const SHARE_OF_DELETED = 0.05
/** The account is noted when it has moved by this share of the heap, or this much, and otherwise once a minute. */
const NOTED_SHARE = 0.1
const NOTED_BYTES = 16 * 1024 * 1024
const NOTED_MS = 60_000
/** How many records of deleted items a round removes. */
const MOST_FORGOTTEN = 200

/** Dependencies of the care. */
export interface MemoryCareParts {
  readonly state: Pick<State, 'memory' | 'records'>
  readonly engine: Pick<Engine, 'execute' | 'mostAtOnce'>
  readonly store: Pick<KeptRecords, 'remember'>
  readonly budget: MemoryBudget
  readonly isElected: () => boolean
  readonly monotonicMs: () => number
}

/** The regular work for the memory of the data. */
export class MemoryCare {
  readonly #parts: MemoryCareParts
  readonly #own: MemoryLimits
  #noted: { heap: number; external: number; atMs: number } | undefined

  constructor(parts: MemoryCareParts) {
    this.#parts = parts
    this.#own = parts.budget.limits
  }

  /** Call it each second. */
  async tick(): Promise<void> {
    const { budget, state, isElected } = this.#parts
    budget.limitTo(smallestOf([this.#own, ...membersOf(state)]))
    if (!isElected()) return
    await this.#forgetOldest()
    await this.#note()
  }

  /** The oldest records of deleted items go first: in the order in which they were saved. */
  async #forgetOldest(): Promise<void> {
    const { state, engine, budget } = this.#parts
    const most = SHARE_OF_DELETED * budget.limits.heapBytes
    const surplus = state.memory.of('deleted configurations').heap - most
    if (surplus <= 0) return
    const each = state.memory.of('deleted configurations').heap / count(state.records(DELETED_CONFIG))
    const deleted: GoneItem[] = []
    const wanted = Math.min(MOST_FORGOTTEN, engine.mostAtOnce, Math.ceil(surplus / each))
    for (const [id, { historyId }] of state.records(DELETED_CONFIG)) {
      if (deleted.length === wanted) break
      deleted.push({ id, historyId })
    }
    await engine.execute(forgetHistory({ deleted, comments: [] }))
  }

  /** Writes how much memory a server needs to load the data. */
  async #note(): Promise<void> {
    const { state, store, budget, monotonicMs } = this.#parts
    const { heap, external } = state.memory.total
    const atMs = monotonicMs()
    const noted = this.#noted
    if (noted !== undefined) {
      const moved = Math.abs(heap - noted.heap) + Math.abs(external - noted.external)
      const isMuch = moved >= Math.min(NOTED_SHARE * budget.limits.heapBytes, NOTED_BYTES)
      if (moved === 0 || (!isMuch && atMs < noted.atMs + NOTED_MS)) return
    }
    this.#noted = { heap, external, atMs }
    await store.remember(NOTED_MEMORY, JSON.stringify({ heap, external }))
  }
}

function membersOf(state: Pick<State, 'records'>): MemoryLimits[] {
  return Array.from(state.records(MEMBER), ([, { memory }]) => memory).filter((one) => one !== undefined)
}

function smallestOf(limits: readonly MemoryLimits[]): MemoryLimits {
  const least = (field: keyof MemoryLimits): number =>
    limits.reduce((first, one) => Math.min(first, one[field]), Infinity)
  return {
    heapBytes: least('heapBytes'),
    memoryBytes: least('memoryBytes'),
    contentBytes: least('contentBytes'),
  }
}

function count(all: Iterable<unknown>): number {
  let size = 0
  for (const _one of all) size++
  return size
}
