import { type Command, commandOn, synced, unchanged } from '../../decisions/decision.ts'
import { addressText } from '../state/instance.ts'
import type { Instance } from '../state/service-entry.ts'
import { serviceKeyText } from '../state/service.ts'

/** Saves the result of a probe. Answers false, and changes nothing, if the instance has changed since. */
export function foundHealth({ entry, record }: Instance, healthy: boolean): Command<boolean> {
  const { key: serviceKey } = entry.service
  const { address, serial } = record
  return commandOn(`probed:${serviceKeyText(serviceKey)} ${addressText(address)}`, (view, { stamp }) => {
    const known = view.instance(serviceKey, address)
    if (known?.record !== record || known.healthy === healthy) return unchanged(false)
    return synced([{ kind: 'instance-health-changed', serviceKey, address, serial, healthy, stamp }], true)
  })
}
