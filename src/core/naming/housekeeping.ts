import type { Change } from '../changes.ts'
import { type Command, synced, unchanged } from '../decision.ts'
import type { State } from '../state.ts'
import type { Remembered } from './remembered-metadata.ts'
import { serviceSubject } from './service-commands.ts'
import type { ServiceKey } from './service.ts'

/** How many records one round of cleaning takes at the most, so that it holds nobody up. */
const MOST_AT_ONCE = 500

/** The commands that remove services which a registration made and which have been empty since `beforeMs`. */
export function expireEmptyServices(state: State, beforeMs: number): Command<void>[] {
  const commands: Command<void>[] = []
  for (const [entry, sinceMs] of state.emptySince) {
    if (sinceMs > beforeMs || commands.length >= MOST_AT_ONCE) break
    commands.push(expireService(state, entry.service.key, beforeMs))
  }
  return commands
}

/** The commands that forget metadata whose instance has been away since `beforeMs` (health time). */
export function forgetExpiredMetadata(state: State, beforeMs: number): Command<void>[] {
  return state.remembrance
    .absentSince(beforeMs, MOST_AT_ONCE)
    .map((remembered) => forget(state, remembered, beforeMs))
}

/** Decided on what is known then: while it waited, instances may have come, and gone again just now. */
function expireService(state: State, key: ServiceKey, beforeMs: number): Command<void> {
  return {
    subject: serviceSubject(key),
    decide(view) {
      const service = view.service(key)
      const entry = state.services.get(key)
      const emptySinceMs = (entry && state.emptySince.get(entry)) ?? Infinity
      if (service?.madeBy !== 'registration' || emptySinceMs > beforeMs) return unchanged(undefined)
      if (view.instanceCount(key) > 0) return unchanged(undefined)
      const changes: Change[] = [{ kind: 'service-deleted', key, serial: service.serial }]
      return { changes, durability: 'behind', outcome: undefined }
    },
  }
}

function forget(state: State, { serviceKey, address }: Remembered, beforeMs: number): Command<void> {
  return {
    subject: serviceSubject(serviceKey),
    decide(view, { stamp }) {
      const absentSinceMs = state.remembrance.get(serviceKey, address)?.absentSinceMs ?? Infinity
      const back = view.instance(serviceKey, address) !== undefined
      if (back || absentSinceMs > beforeMs) return unchanged(undefined)
      return synced([{ kind: 'metadata-forgotten', serviceKey, address, stamp }], undefined)
    },
  }
}
