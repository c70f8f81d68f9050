import { type LabelsOf, selectByLabel } from './label-selector.ts'
import type { ServiceEntry, Instance } from './service-entry.ts'

/** The requested instances of a service, and the address of the consumer. */
export interface InstanceQuery {
  /** Names of clusters; empty: all. */
  readonly clusters: readonly string[]
  readonly healthyOnly: boolean
  /** Undefined: no label selector applies. */
  readonly consumer: { readonly ip: string; readonly labelsOf: LabelsOf } | undefined
}

/**
 * The instances of an answer. `protecting`: too few are healthy, so all instances are listed as healthy, to spread the
 * load.
 */
export interface Selection {
  readonly instances: readonly Instance[]
  readonly protecting: boolean
}

/** Disabled instances never appear. See `docs/promises.md` for the protection threshold. */
export function selectInstances(entry: ServiceEntry, query: InstanceQuery): Selection {
  const enabled = matching(entry, enabledIn(entry, query.clusters), query)
  const healthy = enabled.filter((instance) => instance.healthy)
  if (isProtecting(entry.service.protectThreshold, { healthy: healthy.length, all: enabled.length })) {
    return { instances: enabled, protecting: true }
  }
  return { instances: query.healthyOnly ? healthy : enabled, protecting: false }
}

/** Whether so few are healthy that all are to be given. At threshold 0 never, although 0 <= 0. */
export function isProtecting(threshold: number, count: { healthy: number; all: number }): boolean {
  const { healthy, all } = count
  // Equal counts as too few: clients of this interface expect <=. Divided, because 100 * 0.29 is less than 29.
  return threshold > 0 && healthy < all && healthy / all <= threshold
}

/** Whether the protection triggers for a consumer of the whole service, without a selector: the list would say so too. */
export function isServiceProtecting(entry: ServiceEntry): boolean {
  const { protectThreshold } = entry.service
  if (protectThreshold <= 0) return false
  const taken = { healthy: 0, all: 0 }
  for (const { healthy, record } of entry.instances.values()) {
    if (!record.enabled) continue
    taken.all++
    if (healthy) taken.healthy++
  }
  return isProtecting(protectThreshold, taken)
}

/** Those of these instances whose labels are the consumer's; the same list where labels do not count. */
export function matching(
  { service }: ServiceEntry,
  instances: readonly Instance[],
  { consumer }: Pick<InstanceQuery, 'consumer'>,
): readonly Instance[] {
  return consumer === undefined ? instances : selectByLabel(service.selector, instances, consumer)
}

/** The enabled instances in these clusters; no cluster: in all. */
export function enabledIn(entry: ServiceEntry, clusters: readonly string[]): Instance[] {
  // A client may name thousands of clusters, and a service may have as many instances.
  const wanted = new Set(clusters)
  const enabled: Instance[] = []
  for (const instance of entry.instances.values()) {
    if (!instance.record.enabled) continue
    if (wanted.size === 0 || wanted.has(instance.record.address.cluster)) enabled.push(instance)
  }
  return enabled
}
