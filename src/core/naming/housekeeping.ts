import type { Change } from '../changes.ts'
import { type Command, unchanged } from '../decision.ts'
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
    commands.push(expireService(entry.service.key))
  }
  return commands
}

/** The commands that forget metadata whose instance has been away since `beforeMs` (health time). */
export function forgetExpiredMetadata(state: State, beforeMs: number): Command<void>[] {
  return state.remembrance.absentSince(beforeMs, MOST_AT_ONCE).map((remembered) => forget(state, remembered))
}

function expireService(key: ServiceKey): Command<void> {
  return {
    subject: serviceSubject(key),
    decide(view) {
      const service = view.service(key)
      if (service?.madeBy !== 'registration' || view.instanceCount(key) > 0) return unchanged(undefined)
      const changes: Change[] = [{ kind: 'service-deleted', key, serial: service.serial }]
      return { changes, durability: 'behind', outcome: undefined }
    },
  }
}

function forget(state: State, { serviceKey, address }: Remembered): Command<void> {
  return {
    subject: serviceSubject(serviceKey),
    decide() {
      const away = state.remembrance.get(serviceKey, address)?.absentSinceMs !== undefined
      if (!away) return unchanged(undefined)
      return {
        changes: [{ kind: 'metadata-forgotten', serviceKey, address }],
        durability: 'synced',
        outcome: undefined,
      }
    },
  }
}
