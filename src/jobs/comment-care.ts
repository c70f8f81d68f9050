import { setImmediate as nextTurn } from 'node:timers/promises'
import { forgetHistory } from '../core/config/commands/forget-history.ts'
import { CONFIG_COMMENT } from '../core/config/state/config-comment.ts'
import type { Engine } from '../core/engine/ports.ts'
import type { State } from '../core/engine/state.ts'
import { recordBytes } from '../core/memory/bytes-of-things.ts'
import type { MemoryBudget } from '../core/memory/memory-budget.ts'
import { inParts } from '../core/work/in-parts.ts'

/** The share of the heap for comments of history. Beyond it they are removed until they take a tenth less than this. */
const SHARE_OF_COMMENTS = 0.1
const SHARE_LEFT = 0.9 * SHARE_OF_COMMENTS
/** So many comments are looked at in one turn. */
const LOOKED_AT = 2_000

/** Dependencies of the care. */
export interface CommentCareParts {
  readonly state: Pick<State, 'memory' | 'records'>
  readonly engine: Pick<Engine, 'execute' | 'mostAtOnce'>
  readonly budget: MemoryBudget
}

/** The comments of an item, in the order in which they were saved. */
interface Commented {
  bytes: number
  readonly comments: { readonly id: string; readonly bytes: number }[]
}

/**
 * Bounds the comments of history, of which each change may leave one. The items with most comments lose their oldest: so nobody
 * removes the comments of others by many changes of an item.
 */
export class CommentCare {
  readonly #parts: CommentCareParts

  constructor(parts: CommentCareParts) {
    this.#parts = parts
  }

  /** Call it each second. */
  async tick(): Promise<void> {
    const { state, engine, budget } = this.#parts
    const { heapBytes } = budget.limits
    const taken = state.memory.of('comments').heap
    if (taken <= SHARE_OF_COMMENTS * heapBytes) return
    const items = await this.#byItem()
    const surplus = oldestBeyond(items, taken - SHARE_LEFT * heapBytes)
    for (const comments of inParts(surplus, engine.mostAtOnce))
      await engine.execute(forgetHistory({ deleted: [], comments }))
  }

  /** All comments that people wrote. Marks of imports stay: decisions need them. */
  async #byItem(): Promise<Commented[]> {
    const items = new Map<string, Commented>()
    let looked = 0
    for (const [id, value] of this.#parts.state.records(CONFIG_COMMENT)) {
      if (++looked % LOOKED_AT === 0) await nextTurn()
      const { item = '', importedId, importedUpTo } = value
      if (importedId !== undefined || importedUpTo !== undefined) continue
      const known = items.get(item) ?? { bytes: 0, comments: [] }
      items.set(item, known)
      const bytes = recordBytes(CONFIG_COMMENT.name, id, value).heap
      known.bytes += bytes
      known.comments.push({ id, bytes })
    }
    return [...items.values()]
  }
}

/** The oldest comments of the items with most, of as many bytes as `surplus`: afterwards these items have equally much. */
function oldestBeyond(items: readonly Commented[], surplus: number): string[] {
  const most = levelOf(
    items.map(({ bytes }) => bytes).toSorted((one, other) => other - one),
    surplus,
  )
  return items.flatMap(({ bytes, comments }) => {
    let left = bytes
    const kept = comments.findIndex((comment) => {
      if (left <= most) return true
      left -= comment.bytes
      return false
    })
    return comments.slice(0, kept === -1 ? comments.length : kept).map(({ id }) => id)
  })
}

/** The level to which the largest numbers must fall, so that all together fall by `surplus`. */
function levelOf(descending: readonly number[], surplus: number): number {
  let sum = 0
  for (const [index, bytes] of descending.entries()) {
    sum += bytes
    const level = (sum - surplus) / (index + 1)
    if (level >= (descending[index + 1] ?? 0)) return level
  }
  return 0
}
