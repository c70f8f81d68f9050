import { groupOf, type Service, type ServiceKey } from './service.ts'
import { ServiceEntry } from './service-entry.ts'

/** All services, by namespace and grouped name. Written by State alone. */
export class ServiceTable {
  readonly #byNamespace = new Map<string, Map<string, ServiceEntry>>()
  readonly #sorted = new Map<string, string[]>()
  #size = 0
  /** The last lookup: one command asks for the same service several times. */
  #asked: ServiceKey | undefined
  #found: ServiceEntry | undefined
  /** New entries start here, so that a service that comes back never goes back in time. */
  #floorMs: number

  constructor(floorMs: number) {
    this.#floorMs = floorMs
  }

  /** How many services there are. */
  get size(): number {
    return this.#size
  }

  /** No removed service had a later `lastRefMs`: the answer for an unknown service. */
  get floorMs(): number {
    return this.#floorMs
  }

  get(key: ServiceKey): ServiceEntry | undefined {
    if (key !== this.#asked) {
      this.#found = this.#byNamespace.get(key.namespaceId)?.get(key.groupedName)
      this.#asked = key
    }
    return this.#found
  }

  /** Every service there is, in no particular order. */
  *all(): Generator<ServiceEntry> {
    for (const services of this.#byNamespace.values()) yield* services.values()
  }

  /** The services of a namespace, in no particular order. */
  inNamespace(namespaceId: string): Iterable<ServiceEntry> {
    return this.#byNamespace.get(namespaceId)?.values() ?? []
  }

  /** The sorted ids of the namespaces that hold services. */
  namespaces(): string[] {
    return [...this.#byNamespace.keys()].sort()
  }

  /** The sorted grouped names of a namespace, of one group or of all (undefined); kept until they change. */
  names(namespaceId: string, group: string | undefined): readonly string[] {
    const kept = this.#sorted.get(sortedKey(namespaceId, group))
    if (kept !== undefined) return kept
    const names: string[] = []
    for (const groupedName of this.#byNamespace.get(namespaceId)?.keys() ?? []) {
      if (group === undefined || groupOf(groupedName) === group) names.push(groupedName)
    }
    names.sort()
    if (names.length > 0) this.#sorted.set(sortedKey(namespaceId, group), names)
    return names
  }

  /** Makes or replaces the record of a service; its instances stay. */
  save(service: Service): ServiceEntry {
    const entry = this.get(service.key)
    if (entry !== undefined) {
      entry.service = service
      return entry
    }
    const made = new ServiceEntry(service, this.#floorMs)
    const { namespaceId, groupedName } = service.key
    const services = this.#byNamespace.get(namespaceId)
    if (services === undefined) this.#byNamespace.set(namespaceId, new Map([[groupedName, made]]))
    else services.set(groupedName, made)
    this.#size++
    this.#forgetSorted(service.key)
    return made
  }

  /** Every `lastRefMs` is later by `byMs`, and at least `leastMs`: also of services that are not there. */
  raise(leastMs: number, byMs: number): void {
    this.#floorMs = Math.max(this.#floorMs + byMs, leastMs)
    for (const entry of this.all()) entry.raise(leastMs, byMs)
  }

  delete(key: ServiceKey): void {
    const services = this.#byNamespace.get(key.namespaceId)
    const entry = services?.get(key.groupedName)
    if (services === undefined || entry === undefined) return
    this.#floorMs = Math.max(this.#floorMs, entry.lastRefMs)
    services.delete(key.groupedName)
    if (services.size === 0) this.#byNamespace.delete(key.namespaceId)
    this.#size--
    this.#forgetSorted(key)
  }

  #forgetSorted(key: ServiceKey): void {
    this.#asked = undefined
    this.#found = undefined
    this.#sorted.delete(sortedKey(key.namespaceId, undefined))
    this.#sorted.delete(sortedKey(key.namespaceId, groupOf(key.groupedName)))
  }
}

function sortedKey(namespaceId: string, group: string | undefined): string {
  return group === undefined ? namespaceId : `${namespaceId}\u0002${group}`
}
