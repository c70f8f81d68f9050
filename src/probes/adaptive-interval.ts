import type { HealthChecker } from '../core/naming/state/health-checker.ts'
import type { IntervalParams } from '../core/switches/switches.ts'

/** The parameters of all probes. They are read each time, so a changed switch takes effect at once. */
export interface ProbeParams {
  /** False: no probe starts, and the result of a running one is dropped. */
  readonly enabled: boolean
  /** How many equal results in a row change the health. */
  readonly checkTimes: number
  readonly http: IntervalParams
  readonly tcp: IntervalParams
  readonly mysql: IntervalParams
}

/** No target is probed more often than this, independent of the switches. */
const SHORTEST_INTERVAL_MS = 10

/** A new target waits at most this long, or the shortest interval, before its random part. */
const FIRST_DELAY_MS = 2000

/** The parameter set of a kind of checker. */
export function intervalParamsOf(
  params: ProbeParams,
  type: Exclude<HealthChecker['type'], 'NONE'>,
): IntervalParams {
  switch (type) {
    case 'HTTP':
      return params.http
    case 'TCP':
      return params.tcp
    case 'MYSQL':
      return params.mysql
  }
}

/** Limits an interval, in milliseconds, to the bounds of its kind. `min` wins over a smaller `max`. */
export function clampInterval(intervalMs: number, { min, max }: IntervalParams): number {
  return Math.max(Math.min(intervalMs, max), min, SHORTEST_INTERVAL_MS)
}

/** The wait of a new target, with a part of `random` (0 to 1), so that a restart does not probe everything at once. */
export function firstDelay({ min }: IntervalParams, random: number): number {
  return Math.min(FIRST_DELAY_MS, min) + random * min
}

/**
 * The next interval: `factor` of the last one plus the rest of the probe's duration, within the bounds. Targets that
 * answer fast are probed more often (http-compat.md section 4).
 */
export function nextInterval(previousMs: number, elapsedMs: number, params: IntervalParams): number {
  return clampInterval(params.factor * previousMs + (1 - params.factor) * elapsedMs, params)
}
