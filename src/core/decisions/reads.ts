import type { Change } from './changes.ts'
import type { ConfigKey } from '../config/state/config-item.ts'
import { addressText, type InstanceAddress } from '../naming/state/instance.ts'
import { type ServiceKey, serviceKeyText } from '../naming/state/service.ts'
import type { RecordRead } from '../records/record-tables.ts'

/**
 * A read of a decision. `found`: whether the thing was there. A store that several servers share writes a decision only
 * if none of its reads has changed since.
 */
export type Read =
  | RecordRead
  | { readonly of: 'config'; readonly key: ConfigKey; readonly found: boolean }
  | { readonly of: 'service'; readonly key: ServiceKey; readonly found: boolean }
  | {
      readonly of: 'instance'
      readonly serviceKey: ServiceKey
      readonly address: InstanceAddress
      readonly found: boolean
    }
  /** The read covers all instances of a service. `none`: the service had no instance. */
  | { readonly of: 'instances'; readonly serviceKey: ServiceKey; readonly none: boolean }

/** The thing that a change touches, written as a read. Ignore its `found`. */
export function changedThing(change: Change): Read {
  const found = true
  switch (change.kind) {
    case 'config-published':
      return { of: 'config', key: change.item.key, found }
    case 'config-deleted':
      return { of: 'config', key: change.key, found }
    case 'history-imported':
      return { of: 'config', key: change.record.key, found }
    case 'service-saved':
      return { of: 'service', key: change.service.key, found }
    case 'service-deleted':
      return { of: 'service', key: change.key, found }
    case 'instance-saved':
      return { of: 'instance', serviceKey: change.serviceKey, address: change.record.address, found }
    case 'instance-removed':
    case 'instance-health-changed':
      return { of: 'instance', serviceKey: change.serviceKey, address: change.address, found }
    case 'record-saved':
    case 'record-removed':
      return { of: 'record', recordKind: change.recordKind, id: change.id, found }
  }
}

/** Names the thing of a read: two reads of one thing have the same text. */
export function readText(read: Read): string {
  switch (read.of) {
    case 'config':
      return textOf(read.of, read.key.text)
    case 'record':
      return textOf(read.of, read.recordKind, read.id)
    case 'service':
      return textOf(read.of, serviceKeyText(read.key))
    case 'instance':
      return textOf(read.of, serviceKeyText(read.serviceKey), addressText(read.address))
    case 'records':
      return textOf(read.of, read.recordKind)
    case 'instances':
      return textOf(read.of, serviceKeyText(read.serviceKey))
  }
}

/** Notes the reads of decisions. The first read of a thing counts: later ones may see changes of a decision. */
export class ReadLog {
  readonly #reads = new Map<string, Read>()

  note(read: Read): void {
    const text = readText(read)
    if (!this.#reads.has(text)) this.#reads.set(text, read)
  }

  /** The texts of the reads. */
  get texts(): string[] {
    return [...this.#reads.keys()]
  }

  get reads(): readonly Read[] {
    return [...this.#reads.values()]
  }
}

function textOf(...parts: readonly string[]): string {
  return parts.join('\u0001')
}
