import { DEFAULT_SWITCHES, LEAST_INTERVAL_MS } from '../../switches/switches.ts'
import { leastWaitMs } from '../../switches/announced-interval.ts'
import { type BeatTiming, DEFAULT_TIMING, type Metadata } from './instance.ts'

/** The metadata keys by which an instance asks for its own timing, in milliseconds (http-compat.md section 4). */
const TIMING_KEYS = {
  interval: 'preserved.heart.beat.interval',
  unhealthy: 'preserved.heart.beat.timeout',
  remove: 'preserved.ip.delete.timeout',
} as const

/** The timing keys begin like this. Few instances have such a key. */
const PRESERVED = 'preserved.'

/** The timing that was asked for last: the instances of a framework ask for the same, and then share it. */
let asked = DEFAULT_TIMING

/** For how long an instance whose times are both too short is shown as unhealthy before it leaves. */
const UNHEALTHY_FIRST_MS = 500

/** The timing that an instance's metadata asks for; absent or invalid values are the defaults. */
export function askedTiming(metadata: Metadata): BeatTiming {
  const intervalMs = millis(metadata[TIMING_KEYS.interval])
  return {
    // Every 0 ms is no interval. A client that obeys a short one would ask the server all the time.
    intervalMs: intervalMs ? Math.max(intervalMs, LEAST_INTERVAL_MS) : undefined,
    unhealthyMs: millis(metadata[TIMING_KEYS.unhealthy]) ?? DEFAULT_TIMING.unhealthyMs,
    removeMs: millis(metadata[TIMING_KEYS.remove]) ?? DEFAULT_TIMING.removeMs,
  }
}

/**
 * The timing that counts for an instance with this metadata. Both waits are at least a second more than twice
 * the interval that it asks for. So an instance stays while it beats as often as it says.
 */
export function timingOf(metadata: Metadata): BeatTiming {
  if (!asksForTiming(metadata)) return DEFAULT_TIMING
  const askedFor = askedTiming(metadata)
  const timing = withWaits(askedFor, leastWaitMs(askedFor.intervalMs ?? 0))
  if (isSame(timing, DEFAULT_TIMING)) return DEFAULT_TIMING
  if (!isSame(timing, asked)) asked = timing
  return asked
}

function asksForTiming(metadata: Metadata): boolean {
  for (const name in metadata) if (name.startsWith(PRESERVED)) return true
  return false
}

/** The timing that counts while clients without an interval of their own are asked for this one (`AnnouncedIntervals`). */
export function timingWhen(timing: BeatTiming, announcedMs: number): BeatTiming {
  const isUsual = timing.intervalMs !== undefined || announcedMs <= DEFAULT_SWITCHES.clientBeatInterval
  return isUsual ? timing : withWaits(timing, leastWaitMs(announcedMs))
}

/** Whether an instance becomes unhealthy, or leaves, although it beats as often as it was asked to. */
export function isShorterThanInterval(timing: BeatTiming, announcedMs: number): boolean {
  const { unhealthyMs, removeMs } = timingWhen(timing, announcedMs)
  return Math.min(unhealthyMs, removeMs) <= (timing.intervalMs ?? announcedMs)
}

/** The waits of a timing, and each at least this long. */
function withWaits({ intervalMs, ...waits }: BeatTiming, leastMs: number): BeatTiming {
  const unhealthyMs = Math.max(waits.unhealthyMs, leastMs)
  const firstMs = waits.unhealthyMs < waits.removeMs ? UNHEALTHY_FIRST_MS : 0
  const removeMs = waits.removeMs > unhealthyMs ? waits.removeMs : Math.max(waits.removeMs, leastMs + firstMs)
  return { intervalMs, unhealthyMs, removeMs }
}

function isSame(a: BeatTiming, b: BeatTiming): boolean {
  return a.intervalMs === b.intervalMs && a.unhealthyMs === b.unhealthyMs && a.removeMs === b.removeMs
}

function millis(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : undefined
}
