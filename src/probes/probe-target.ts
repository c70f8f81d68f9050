import type { HealthChecker } from '../core/naming/health-checker.ts'

/** The checker of one kind, e.g. `CheckerOf<'HTTP'>`. */
export type CheckerOf<Kind extends HealthChecker['type']> = Extract<HealthChecker, { type: Kind }>

/** What is probed: an address (IP or host name), the port to check there, and how. */
export interface ProbeTarget<Checker extends HealthChecker = HealthChecker> {
  readonly host: string
  readonly port: number
  readonly checker: Checker
}

/**
 * What one probe found. `up` and `down` count towards `checkTimes`; `down-now` is an answer that leaves no doubt
 * (a refused connection, a wrong status) and counts as unhealthy at once. `reason` is for logs, in plain words.
 */
export interface Verdict {
  readonly outcome: 'up' | 'down' | 'down-now'
  readonly reason: string
}

/** A verdict and how long it took from the start of the probe until it was known, in milliseconds. */
export interface ProbeResult extends Verdict {
  readonly elapsedMs: number
}
