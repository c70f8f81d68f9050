import type { Change } from '../changes.ts'
import { type Command, synced, unchanged } from '../decision.ts'
import { recordRemoved } from '../records/record-kind.ts'
import type { Liveness } from './liveness.ts'
import type { InstancePlace } from './presence.ts'
import { REMEMBERED_METADATA, rememberedId } from './remembered-metadata.ts'
import { serviceSubject } from './service-commands.ts'
import type { ServiceKey } from './service.ts'

/** The most records of one round of cleaning: a round must not delay requests. */
const MOST_AT_ONCE = 500

/** The commands that remove services which a registration made and which have been empty since `beforeMs`. */
export function expireEmptyServices(liveness: Liveness, beforeMs: number): Command<void>[] {
  return liveness.abandonedServices(beforeMs, MOST_AT_ONCE).map((key) => expireService(key, beforeMs))
}

/** The commands that forget metadata whose instance has been away since `beforeMs` (health time). */
export function forgetExpiredMetadata(liveness: Liveness, beforeMs: number): Command<void>[] {
  return liveness.absentMetadata(beforeMs, MOST_AT_ONCE).map((place) => forget(place, beforeMs))
}

/** Decided on what is known then: while the command waited, instances may have come, and left again just now. */
function expireService(key: ServiceKey, beforeMs: number): Command<void> {
  return {
    subject: serviceSubject(key),
    decide(view) {
      const service = view.service(key)
      if (service === undefined || (view.abandonedSinceMs(key) ?? Infinity) > beforeMs)
        return unchanged(undefined)
      const changes: Change[] = [{ kind: 'service-deleted', key, serial: service.serial }]
      return { changes, durability: 'behind', outcome: undefined }
    },
  }
}

function forget(place: InstancePlace, beforeMs: number): Command<void> {
  return {
    subject: serviceSubject(place.serviceKey),
    decide(view, { stamp }) {
      if ((view.absentSinceMs(place) ?? Infinity) > beforeMs) return unchanged(undefined)
      return synced([recordRemoved(REMEMBERED_METADATA, rememberedId(place), stamp)], undefined)
    },
  }
}
