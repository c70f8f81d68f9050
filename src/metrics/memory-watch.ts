import type { ClientMemory } from '../core/memory/client-memory.ts'
import type { MemoryAccount } from '../core/memory/memory-account.ts'
import type { MemoryBudget } from '../core/memory/memory-budget.ts'
import { MEMORY_KINDS, type MemoryKind } from '../core/memory/memory-kinds.ts'
import type { Metric } from './metric.ts'
import type { Lasting } from './readiness.ts'
import type { WatchLog } from './watch-log.ts'

/** The parts that the watch needs. */
export interface MemoryWatchOptions {
  readonly log: WatchLog
  readonly monotonicMs: () => number
}

/** The watched account and its limits. */
export interface WatchedMemory {
  readonly account: MemoryAccount
  readonly budget: MemoryBudget
  /** The memory of the things that clients watch. */
  readonly clients: ClientMemory
}

/** Watches the memory of the data. It logs once when more is refused soon, and once when there is room again. */
export class MemoryWatch {
  readonly #options: MemoryWatchOptions
  #watched: WatchedMemory | undefined
  #scarceSinceMs: number | undefined

  constructor(options: MemoryWatchOptions) {
    this.#options = options
  }

  /** Starts to watch. */
  observe(watched: WatchedMemory): void {
    this.#watched = watched
  }

  /** Call it each second. */
  tick(): void {
    const { log, monotonicMs } = this.#options
    const shortage = this.#watched?.budget.shortage()
    if (shortage !== undefined && this.#scarceSinceMs === undefined) {
      this.#scarceSinceMs = monotonicMs()
      log.warn({ shortage }, 'the memory for data is nearly used up: soon what grows is answered 507')
    }
    if (shortage !== undefined || this.#scarceSinceMs === undefined) return
    this.#scarceSinceMs = undefined
    log.info({}, 'there is memory for data again')
  }

  /** Why more is refused soon, and for how long that has been so (ms). */
  readonly scarce = (): Lasting | undefined => {
    const reason = this.#watched?.budget.shortage()
    if (reason === undefined) return undefined
    const { monotonicMs } = this.#options
    return { reason, forMs: Math.round(monotonicMs() - (this.#scarceSinceMs ?? monotonicMs())) }
  }

  metrics(): Metric[] {
    const kinds = Object.keys(MEMORY_KINDS) as MemoryKind[]
    return [
      {
        name: 'waypost_memory_bytes',
        help: 'Memory of the data by kind, on the heap of the process and outside of it, as the limits count it.',
        type: 'gauge',
        labels: ['kind', 'where'],
        read: () =>
          kinds.flatMap((kind) => {
            const { heap = 0, external = 0 } = this.#watched?.account.of(kind) ?? {}
            return [
              [{ kind, where: 'heap' }, heap],
              [{ kind, where: 'external' }, external],
            ] as const
          }),
      },
      {
        name: 'waypost_client_memory_bytes',
        help: 'Memory of the items, services and patterns that clients of this server watch, on the heap of the process.',
        type: 'gauge',
        read: () => this.#watched?.clients.bytes ?? 0,
      },
      {
        name: 'waypost_memory_limit_bytes',
        help: 'How much memory all data may take: on the heap, and in all.',
        type: 'gauge',
        labels: ['where'],
        read: () => {
          const { heapBytes = 0, memoryBytes = 0 } = this.#watched?.budget.limits ?? {}
          return [
            [{ where: 'heap' }, heapBytes],
            [{ where: 'all' }, memoryBytes],
          ]
        },
      },
    ]
  }
}
