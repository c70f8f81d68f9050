import { forgetDeleted, type GoneItem } from '../core/config/commands/forget-deleted.ts'
import { DELETED_CONFIG } from '../core/config/state/deleted-config.ts'
import type { Engine, KeptRecords } from '../core/engine/ports.ts'
import type { State } from '../core/engine/state.ts'
import { recordBytes } from '../core/memory/bytes-of-things.ts'
import { MEMBER } from '../core/cluster/members/member-records.ts'
import type { MemoryBudget } from '../core/memory/memory-budget.ts'
import { type MemoryLimits, NOTED_MEMORY } from '../core/records/memory-limits.ts'

/** The share of the heap for records of deleted items. */
const SHARE_OF_DELETED = 0.05
/** The account is noted when it has moved by this share of the heap, or this much, and otherwise once a minute. */
const NOTED_SHARE = 0.1
const NOTED_BYTES = 16 * 1024 * 1024
const NOTED_MS = 60_000
/** How many records of deleted items one command removes, and how many commands there are in a second. */
const MOST_FORGOTTEN = 200
const MOST_ROUNDS = 25

/** A member cannot say less than this: no setting is sensible below. */
const LEAST_BYTES = 1024 * 1024
/** Nor can it say that the data do not fit which it has loaded: sessions and records of the server may have made them larger. */
const SHARE_OF_DATA = 0.8

/** Dependencies of the care. */
export interface MemoryCareParts {
  readonly state: Pick<State, 'memory' | 'records'>
  readonly engine: Pick<Engine, 'execute' | 'mostAtOnce'>
  readonly store: Pick<KeptRecords, 'remember'>
  readonly budget: MemoryBudget
  readonly isElected: () => boolean
  readonly monotonicMs: () => number
  readonly log: { warn(facts: object, text: string): void }
}

/** The regular work for the memory of the data. */
export class MemoryCare {
  readonly #parts: MemoryCareParts
  readonly #own: MemoryLimits
  #doubted: ReadonlySet<string> = new Set()
  #noted: { heap: number; external: number; atMs: number } | undefined

  constructor(parts: MemoryCareParts) {
    this.#parts = parts
    this.#own = parts.budget.limits
  }

  /** Call it each second. */
  async tick(): Promise<void> {
    this.#limit()
    // Another server writes the note from now on.
    if (!this.#parts.isElected()) return void (this.#noted = undefined)
    await this.#forgetOldest()
    await this.#note()
  }

  /** The smallest limits of all servers count, but for limits that no server can have: one member must not stop all writes. */
  #limit(): void {
    const { budget, state, log } = this.#parts
    const { heap, external } = state.memory.total
    const taken: MemoryLimits = {
      heapBytes: heap,
      memoryBytes: heap + external,
      contentBytes: state.memory.ofPart('configurations').external,
    }
    const least = { ...this.#own }
    const doubted = new Set<string>()
    for (const [id, { memory }] of state.records(MEMBER))
      for (const field of FIELDS) {
        const limit = memory?.[field] ?? Infinity
        if (limit >= Math.max(LEAST_BYTES, SHARE_OF_DATA * taken[field]))
          least[field] = Math.min(least[field], limit)
        else if (limit < this.#own[field]) doubted.add(id)
      }
    for (const member of doubted)
      if (!this.#doubted.has(member))
        log.warn({ member }, 'a server says that it has less memory than the data take: that does not count')
    this.#doubted = doubted
    budget.limitTo(least)
  }

  async #forgetOldest(): Promise<void> {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const deleted = this.#oldestBeyondShare()
      if (deleted.length === 0) return
      await this.#parts.engine.execute(forgetDeleted(deleted))
    }
  }

  /** The oldest records of deleted items, in the order in which they were saved, if all records together take too much. */
  #oldestBeyondShare(): GoneItem[] {
    const { state, engine, budget } = this.#parts
    let surplus = state.memory.of('deleted configurations').heap - SHARE_OF_DELETED * budget.limits.heapBytes
    const most = Math.min(MOST_FORGOTTEN, engine.mostAtOnce)
    const deleted: GoneItem[] = []
    for (const [id, value] of state.records(DELETED_CONFIG)) {
      if (surplus <= 0 || deleted.length === most) return deleted
      deleted.push({ id, historyId: value.historyId })
      surplus -= recordBytes(DELETED_CONFIG.name, id, value).heap
    }
    return deleted
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
    await store.remember(NOTED_MEMORY, JSON.stringify({ heap, external }))
    this.#noted = { heap, external, atMs }
  }
}

const FIELDS = ['heapBytes', 'memoryBytes', 'contentBytes'] as const
