import { availableParallelism } from 'node:os'
import { setFlagsFromString } from 'node:v8'

/** The most cores for which one thread was measured to be better. */
const MOST_CORES = 2

/**
 * Lets one thread collect young objects on few cores. V8 has up to five threads for it on machines of any size, and there they mostly
 * wait for each other. V8 reads this flag at each collection. Call it before any worker starts. Decision 0085 has the figures.
 */
export function collectOnOneThread(cores = availableParallelism(), setFlag = setFlagsFromString): void {
  if (cores <= MOST_CORES) setFlag('--no-parallel-scavenge')
}
