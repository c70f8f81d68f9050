import { ClusterSizes } from './cluster-sizes.ts'
import type { BeatTiming, InstanceAddress, InstanceRecord, Metadata } from './instance.ts'
import { InstanceTable } from './instance-table.ts'
import type { Service } from './service.ts'

/** An instance as State holds it. `Liveness` keeps its times. */
export interface Instance {
  /** The service that it belongs to. */
  readonly entry: ServiceEntry
  record: InstanceRecord
  /** Registered metadata with the remembered keys over it. */
  metadata: Metadata
  healthy: boolean
  /** Milliseconds between beats, without a beat until unhealthy, and until it leaves. */
  timing: BeatTiming
}

/**
 * A service with its instances, as State holds it. `version` counts changes, so that results computed from it
 * can be kept.
 */
export class ServiceEntry {
  service: Service
  readonly instances = new InstanceTable<Instance>()
  version = 0
  readonly clusterSizes = new ClusterSizes()
  /** How many of the instances are persistent. */
  persistent = 0
  /** When it changed last, epoch ms, never later than the clock: for people. */
  changedMs = 0
  #lastRefMs: number
  #lastStep = 0

  constructor(service: Service, lastRefMs: number) {
    this.service = service
    this.#lastRefMs = lastRefMs
  }

  /** A label of order for clients, epoch ms: every step that changes the service makes it later. It may be ahead of the clock. */
  get lastRefMs(): number {
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

  /** `lastRefMs` is later by `byMs`, and at least `leastMs`, without a change. */
  raise(leastMs: number, byMs: number): void {
    this.#lastRefMs = Math.max(this.#lastRefMs + byMs, leastMs)
    this.version++
  }

  /**
   * Notes that something changed at `atMs` (epoch ms). `step` is the number of the revision that is being applied: its
   * changes are seen together, so they share one `lastRefMs`.
   */
  touch(atMs: number, step: number): void {
    if (step !== this.#lastStep) this.#lastRefMs = Math.max(atMs, this.#lastRefMs + 1)
    this.#lastStep = step
    this.version++
  }
}
