import { enabledIn, type InstanceQuery, matching, selectInstances } from './select-instances.ts'
import type { ServiceEntry, Instance } from './service-entry.ts'

/**
 * Why a list has an instance or not. Listed: `healthy`, `unhealthy` (the list says so), `protection` (it is unhealthy,
 * and shown as healthy). Not listed: `disabled`, `other-cluster`, `selector` (its labels differ from the consumer's),
 * `unhealthy` (the consumer wants healthy ones only). `no-weight`: clients send it no calls although it is listed.
 * `short-wait`: silence counts before its next beat is due, so its health changes all the time.
 */
export const SELECTION_REASONS = [
  'healthy',
  'unhealthy',
  'protection',
  'no-weight',
  'disabled',
  'other-cluster',
  'selector',
  'short-wait',
] as const

/** One of {@link SELECTION_REASONS}. */
export type SelectionReason = (typeof SELECTION_REASONS)[number]

/** An instance, whether it is in the list, and why. */
export interface ExplainedInstance {
  readonly instance: Instance
  readonly isListed: boolean
  readonly reasons: readonly SelectionReason[]
}

/** A list, explained. */
export interface ExplainedSelection {
  readonly protecting: boolean
  /** The effect of the service's selector; `ignored`: the consumer has no such labels, or nothing shares them. */
  readonly selector: 'none' | 'applied' | 'ignored'
  readonly instances: readonly ExplainedInstance[]
}

/** Says of every instance of a service why a list has it or not. Whether it has it is read from the list itself. */
export function explainSelection(entry: ServiceEntry, query: InstanceQuery): ExplainedSelection {
  const { instances, protecting } = selectInstances(entry, query)
  const inClusters = enabledIn(entry, query.clusters)
  const chosen = matching(entry, inClusters, query)
  const lists = {
    listed: new Set(instances),
    chosen: new Set(chosen),
    clusters: new Set(query.clusters),
    protecting,
  }
  const isLabelled = entry.service.selector.type !== 'none'
  return {
    protecting,
    selector: isLabelled ? (chosen === inClusters ? 'ignored' : 'applied') : 'none',
    instances: Array.from(entry.instances.values(), (instance) => {
      const isListed = lists.listed.has(instance)
      return {
        instance,
        isListed,
        reasons: isListed ? whyListed(instance, protecting) : whyNot(instance, lists),
      }
    }),
  }
}

function whyListed({ healthy, record }: Instance, protecting: boolean): SelectionReason[] {
  const reasons: SelectionReason[] = [healthy ? 'healthy' : protecting ? 'protection' : 'unhealthy']
  if (record.weight === 0) reasons.push('no-weight')
  return reasons
}

function whyNot(
  instance: Instance,
  { clusters, chosen }: { clusters: ReadonlySet<string>; chosen: ReadonlySet<Instance> },
): SelectionReason[] {
  const { enabled, address } = instance.record
  const reasons: SelectionReason[] = []
  if (!enabled) reasons.push('disabled')
  if (clusters.size > 0 && !clusters.has(address.cluster)) reasons.push('other-cluster')
  if (reasons.length > 0) return reasons
  return [chosen.has(instance) ? 'unhealthy' : 'selector']
}
