import { NOT_DUE } from '../due-book.ts'
import type { Now } from '../ports.ts'
import { timingOf } from './beat-timing.ts'
import type { Instance, InstanceRecord } from './instance.ts'
import type { ServiceEntry } from './service-entry.ts'

/** An instance that joins a service now: as registered, with nothing remembered over it yet. */
export function newInstance(
  entry: ServiceEntry,
  { record, healthy = true }: { record: InstanceRecord; healthy: boolean | undefined },
  now: Now,
): Instance {
  return {
    entry,
    record,
    metadata: record.registered,
    healthy,
    lastBeatMs: now.healthMs,
    timing: timingOf(record.registered),
    dueTick: NOT_DUE,
    beatFingerprint: undefined,
  }
}
