import { setImmediate as othersTurn } from 'node:timers/promises'

/** How many come before other work gets a turn: a few milliseconds. */
const PER_TURN = 500

/** Each of very many, with turns for other work. */
export async function* inTurns<T>(all: Iterable<T>): AsyncGenerator<T> {
  let count = 0
  for (const one of all) {
    yield one
    if (++count % PER_TURN === 0) await othersTurn()
  }
}
