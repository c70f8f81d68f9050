import type { Change } from '../../decisions/changes.ts'
import { timingOf, timingWhen } from '../state/beat-timing.ts'
import { beatingClaim } from '../state/claims.ts'
import type { BeatTiming } from '../state/instance.ts'
import type { Instance } from '../state/service-entry.ts'
import type { DepartureView } from '../state/presence.ts'
import { departure } from './departures.ts'

/**
 * How long ago a server received the last beat of an instance, in milliseconds of its health clock. `heard`:
 * since its last beat. `learned`: there was no beat since the server learned of the instance. `unknown`: it
 * does not know the instance.
 */
export type Silence =
  | { readonly kind: 'heard' | 'learned'; readonly agoMs: number }
  | { readonly kind: 'unknown' }

/** The effect of silence on an instance, or on a claim that waits: that can only be `removed`. */
export type SilenceEffect = 'removed' | 'unhealthy'

/** The registration whose publisher sends beats: the instance itself, or a claim that waits for it. */
interface BeatingPart {
  readonly timing: BeatTiming
  readonly healthy: boolean
}

/** The part of an instance that expires by silence; undefined: no publisher of the address sends beats. */
export function beatingPart(instance: Instance): BeatingPart | undefined {
  if (instance.record.publisher.kind === 'beats') return instance
  const claim = beatingClaim(instance.record)
  // Nobody sees the health of a claim.
  return claim && { timing: timingOf(claim.registered), healthy: false }
}

/** After how much silence an instance must be checked, in milliseconds. */
export function patienceMs({ unhealthyMs, removeMs }: BeatTiming, healthy: boolean): number {
  return healthy ? Math.min(unhealthyMs, removeMs) : removeMs
}

/** The same for the part of an instance that beats. `announcedMs`: see {@link timingWhen}. */
export function patienceWith(instance: Instance, announcedMs: number): number {
  const { timing, healthy } = beatingPart(instance) ?? instance
  return patienceMs(timingWhen(timing, announcedMs), healthy)
}

/** The effect of this much silence, or undefined. */
export function effectOfSilence(
  instance: Instance,
  silenceMs: number,
  announcedMs: number,
): SilenceEffect | undefined {
  const { timing, healthy } = beatingPart(instance) ?? instance
  const { unhealthyMs, removeMs } = timingWhen(timing, announcedMs)
  if (silenceMs >= removeMs) return 'removed'
  return healthy && silenceMs >= unhealthyMs ? 'unhealthy' : undefined
}

/** A silence, and whether the registration that it removes is remembered. */
interface SilenceToJudge {
  readonly effect: SilenceEffect
  readonly remembers: boolean
  readonly stamp: number
}

/** The changes that have this effect; the first one is of the instance. Empty: nobody beats at the address any more. */
export function changesOfSilence(
  view: DepartureView,
  { record, entry }: Instance,
  { effect, remembers, stamp }: SilenceToJudge,
): readonly Change[] {
  const { address, serial } = record
  const serviceKey = entry.service.key
  if (effect === 'unhealthy')
    return [{ kind: 'instance-health-changed', serviceKey, address, serial, stamp, healthy: false }]
  const leaves = ({ kind }: { readonly kind: string }): boolean => kind === 'beats'
  return departure(view, { serviceKey, record, leaves, reason: 'expired', remembers, stamp })
}
