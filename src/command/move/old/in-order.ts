import type { PlanNote } from '../../../move/plan.ts'
import { messageOf } from '../../command-line.ts'
import { missedNote } from '../notes.ts'
import { Turn } from './large-answers.ts'
import { CallError } from './call-error.ts'

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
