import { contained } from '../unexpected.ts'
import { type Loop, SlicedWork } from './sliced-work.ts'

/** The length of a step of a walk. */
const STEP_MS = 1

/** A piece of work in small steps. */
export interface Steps {
  /** Does a step; true: there is more. */
  step(): boolean
  /** A step has thrown, and the work is over. */
  failed(): void
}

/** Several pieces of work that share the slices of the loop. They take turns by steps: a small one waits for no large one. */
export class SharedSlices {
  readonly #waiting = new Set<Steps>()
  readonly #loop: Loop
  readonly #work: SlicedWork

  constructor(loop: Loop) {
    this.#loop = loop
    this.#work = new SlicedWork(loop, () => this.#step())
  }

  /** How many pieces are under way. */
  get size(): number {
    return this.#waiting.size
  }

  /** Adds a piece of work; its first step runs later. A piece that is there stays where it is. */
  add(steps: Steps): void {
    this.#waiting.add(steps)
    this.#work.start()
  }

  /** Calls `each` with each of these, in short steps. Resolves after the last one; rejects if one throws. */
  walk<T>(all: Iterable<T>, each: (one: T) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      const rest = all[Symbol.iterator]()
      const step = (): boolean => {
        const untilMs = this.#loop.now() + STEP_MS
        do {
          const next = rest.next()
          if (next.done === true) {
            resolve()
            return false
          }
          each(next.value)
        } while (this.#loop.now() < untilMs)
        return true
      }
      this.add({
        step: () => {
          try {
            return step()
          } catch (error) {
            reject(error as Error)
            return false
          }
        },
        failed: () => undefined,
      })
    })
  }

  #step(): boolean {
    const [first] = this.#waiting
    if (first === undefined) return false
    this.#waiting.delete(first)
    contained(
      'push',
      () => first.failed(),
      () => {
        if (first.step()) this.#waiting.add(first)
      },
    )
    return this.#waiting.size > 0
  }
}
