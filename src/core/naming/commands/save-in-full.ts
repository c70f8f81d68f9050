import type { InstanceSaved } from '../../decisions/changes.ts'
import type { View } from '../../decisions/view.ts'
import type { InstanceRecord } from '../state/instance.ts'
import { existingService } from './service-commands.ts'
import type { ServiceKey } from '../state/service.ts'

/** The change that saves an instance in full. */
export function saveInFull(
  view: View,
  serviceKey: ServiceKey,
  saving: { record: InstanceRecord; healthy: boolean | undefined; stamp: number },
): InstanceSaved {
  const { serial: serviceSerial } = existingService(view, serviceKey)
  return { kind: 'instance-saved', serviceKey, serviceSerial, beat: false, ...saving }
}
