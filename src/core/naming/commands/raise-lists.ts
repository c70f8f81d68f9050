import { type Command, storing, synced, unchanged } from '../../decisions/decision.ts'
import { recordSaved } from '../../records/record-kind.ts'
import { Refusal } from '../../refusal.ts'
import { LISTS_AHEAD, listsAheadMs, OF_ALL_LISTS } from '../state/lists-ahead.ts'

/** The distance rises in steps of this: each call of an import measures a slightly different one. */
const STEP_MS = 1_000

/** The most that a clock may be ahead: a year. Lists would keep the time of a wrong clock for good. */
const MOST_MS = 366 * 86_400_000

/**
 * From now on, stamps lists later than another server, whose clock shows `clockMs` (epoch ms) now and which may still
 * run for a while. Refusal `invalid-parameter` if its clock is more than a year ahead.
 */
export function raiseLists(clockMs: number): Command<void> {
  return storing('lists', 0, (view, { wallMs, stamp }) => {
    const aheadMs = Math.ceil((clockMs - wallMs) / STEP_MS) * STEP_MS
    if (aheadMs <= listsAheadMs(view)) return unchanged(undefined)
    if (aheadMs > MOST_MS)
      throw new Refusal('invalid-parameter', 'The clock of the old server is more than a year ahead.', {
        parameter: 'lastRefMs',
      })
    return synced([recordSaved(LISTS_AHEAD, { id: OF_ALL_LISTS, value: aheadMs, stamp })], undefined)
  })
}
