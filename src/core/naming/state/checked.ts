import type { Switches } from '../../switches/switches.ts'
import { type ServiceKey, serviceNameOf } from './service.ts'

/**
 * Whether the instances of a service are judged: by their silence, or by probes. Services on the white list
 * are, also while checks are switched off (http-compat.md section 4); it names them with or without group.
 */
export function isChecked(switches: Switches, { groupedName }: ServiceKey): boolean {
  if (switches.healthCheckEnabled) return true
  const { healthCheckWhiteList } = switches
  return (
    healthCheckWhiteList.includes(groupedName) || healthCheckWhiteList.includes(serviceNameOf(groupedName))
  )
}
