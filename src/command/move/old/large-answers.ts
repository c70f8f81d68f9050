import { AsyncLocalStorage } from 'node:async_hooks'

/** A larger answer is read only by the task with the next wanted result: several at once would fill the memory. */
export const LARGE_BYTES = 1_048_576

/** One of several tasks that run at once. Their results are taken in order. */
export class Turn {
  isNext = false
  readonly whenNext: Promise<void>
  #resolve: () => void = () => undefined

  constructor() {
    this.whenNext = new Promise((resolve) => (this.#resolve = resolve))
  }

  /** The results of all tasks before have been taken. */
  begin(): void {
    this.isNext = true
    this.#resolve()
  }

  /** Runs the task of this turn. */
  run<R>(task: () => Promise<R>): Promise<R> {
    return turns.run(this, task)
  }
}

const turns = new AsyncLocalStorage<Turn>()

/** The turn of the task that asks, while it must leave large answers. */
export function waitingTurn(): Turn | undefined {
  const turn = turns.getStore()
  return turn === undefined || turn.isNext ? undefined : turn
}

/** An answer is large, and the task's turn has not come. */
export class NotYetError extends Error {
  readonly turn: Turn

  constructor(turn: Turn) {
    super('the answer is large')
    this.turn = turn
  }
}
