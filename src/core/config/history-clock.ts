/**
 * The time that history ages by. It follows the wall clock, but moves on by at most twice the time that the
 * server has really run since it last moved (`ranMs`): a clock that jumps a year ahead must not age everything
 * by a year at once, and what it did wrong can be seen and put right long before anything is lost to it.
 */
export function nextHistoryClock(clockMs: number | undefined, wallMs: number, ranMs: number): number {
  return clockMs === undefined ? wallMs : Math.min(wallMs, clockMs + 2 * ranMs)
}
