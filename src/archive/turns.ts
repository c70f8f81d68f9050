import { setImmediate as othersTurn } from 'node:timers/promises'

// So many small steps take a few milliseconds.
const STEPS_OF_A_TURN = 250

/** Goes through a list, and lets the event loop serve others every so often. */
export async function* inTurns<T>(list: Iterable<T>): AsyncGenerator<T> {
  let steps = 0
  for (const one of list) {
    if (++steps % STEPS_OF_A_TURN === 0) await othersTurn()
    yield one
  }
}
