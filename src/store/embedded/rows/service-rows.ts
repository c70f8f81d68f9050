import type { ServiceSaved } from '../../../core/decisions/changes.ts'
import { type Service, SERVICE_DEFAULTS } from '../../../core/naming/state/service.ts'
import { msOf } from '../../../core/decisions/stamps.ts'
import type { ServiceRow } from './tables.ts'

/** The row that a saved service writes. */
export function serviceRow({ service, stamp }: ServiceSaved): ServiceRow {
  const { key, serial, protectThreshold, madeBy } = service
  return {
    serial,
    namespaceId: key.namespaceId,
    groupedName: key.groupedName,
    protectThreshold,
    madeBy,
    selector: JSON.stringify(service.selector),
    clusters: JSON.stringify(service.clusters),
    metadata: JSON.stringify(service.metadata),
    savedMs: msOf(stamp),
  }
}

/** A service, from its row. */
export function serviceOf(row: ServiceRow): Service {
  const { serial, namespaceId, groupedName, protectThreshold, madeBy } = row
  return {
    key: { namespaceId, groupedName },
    serial,
    protectThreshold,
    metadata: parsedOr(row.metadata, SERVICE_DEFAULTS.metadata),
    selector: parsedOr(row.selector, SERVICE_DEFAULTS.selector),
    clusters: parsedOr(row.clusters, SERVICE_DEFAULTS.clusters),
    madeBy,
  }
}

const DEFAULT_TEXTS = new Map<object, string>(
  [SERVICE_DEFAULTS.metadata, SERVICE_DEFAULTS.selector, SERVICE_DEFAULTS.clusters].map((value) => [
    value,
    JSON.stringify(value),
  ]),
)

/** A part of a service; the shared default if it is equal. Our own JSON, covered by the checksum of the row. */
function parsedOr<T extends object>(text: string, usual: T): T {
  return text === DEFAULT_TEXTS.get(usual) ? usual : (JSON.parse(text) as T)
}
