import type { PlanNote } from '../../../move/plan.ts'
import { messageOf } from '../../command-line.ts'
import { missedNote } from '../notes.ts'
import { CallError } from './old-server.ts'

/** How many things are read at once. The pace limits the calls. */
const AT_ONCE = 8

/** What a call answers, or the line that says that it cannot come. Rejects where there is no server any longer. */
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
  const running: Promise<R>[] = []
  for (const entry of entries) {
    const result = work(entry)
    // An error is noticed when its turn comes; until then nobody waits for it.
    result.catch(() => undefined)
    running.push(result)
    if (running.length >= AT_ONCE) yield await running.shift()!
  }
  for (const result of running) yield await result
}

/** The line of a thing that is listed, and not there when it is asked for. */
export function listedOnly(about: string, name: string): PlanNote {
  const reason = 'the server lists it, but does not show it: it may be gone by now'
  return missedNote(about, name, reason)
}
