import { isIPv4 } from 'node:net'
import type { InstanceAddress } from '../../core/naming/state/instance.ts'
import type { Instance } from '../../core/naming/state/service-entry.ts'

/** Sorting more would hold up the others: they stay in the order in which they were registered. */
const MOST = 20_000

/**
 * Instances by address, so that an instance that is registered again keeps its place. Addresses of IPv4 come first, by
 * their numbers, then others by their text. Instances of one address follow by port and cluster.
 */
export function inAddressOrder(instances: readonly Instance[]): readonly Instance[] {
  if (instances.length > MOST) return instances
  const keyed = instances.map((instance) => ({ instance, ...keyOf(instance.record.address) }))
  return keyed
    .sort(
      (a, b) =>
        a.number - b.number || compare(a.ip, b.ip) || a.port - b.port || compare(a.cluster, b.cluster),
    )
    .map(({ instance }) => instance)
}

function keyOf({ ip, port, cluster }: InstanceAddress): InstanceAddress & { readonly number: number } {
  const number = isIPv4(ip)
    ? ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
    : Number.MAX_SAFE_INTEGER
  return { ip, port, cluster, number }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
