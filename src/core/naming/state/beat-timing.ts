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

/** The timing that an instance's metadata asks for; absent or invalid values are the defaults. */
export function askedTiming(metadata: Metadata): BeatTiming {
  return {
    // Every 0 ms is no interval: a client that obeys would beat in a tight loop.
    intervalMs: millis(metadata[TIMING_KEYS.interval]) || undefined,
    unhealthyMs: millis(metadata[TIMING_KEYS.unhealthy]) ?? DEFAULT_TIMING.unhealthyMs,
    removeMs: millis(metadata[TIMING_KEYS.remove]) ?? DEFAULT_TIMING.removeMs,
  }
}

/**
 * The timing that counts for an instance with this metadata. Both waits are at least a second more than twice
 * the interval that it asks for. So an instance stays while it beats as often as it says.
 */
export function timingOf(metadata: Metadata): BeatTiming {
  const { intervalMs, ...waits } = askedTiming(metadata)
  const shortestMs = 2 * (intervalMs ?? 0) + SHORTEST_MS
  const unhealthyMs = Math.max(waits.unhealthyMs, shortestMs)
  const firstMs = waits.unhealthyMs < waits.removeMs ? UNHEALTHY_FIRST_MS : 0
  const removeMs =
    waits.removeMs > unhealthyMs ? waits.removeMs : Math.max(waits.removeMs, shortestMs + firstMs)
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
