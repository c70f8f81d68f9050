import type { InstanceHealthChanged, InstanceRemoved } from '../../decisions/changes.ts'
import type { BeatTiming } from '../state/instance.ts'
import type { Instance } from '../state/service-entry.ts'

/**
 * How long ago a server received the last beat of an instance, in milliseconds of its health clock. `heard`:
 * since its last beat. `learned`: there was no beat since the server learned of the instance. `unknown`: it
 * does not know the instance.
 */
export type Silence =
  | { readonly kind: 'heard' | 'learned'; readonly agoMs: number }
  | { readonly kind: 'unknown' }

/** The effect of silence on an instance. */
export type SilenceEffect = 'removed' | 'unhealthy'

/** The change that silence makes. */
export type SilenceChange = InstanceRemoved | InstanceHealthChanged

/** After how much silence an instance must be checked, in milliseconds. */
export function patienceMs({ unhealthyMs, removeMs }: BeatTiming, healthy: boolean): number {
  return healthy ? Math.min(unhealthyMs, removeMs) : removeMs
}

/** The effect of this much silence, or undefined. */
export function effectOfSilence({ timing, healthy }: Instance, silenceMs: number): SilenceEffect | undefined {
  if (silenceMs >= timing.removeMs) return 'removed'
  return healthy && silenceMs >= timing.unhealthyMs ? 'unhealthy' : undefined
}

/** The change that has this effect. */
export function changeOfSilence(
  { record, entry }: Instance,
  effect: SilenceEffect,
  { stamp }: { readonly stamp: number },
): SilenceChange {
  const { address, serial } = record
  const about = { serviceKey: entry.service.key, address, serial, stamp }
  if (effect === 'removed') return { kind: 'instance-removed', ...about, reason: 'expired' }
  return { kind: 'instance-health-changed', ...about, healthy: false }
}
