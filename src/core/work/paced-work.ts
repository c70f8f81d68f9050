import { contained, guarded, nothing } from '../unexpected.ts'
import type { Loop } from './sliced-work.ts'

/** A piece of work that waits for its turn. */
interface Waiting {
  readonly size: number
  readonly run: () => void
}

/**
 * Work of known sizes. A turn of the loop does a bounded amount, or one larger piece. Further pieces wait for
 * the next turns, in their order.
 */
export class PacedWork {
  readonly #loop: Pick<Loop, 'soon'>
  readonly #most: number
  readonly #waiting = new Set<Waiting>()
  /** Work done in this turn. */
  #done = 0

  constructor(loop: Pick<Loop, 'soon'>, most: number) {
    this.#loop = loop
    this.#most = most
  }

  /** How many pieces wait. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Does a piece of work: at once if this turn has room and no piece waits. Later pieces are contained. */
  run(counted: number, run: () => void): void {
    const size = Math.max(counted, 1)
    if (this.#waiting.size > 0 || !this.#hasRoom(size)) return void this.#waiting.add({ size, run })
    this.#count(size)
    run()
  }

  #hasRoom(size: number): boolean {
    return this.#done === 0 || this.#done + size <= this.#most
  }

  /** The first piece of a turn asks for the next one. */
  #count(size: number): void {
    const isFirst = this.#done === 0
    this.#done += size
    if (isFirst) this.#loop.soon(guarded('job', nothing, () => this.#turn()))
  }

  #turn(): void {
    this.#done = 0
    for (const one of this.#waiting) {
      if (!this.#hasRoom(one.size)) return
      this.#waiting.delete(one)
      this.#count(one.size)
      contained('job', nothing, one.run)
    }
  }
}
