import type { HealthChecker } from '../core/naming/state/health-checker.ts'
import type { ProbedNetworks } from './address-guard.ts'

/** The checker of one kind, e.g. `CheckerOf<'HTTP'>`. */
export type CheckerOf<Kind extends HealthChecker['type']> = Extract<HealthChecker, { type: Kind }>

/** The target of a probe: an address (IP or host name), its port and its checker. */
export interface ProbeTarget<Checker extends HealthChecker = HealthChecker> {
  readonly host: string
  readonly port: number
  readonly checker: Checker
  /** The networks that may be probed. Absent: all that are not forbidden. */
  readonly networks?: ProbedNetworks | undefined
}

/**
 * The result of one probe. `up` and `down` count towards `checkTimes`. `down-now` (a refused connection, a wrong
 * status) makes the target unhealthy at once. `reason` is for logs.
 */
export interface Verdict {
  readonly outcome: 'up' | 'down' | 'down-now'
  readonly reason: string
}

/** A verdict, and the time from the start of the probe to it, in milliseconds. */
export interface ProbeResult extends Verdict {
  readonly elapsedMs: number
}
