import type { Change } from '../../decisions/changes.ts'
import { type Command, commandOn, synced, unchanged } from '../../decisions/decision.ts'
import { recordRemoved } from '../../records/record-kind.ts'
import type { Liveness } from '../liveness/liveness.ts'
import type { InstancePlace } from '../state/presence.ts'
import { REMEMBERED_METADATA, rememberedId } from '../state/remembered-metadata.ts'
import { serviceSubject } from './service-commands.ts'
import type { ServiceKey } from '../state/service.ts'

/** The most records of one round of cleaning: a round must not delay requests. */
const MOST_AT_ONCE = 500

/** Whether this server looks after a service: the only server looks after all. */
export type LooksAfter = (key: ServiceKey) => boolean

const ALL: LooksAfter = () => true

/** The commands that remove services which a registration made and which have been empty since `beforeMs`. */
export function expireEmptyServices(liveness: Liveness, beforeMs: number, of = ALL): Command<void>[] {
  const services = liveness.abandonedServices({ beforeMs, most: MOST_AT_ONCE, of })
  return services.map((key) => expireService(key, beforeMs))
}

/** The commands that forget metadata whose instance has been away since `beforeMs` (health time). */
export function forgetExpiredMetadata(liveness: Liveness, beforeMs: number, of = ALL): Command<void>[] {
  const places = liveness.absentMetadata({ beforeMs, most: MOST_AT_ONCE, of })
  return places.map((place) => forget(place, beforeMs))
}

/**
 * Decides on the state of that moment: while the command waited, instances may have come, and left again just now. It
 * reads the instances too, because another server may register an instance at this moment.
 */
function expireService(key: ServiceKey, beforeMs: number): Command<void> {
  return commandOn(serviceSubject(key), (view) => {
    const service = view.service(key)
    if (service === undefined || (view.abandonedSinceMs(key) ?? Infinity) > beforeMs)
      return unchanged(undefined)
    if (view.instanceCount(key) > 0) return unchanged(undefined)
    const changes: Change[] = [{ kind: 'service-deleted', key, serial: service.serial }]
    return { changes, durability: 'behind', outcome: undefined }
  })
}

function forget(place: InstancePlace, beforeMs: number): Command<void> {
  return commandOn(serviceSubject(place.serviceKey), (view, { stamp }) => {
    if ((view.absentSinceMs(place) ?? Infinity) > beforeMs) return unchanged(undefined)
    const id = rememberedId(place)
    const isRemembered = view.record(REMEMBERED_METADATA, id) !== undefined
    if (!isRemembered || view.instance(place.serviceKey, place.address) !== undefined)
      return unchanged(undefined)
    return synced([recordRemoved(REMEMBERED_METADATA, id, stamp)], undefined)
  })
}
