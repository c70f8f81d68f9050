import { NOT_DUE } from '../../work/due-book.ts'
import { timingOf } from '../state/beat-timing.ts'
import type { InstanceRecord } from '../state/instance.ts'
import type { ServiceEntry, Instance } from '../state/service-entry.ts'

/** The time of the last beat of an instance until it is first saved. No health time is negative. */
export const NEVER_MS = -1

/**
 * An instance with the fields of {@link Liveness}. They are in the same object, because a second object for each of a
 * million instances takes 56 MB. `Instance` does not have them, so that no other code can read or write them.
 */
export interface TimedInstance extends Instance {
  /** Health time of the last beat or registration, or else when this server learned of the instance. */
  lastBeatMs: number
  /**
   * The server that received the beat at `lastBeatMs`. A registration that this server applied, perhaps late, is
   * news of another.
   */
  receivedBy: 'nobody' | 'another' | 'this server'
  /** Owned by the due book. */
  dueTick: number
  /** The fingerprint of the last beat that named this instance and no other; see `Liveness.knowBeat`. */
  beatFingerprint: string | undefined
}

/** An instance that joins a service: as registered, with nothing remembered over it yet. */
export function newInstance(
  entry: ServiceEntry,
  { record, healthy = true }: { record: InstanceRecord; healthy: boolean | undefined },
): Instance {
  const instance: TimedInstance = {
    entry,
    record,
    metadata: record.registered,
    healthy,
    timing: timingOf(record.registered),
    lastBeatMs: NEVER_MS,
    receivedBy: 'nobody',
    dueTick: NOT_DUE,
    beatFingerprint: undefined,
  }
  return instance
}

/** The same instance: every instance is made by {@link newInstance}. */
export function timedInstance(instance: Instance): TimedInstance {
  return instance as TimedInstance
}
