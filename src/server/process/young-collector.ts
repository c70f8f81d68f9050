import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'

/** The threads with which V8 collects young objects, on machines of any size: one, and four workers of Node.js. */
const COLLECTING_THREADS = 5

/**
 * Lets one thread collect young objects where there are fewer cores than V8 has threads for it: they would mostly wait for each
 * other. V8 reads this flag at each collection. Call it before any worker starts. Decision 0085 has the figures.
 */
export function collectOnOneThread(cores = availableParallelism(), setFlag = setFlagsFromString): void {
  if (cores < COLLECTING_THREADS) setFlag('--no-parallel-scavenge')
}
