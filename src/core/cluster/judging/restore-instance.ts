import { type Change, NO_SERIAL } from '../../decisions/changes.ts'
import { type Command, synced, unchanged } from '../../decisions/decision.ts'
import type { Instance } from '../../naming/state/service-entry.ts'
import { newService, serviceSubject } from '../../naming/commands/service-commands.ts'

/**
 * Registers an instance again that was removed for its silence although this server has received its beats. It comes
 * back unchanged, with its full time on all servers. Answers false, and changes nothing, if it is registered meanwhile.
 */
export function restoreInstance({ entry, record, healthy }: Instance): Command<boolean> {
  const { key: serviceKey } = entry.service
  return {
    subject: serviceSubject(serviceKey),
    decide(view, { stamp }) {
      if (view.instance(serviceKey, record.address) !== undefined) return unchanged(false)
      const known = view.service(serviceKey)
      const service = known ?? newService(view, serviceKey, 'registration')
      const { serial: serviceSerial } = service
      const restored = { ...record, serial: NO_SERIAL }
      const changes: Change[] = [
        { kind: 'instance-saved', serviceKey, serviceSerial, record: restored, healthy, beat: true, stamp },
      ]
      if (known === undefined) changes.unshift({ kind: 'service-saved', service, stamp })
      return synced(changes, true)
    },
  }
}
