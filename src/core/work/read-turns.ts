import { Refusal } from '../refusal.ts'
import { FairQueue } from './fair-queue.ts'

/** How many reads may wait for their turn at a store. A read takes a few milliseconds. */
const MOST_WAITING = 500

/**
 * The queue of the reads of a store: of history and of the audit. `atOnce`: the reads that the store works on at the same
 * time. The others wait, and readers take turns (`FairQueue`). `firsts`: as there.
 */
export function readTurns(atOnce: number, firsts = 0): FairQueue {
  return new FairQueue({ atOnce, firsts, waiting: MOST_WAITING }, tooManyReads)
}

function tooManyReads(): Refusal {
  return new Refusal('too-many-reads', 'Too many reads of history, of the audit or of clients wait.', {
    allowed: `${MOST_WAITING} that wait`,
    retryAfterSeconds: 1,
  })
}
