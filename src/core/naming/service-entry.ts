import { ClusterSizes } from './cluster-sizes.ts'
import type { Instance, InstanceAddress } from './instance.ts'
import { InstanceTable } from './instance-table.ts'
import type { Service } from './service.ts'

/** A number too, so that the engine writes the times into the entry and makes no object for each. */
const ALL_TOLD = -Infinity

/**
 * A service with its instances, as State holds it. `version` counts changes, for whoever keeps something
 * made from it.
 */
export class ServiceEntry {
  service: Service
  readonly instances = new InstanceTable()
  version = 0
  readonly clusterSizes = new ClusterSizes()
  #lastRefMs: number
  /** The time of a change that nobody has been told of, {@link ALL_TOLD} where there is none. */
  #untoldMs = ALL_TOLD

  constructor(service: Service, lastRefMs: number) {
    this.service = service
    this.#lastRefMs = lastRefMs
  }

  /**
   * The time of the last change, which strictly increases from one telling to the next. Changes that nobody
   * was told of share one step: if each took one, ten thousand instances would put it ten seconds ahead of the
   * clock, and the next start of the server could not know how far.
   */
  get lastRefMs(): number {
    if (this.#untoldMs !== ALL_TOLD) this.#lastRefMs = Math.max(this.#untoldMs, this.#lastRefMs + 1)
    this.#untoldMs = ALL_TOLD
    return this.#lastRefMs
  }

  get(address: InstanceAddress): Instance | undefined {
    return this.instances.get(address)
  }

  /** The instances at an ip and port, in whatever cluster. */
  anywhere(ip: string, port: number): Instance[] {
    const found: Instance[] = []
    for (const cluster of this.clusterSizes.names()) {
      const instance = this.instances.get({ ip, port, cluster })
      if (instance !== undefined) found.push(instance)
    }
    return found
  }

  add(instance: Instance): void {
    this.instances.add(instance)
    this.clusterSizes.add(instance.record.address.cluster)
  }

  delete(instance: Instance): void {
    const { address } = instance.record
    if (this.instances.delete(address)) this.clusterSizes.remove(address.cluster)
  }

  /** Notes that something changed at `atMs` (epoch ms), which moves `lastRefMs` forward in any case. */
  touch(atMs: number): void {
    this.#untoldMs = Math.max(atMs, this.#untoldMs)
    this.version++
  }
}
