import { identityOf } from '../../text/ip-address.ts'
import { addressText } from '../state/instance.ts'
import type { InstancePlace } from '../state/presence.ts'
import { type ServiceKey, serviceKeyText } from '../state/service.ts'
import type { ServiceEntry } from '../state/service-entry.ts'

interface Absence {
  readonly place: InstancePlace
  readonly sinceMs: number
}

/** Selects at most `most` absences that began at `beforeMs` or earlier, of services for which `of` is true. */
export interface AbsenceLimit {
  readonly beforeMs: number
  readonly most: number
  readonly of: (key: ServiceKey) => boolean
}

/**
 * Since when services are abandoned and remembered metadata is without its instance (health time). Both are in the
 * order of their time, so that the time to find the oldest depends on their number only.
 */
export class Absences {
  readonly #services = new Map<ServiceEntry, number>()
  readonly #metadata = new Map<string, Absence>()
  /** The clusters of the places, by service, ip and port. */
  readonly #clusters = new Map<string, readonly string[]>()

  /** Keeps the time at which a service was abandoned, until it is no longer. */
  noteService(entry: ServiceEntry, isAbandoned: boolean, nowMs: number): void {
    if (!isAbandoned) this.#services.delete(entry)
    else if (!this.#services.has(entry)) this.#services.set(entry, nowMs)
  }

  forgetService(entry: ServiceEntry): void {
    this.#services.delete(entry)
  }

  /** The number of places with remembered metadata and without an instance. */
  get places(): number {
    return this.#metadata.size
  }

  /** The time of metadata begins again whenever it is remembered, or its instance leaves. */
  noteMetadata(place: InstancePlace, isAbsent: boolean, nowMs: number): void {
    if (!isAbsent && this.#metadata.size === 0) return
    const text = textOf(place)
    const wasAbsent = this.#metadata.delete(text)
    if (isAbsent) this.#metadata.set(text, { place, sinceMs: nowMs })
    if (isAbsent !== wasAbsent) this.#noteCluster(place, isAbsent)
  }

  /** The clusters of places with this ip and port. */
  clustersOf(serviceKey: ServiceKey, ip: string, port: number): readonly string[] {
    return this.#clusters.get(endpointText(serviceKey, ip, port)) ?? []
  }

  #noteCluster({ serviceKey, address: { ip, port, cluster } }: InstancePlace, isAbsent: boolean): void {
    const endpoint = endpointText(serviceKey, ip, port)
    const others = (this.#clusters.get(endpoint) ?? []).filter((one) => one !== cluster)
    if (isAbsent) this.#clusters.set(endpoint, [...others, cluster])
    else if (others.length > 0) this.#clusters.set(endpoint, others)
    else this.#clusters.delete(endpoint)
  }

  serviceSinceMs(entry: ServiceEntry): number | undefined {
    return this.#services.get(entry)
  }

  metadataSinceMs(place: InstancePlace): number | undefined {
    return this.#metadata.get(textOf(place))?.sinceMs
  }

  /** The services that are abandoned since `beforeMs` or longer. */
  services({ beforeMs, most, of }: AbsenceLimit): ServiceKey[] {
    const found: ServiceKey[] = []
    for (const [entry, sinceMs] of this.#services) {
      if (sinceMs > beforeMs || found.length >= most) break
      if (of(entry.service.key)) found.push(entry.service.key)
    }
    return found
  }

  /** The places whose metadata is without an instance since `beforeMs` or longer. */
  metadata({ beforeMs, most, of }: AbsenceLimit): InstancePlace[] {
    const found: InstancePlace[] = []
    for (const { place, sinceMs } of this.#metadata.values()) {
      if (sinceMs > beforeMs || found.length >= most) break
      if (of(place.serviceKey)) found.push(place)
    }
    return found
  }
}

function textOf({ serviceKey, address }: InstancePlace): string {
  return `${serviceKeyText(serviceKey)}\u0002${addressText(address)}`
}

function endpointText(serviceKey: ServiceKey, ip: string, port: number): string {
  return `${serviceKeyText(serviceKey)}\u0002${identityOf(ip)}#${port}`
}
