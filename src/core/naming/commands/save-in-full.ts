import type { Change } from '../../decisions/changes.ts'
import type { View } from '../../decisions/view.ts'
import type { InstanceRecord } from '../state/instance.ts'
import { existingService } from './service-commands.ts'
import type { ServiceKey } from '../state/service.ts'

/** The changes that put an instance on disk in full, with its service where that is still behind. */
export function saveInFull(
  view: View,
  serviceKey: ServiceKey,
  saving: { record: InstanceRecord; healthy: boolean | undefined; stamp: number },
): Change[] {
  const service = existingService(view, serviceKey)
  const { record, healthy, stamp } = saving
  const saved: Change = {
    kind: 'instance-saved',
    serviceKey,
    serviceSerial: service.serial,
    beat: false,
    record,
    healthy,
    stamp,
  }
  return view.surelyStored(service.serial) ? [saved] : [{ kind: 'service-saved', service, stamp }, saved]
}
