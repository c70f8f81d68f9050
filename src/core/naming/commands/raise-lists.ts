import { type Command, synced, unchanged } from '../../decisions/decision.ts'
import { recordSaved } from '../../records/record-kind.ts'
import { Refusal } from '../../refusal.ts'
import { LISTS_AHEAD, listsAheadMs, OF_ALL_LISTS } from '../state/lists-ahead.ts'

/** Steps in which the distance rises: each call of an import measures a little another one. */
const STEP_MS = 1_000

/** The most that a clock may be ahead: a year. One that is further ahead is wrong, and lists would have its time for good. */
const MOST_MS = 366 * 86_400_000

/**
 * Stamps lists above what another server has stamped, whose clock shows `clockMs` (epoch ms) now. It holds from now on, because that
 * server may still run for a while. Refusal `invalid-parameter` where its clock is more than a year ahead.
 */
export function raiseLists(clockMs: number): Command<void> {
  return {
    subject: 'lists',
    growsBy: 0,
    decide(view, { wallMs, stamp }) {
      const aheadMs = Math.ceil((clockMs - wallMs) / STEP_MS) * STEP_MS
      if (aheadMs <= listsAheadMs(view)) return unchanged(undefined)
      if (aheadMs > MOST_MS)
        throw new Refusal('invalid-parameter', 'The clock of the old server is more than a year ahead.', {
          parameter: 'lastRefMs',
        })
      return synced([recordSaved(LISTS_AHEAD, { id: OF_ALL_LISTS, value: aheadMs, stamp })], undefined)
    },
  }
}
