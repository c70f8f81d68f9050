import { setImmediate as othersTurn } from 'node:timers/promises'

/** This many small steps take a few milliseconds. */
const STEPS_PER_TURN = 250

/** Iterates over a list, and lets the event loop do other work after every few steps. */
export async function* inTurns<T>(list: Iterable<T>): AsyncGenerator<T> {
  let steps = 0
  for (const one of list) {
    if (++steps % STEPS_PER_TURN === 0) await othersTurn()
    yield one
  }
}
