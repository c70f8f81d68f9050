/**
 * The time by which history ages. It follows the wall clock, but advances by at most twice the time that the server ran
 * since its last step (`ranMs`). So a wall clock that jumps a year ahead removes nothing before somebody can correct it.
 */
export function nextHistoryClock(clockMs: number | undefined, wallMs: number, ranMs: number): number {
  return clockMs === undefined ? wallMs : Math.min(wallMs, clockMs + 2 * ranMs)
}
