/** How far ahead of the clock here an imported time may be: clocks differ by less, mixed-up time zones by more. */
const MOST_AHEAD_MS = 86_400_000

/** Whether an imported time (epoch ms) is too far ahead: later changes would get it, and records never become old. */
export function isFarAhead(ms: number, wallMs: number): boolean {
  return ms > wallMs + MOST_AHEAD_MS
}
