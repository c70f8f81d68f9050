import type { ConfigItem } from '../../core/config/state/config-item.ts'
import type { Service, ServiceKey } from '../../core/naming/state/service.ts'
import type { Revision, Snapshot, StoredInstance } from '../../core/engine/ports.ts'
import { decodeRecord } from '../../core/engine/stored-kinds.ts'
import type { StoredRecord } from '../../core/records/record-kind.ts'
import { configItemOf } from './rows/config-rows.ts'
import { instanceOfText } from './rows/instance-text.ts'
import type { CrossingItem, LoadBatch } from './rows/messages.ts'
import { serviceOf } from './rows/service-rows.ts'
import { type InstanceRow, type RecordRow, TABLES } from './rows/tables.ts'

/** Makes the snapshot of the batches of a load. */
export class SnapshotBuilder {
  readonly #configs: ConfigItem[] = []
  readonly #services: Service[] = []
  readonly #instances: StoredInstance[] = []
  readonly #records: StoredRecord[] = []
  readonly #serviceKeys = new Map<number, ServiceKey>()

  /** Takes the next batch; services come before instances. Throws as `decodeRecord`. */
  add(batch: LoadBatch): void {
    switch (batch.kind) {
      case 'configs':
        for (const item of batch.items) this.#configs.push(configOf(item, batch.contents))
        return
      case 'records':
        for (const row of batch.rows) this.#addRecord(TABLES.record.decode(row))
        return
      case 'services':
        for (const row of batch.rows) this.#addService(serviceOf(TABLES.service.decode(row)))
        return
      case 'instances':
        for (const row of batch.rows) this.#addInstance(TABLES.instance.decode(row))
        return
      case 'settled':
        return
    }
  }

  /** Everything taken so far, which is everything up to a revision. */
  snapshot(revision: Revision): Snapshot {
    return {
      // Ids rise, so this is the order of creation.
      configs: this.#configs.toSorted((a, b) => a.origin.id - b.origin.id),
      services: this.#services,
      // By serial: lists keep the order of registration over a restart.
      instances: this.#instances,
      records: this.#records,
      revision,
      // Revisions follow the stamps.
      largestStamp: revision,
    }
  }

  /** The text of a large record goes with its batch. */
  #addRecord({ recordKind, id, value }: RecordRow): void {
    this.#records.push(decodeRecord(recordKind, id, value))
  }

  #addService(service: Service): void {
    this.#services.push(service)
    this.#serviceKeys.set(service.serial, service.key)
  }

  #addInstance({ serial, serviceSerial, healthy, record }: InstanceRow): void {
    const serviceKey = this.#serviceKeys.get(serviceSerial)
    if (serviceKey === undefined) return
    this.#instances.push({ serviceKey, record: instanceOfText(serial, record), healthy })
  }
}

function configOf(rows: CrossingItem, contents: ArrayBuffer): ConfigItem {
  const [nameValues, itemValues, revisionValues, contentAt, contentLength] = rows
  const name = TABLES.config_name.decode(nameValues)
  const item = TABLES.config_item.decode(itemValues)
  const revision = TABLES.config_revision.decode(revisionValues)
  return configItemOf({ name, item, revision }, Buffer.from(contents, contentAt, contentLength))
}
