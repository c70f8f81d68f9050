import type { InstanceHealthChanged, InstanceRemoved } from '../../decisions/changes.ts'
import type { BeatTiming } from '../state/instance.ts'
import type { Instance } from '../state/service-entry.ts'

/**
 * For how long a server has not heard an instance, in milliseconds of its health clock. `heard`: since its last beat.
 * `learned`: it has heard no beat since it learned of the instance. `unknown`: it does not know the instance.
 */
export type Silence =
  | { readonly kind: 'heard' | 'learned'; readonly agoMs: number }
  | { readonly kind: 'unknown' }

/** What silence makes of an instance. */
export type Verdict = 'removed' | 'unhealthy'

/** The change that a verdict is. */
export type SilenceChange = InstanceRemoved | InstanceHealthChanged

/** After how much silence an instance must be looked at, in milliseconds. */
export function patienceMs({ unhealthyMs, removeMs }: BeatTiming, healthy: boolean): number {
  return healthy ? Math.min(unhealthyMs, removeMs) : removeMs
}

/** What this much silence makes of an instance; undefined: nothing. */
export function verdictOf({ timing, healthy }: Instance, silenceMs: number): Verdict | undefined {
  if (silenceMs >= timing.removeMs) return 'removed'
  return healthy && silenceMs >= timing.unhealthyMs ? 'unhealthy' : undefined
}

/** The change that a verdict makes. */
export function changeOfVerdict(
  { record, entry }: Instance,
  verdict: Verdict,
  { stamp }: { readonly stamp: number },
): SilenceChange {
  const { address, serial } = record
  const about = { serviceKey: entry.service.key, address, serial, stamp }
  if (verdict === 'removed') return { kind: 'instance-removed', ...about, reason: 'expired' }
  return { kind: 'instance-health-changed', ...about, healthy: false }
}
