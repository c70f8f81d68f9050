import type { PlanNote } from '../../plan/plan.ts'
import { messageOf } from '../../command/command-line.ts'
import { missedNote } from '../reading.ts'
import { CallError } from './fields.ts'
import { AsyncLocalStorage } from 'node:async_hooks'

/** A larger answer is read only by the task with the next wanted result: several at once would fill the memory. */
export const LARGE_BYTES = 1_048_576

/** One of several tasks that run at once. Their results are taken in order. */
class Turn {
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

/** How many things are read at once. The pace limits the calls. */
const AT_ONCE = 8

/** The answer to a call, or a note that it cannot come. Rejects if the server is gone. */
export async function orNote<T>(about: string, name: string, call: () => Promise<T>): Promise<T | PlanNote> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof CallError && error.status === 0) throw error
    return missedNote(about, name, messageOf(error))
  }
}

/** Does the work for some entries at once, and gives the results in the order of the entries. */
export async function* inOrder<T, R>(
  entries: Iterable<T>,
  work: (entry: T) => Promise<R>,
): AsyncGenerator<R> {
  const running: Running<R>[] = []
  for (const entry of entries) {
    const turn = new Turn()
    const result = turn.run(() => work(entry))
    // An error is noticed at its turn; nobody waits for it before.
    result.catch(() => undefined)
    running.push({ turn, result })
    if (running.length >= AT_ONCE) yield await next(running)
  }
  while (running.length > 0) yield await next(running)
}

interface Running<R> {
  readonly turn: Turn
  readonly result: Promise<R>
}

function next<R>(running: Running<R>[]): Promise<R> {
  const { turn, result } = running.shift()!
  turn.begin()
  return result
}

/** The note for a thing that is listed, and missing when it is read. */
export function listedOnly(about: string, name: string): PlanNote {
  const reason = 'the server lists it, but does not show it: it may be gone by now'
  return missedNote(about, name, reason)
}
