import { identityOf } from '../../text/ip-address.ts'
import type { Metadata } from './instance.ts'
import type { Instance } from './service-entry.ts'

/**
 * The instances at each address, for the labels of selectors. It is built when it is first asked for: few
 * installations have a label selector, and the others should not pay for one.
 */
export class AddressIndex {
  #byIp: Map<string, Set<Instance>> | undefined

  /** The metadata of all instances at an address, in a namespace; `all` gives every instance there is. */
  labelsAt(ip: string, namespaceId: string, all: () => Iterable<Instance>): Metadata[] {
    this.#byIp ??= indexOf(all())
    const labels: Metadata[] = []
    for (const instance of this.#byIp.get(identityOf(ip)) ?? []) {
      if (instance.entry.service.key.namespaceId === namespaceId) labels.push(instance.metadata)
    }
    return labels
  }

  add(instance: Instance): void {
    if (this.#byIp !== undefined) put(this.#byIp, instance)
  }

  delete(instance: Instance): void {
    const ip = identityOf(instance.record.address.ip)
    const here = this.#byIp?.get(ip)
    here?.delete(instance)
    if (here?.size === 0) this.#byIp?.delete(ip)
  }
}

function indexOf(instances: Iterable<Instance>): Map<string, Set<Instance>> {
  const byIp = new Map<string, Set<Instance>>()
  for (const instance of instances) put(byIp, instance)
  return byIp
}

function put(byIp: Map<string, Set<Instance>>, instance: Instance): void {
  const ip = identityOf(instance.record.address.ip)
  const here = byIp.get(ip)
  if (here === undefined) byIp.set(ip, new Set([instance]))
  else here.add(instance)
}
