import { defineRecordKind } from '../../records/record-kind.ts'
import { object, text } from '../../records/shape.ts'
import { Refusal } from '../../refusal.ts'
import type { RecordView } from '../../records/record-tables.ts'
import type { ConfigKey } from './config-item.ts'

/**
 * An item that the store has and cannot read; the id is `ConfigKey.text`. Each server finds that out by itself. `storeKey`:
 * where the value is.
 */
export const DAMAGED_ITEM = defineRecordKind<{ readonly storeKey: string }>(
  'damaged-item',
  object({ storeKey: text }),
  { isLocal: true },
)

/** In place of the md5 of an item that cannot be read: nobody can say that it differs from another version. */
export const UNREADABLE = 'unreadable'

/** Throws Refusal `damaged` if the store cannot read the item. It is there: clients must not take it for a deleted one. */
export function refuseDamaged(
  view: Pick<RecordView, 'record'>,
  { text: id, dataId, group }: ConfigKey,
): void {
  const damaged = view.record(DAMAGED_ITEM, id)
  if (damaged !== undefined)
    throw new Refusal(
      'damaged',
      `The value of the configuration ${dataId} in group ${group} is damaged in etcd (key ${damaged.storeKey}). ` +
        'Delete the item or its key and publish it again, or restore a backup.',
    )
}
