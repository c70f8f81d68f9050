import type { RecordView } from '../../records/record-tables.ts'
import { defineRecordKind } from '../../records/record-kind.ts'
import { object, text } from '../../records/shape.ts'
import { Refusal } from '../../refusal.ts'
import { type ServiceKey, serviceKeyText } from './service.ts'

/**
 * A service that the store has and cannot read; the id is `serviceKeyText`. Each server finds that out by itself.
 * `storeKey`: where the value is.
 */
export const DAMAGED_SERVICE = defineRecordKind<{ readonly storeKey: string }>(
  'damaged-service',
  object({ storeKey: text }),
  { isLocal: true },
)

/** Throws Refusal `damaged` if the store cannot read the service. It is there: clients must not take it for an empty one. */
export function refuseDamagedService(view: Pick<RecordView, 'record'>, key: ServiceKey): void {
  const damaged = view.record(DAMAGED_SERVICE, serviceKeyText(key))
  if (damaged !== undefined)
    throw new Refusal(
      'damaged',
      `The value of the service ${key.groupedName} is damaged in etcd (key ${damaged.storeKey}). ` +
        'Remove the key and make the service again, or restore a backup.',
    )
}
