/** How far ahead of the clock here an imported time may be: clocks differ by less, and zones that were mixed up by little more. */
const MOST_AHEAD_MS = 86_400_000

/** Whether a time (epoch ms) from elsewhere is too far ahead. Later changes here would get it too, and a record would never be too old. */
export function isFarAhead(ms: number, wallMs: number): boolean {
  return ms > wallMs + MOST_AHEAD_MS
}
