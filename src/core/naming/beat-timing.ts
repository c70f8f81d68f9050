import { type BeatTiming, DEFAULT_TIMING, type Metadata } from './instance.ts'

/** The metadata keys by which an instance asks for its own timing, in milliseconds (http-compat.md section 4). */
const TIMING_KEYS = {
  interval: 'preserved.heart.beat.interval',
  unhealthy: 'preserved.heart.beat.timeout',
  remove: 'preserved.ip.delete.timeout',
} as const

/** The timing that was asked for last: the instances of a framework ask for the same, and then share it. */
let asked = DEFAULT_TIMING

/** No silence is judged sooner: a beat may be this late on its way. */
const SHORTEST_MS = 1_000

/** For how long an instance whose times are both too short is shown as unhealthy before it leaves. */
const UNHEALTHY_FIRST_MS = 500

/**
 * The timing that an instance's metadata asks for; what is absent or not a number of ms is the default. Both waits are at
 * least two of the intervals that it asks for and a second, so that an instance stays while it beats as often as it says.
 */
export function timingOf(metadata: Metadata): BeatTiming {
  // Every 0 ms is no interval: a client that obeys would beat in a tight loop.
  const intervalMs = millis(metadata[TIMING_KEYS.interval]) || undefined
  const shortestMs = 2 * (intervalMs ?? 0) + SHORTEST_MS
  const askedUnhealthyMs = millis(metadata[TIMING_KEYS.unhealthy]) ?? DEFAULT_TIMING.unhealthyMs
  const askedRemoveMs = millis(metadata[TIMING_KEYS.remove]) ?? DEFAULT_TIMING.removeMs
  const unhealthyMs = Math.max(askedUnhealthyMs, shortestMs)
  const firstMs = askedUnhealthyMs < askedRemoveMs ? UNHEALTHY_FIRST_MS : 0
  const removeMs = askedRemoveMs > unhealthyMs ? askedRemoveMs : Math.max(askedRemoveMs, shortestMs + firstMs)
  const timing = { intervalMs, unhealthyMs, removeMs }
  if (isSame(timing, DEFAULT_TIMING)) return DEFAULT_TIMING
  if (!isSame(timing, asked)) asked = timing
  return asked
}

function isSame(a: BeatTiming, b: BeatTiming): boolean {
  return a.intervalMs === b.intervalMs && a.unhealthyMs === b.unhealthyMs && a.removeMs === b.removeMs
}

function millis(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined
}
