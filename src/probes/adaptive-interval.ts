import type { HealthChecker } from '../core/naming/health-checker.ts'

/** How often a kind of probe runs: bounds in milliseconds, and how slowly (0 to 1) the interval follows. */
export interface IntervalParams {
  readonly max: number
  readonly min: number
  readonly factor: number
}

/** What steers all probes; read anew each time, so that a changed switch counts from that moment. */
export interface ProbeParams {
  /** False: no probe starts, and the result of one under way is dropped. */
  readonly enabled: boolean
  /** How many equal results in a row change the health. */
  readonly checkTimes: number
  readonly http: IntervalParams
  readonly tcp: IntervalParams
  readonly mysql: IntervalParams
}

/** Whatever the switches say, no target is probed more often than this. */
const SHORTEST_INTERVAL_MS = 10

/** The first probe comes at most this long after the shortest interval would ask for it. */
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

/** An interval brought within the bounds of its kind, in milliseconds; `min` wins over a smaller `max`. */
export function clampInterval(intervalMs: number, { min, max }: IntervalParams): number {
  return Math.max(Math.min(intervalMs, max), min, SHORTEST_INTERVAL_MS)
}

/** How long a new target waits; spread by `random` (0 to 1), so that a restart does not probe everything at once. */
export function firstDelay({ min }: IntervalParams, random: number): number {
  return Math.min(FIRST_DELAY_MS, min) + random * min
}

/**
 * The next interval: `factor` of the last one and the rest of the probe's own time, within the bounds. Targets that
 * answer fast are probed more often, slow ones less (http-compat.md section 4).
 */
export function nextInterval(previousMs: number, elapsedMs: number, params: IntervalParams): number {
  return clampInterval(params.factor * previousMs + (1 - params.factor) * elapsedMs, params)
}
