import { hasAddress } from '../../core/text/ip-address.ts'
import { isServiceProtecting } from '../../core/naming/state/select-instances.ts'
import type { ServiceEntry, Instance } from '../../core/naming/state/service-entry.ts'
import { groupOf, type ServiceKey, serviceNameOf } from '../../core/naming/state/service.ts'
import type { State } from '../../core/engine/state.ts'
import { FirstEntries } from './first-entries.ts'
import { askerOf } from '../authorisation.ts'
import type { Guard, Resource } from '../guard.ts'
import { hasMetadata } from './instance-views.ts'
import type { LongWalks, Turns } from '../../core/work/long-walks.ts'
import { cutPage, type PageRequest, pageOf } from '../page.ts'
import { READ_SERVICE, serviceResource, someServices } from '../naming/services.ts'
import { servicesToLookAt } from './readable.ts'

interface ServiceInventoryParts {
  readonly guard: Guard
  readonly state: Pick<State, 'services'>
  /** The subscribers of this server: a list does not ask the others. */
  readonly pushes: { list(key: ServiceKey): readonly unknown[] }
  readonly walks: LongWalks
}

/** Conditions of a service. */
export const SERVICE_HEALTHS = ['unhealthy', 'protecting', 'empty', 'disabled'] as const
/** The orders of a list. */
export const SERVICE_ORDERS = ['name', 'namespaceId', 'ipCount', 'lastChangeMs'] as const

/** A page of the services that are looked for; an empty text finds all. */
export interface ServiceInventoryRequest {
  /** Undefined: every namespace. */
  readonly namespaceId: string | undefined
  /** A part of the name or the group, in any case. */
  readonly text: string
  /** The whole group. */
  readonly group: string
  readonly health: (typeof SERVICE_HEALTHS)[number] | undefined
  /** A part of the `ip:port` of an instance. */
  readonly address: string
  /** A key of the metadata of the service or of an instance, or a key and its value. */
  readonly metadata: readonly [name: string, value: string | undefined] | undefined
  readonly sort: (typeof SERVICE_ORDERS)[number]
  readonly isDescending: boolean
  readonly page: PageRequest
}

/** A service with its figures. */
export interface ServiceFigures {
  readonly entry: ServiceEntry
  readonly healthyCount: number
  readonly disabledCount: number
  /** Enabled instances only. */
  readonly unhealthyCount: number
  readonly isProtecting: boolean
}

/** A service of the list. */
export interface ListedService extends ServiceFigures {
  readonly subscriberCount: number
}

/** A page of the list. */
export interface ServiceInventory {
  readonly page: PageRequest
  readonly totalCount: number
  /** Whether it took too long: then there may be others. */
  readonly isTruncated: boolean
  readonly entries: readonly ListedService[]
}

/** Makes the operations that show services to people. */
export function serviceInventoryOperations(parts: ServiceInventoryParts) {
  const { guard } = parts
  return {
    /** A page of the services of one namespace or of all, as far as the caller may read them. */
    list: guard.operation({
      permission: READ_SERVICE,
      resources: (request: ServiceInventoryRequest) => [someServices(request)],
      run: (request, caller) =>
        parts.walks.run(askerOf(caller), (turns) =>
          findAll({ ...parts, turns, shows: (resource) => guard.shows(caller, 'read', resource) }, request),
        ),
    }),
  }
}

interface FindingParts extends Pick<ServiceInventoryParts, 'state' | 'pushes'> {
  readonly turns: Turns
  /** Whether the caller may read something. */
  readonly shows: (resource: Resource) => boolean
}

async function findAll(
  { state, pushes, turns, shows }: FindingParts,
  request: ServiceInventoryRequest,
): Promise<ServiceInventory> {
  const page = cutPage(request.page)
  const found = new FirstEntries<ServiceEntry>(page.pageNo * page.pageSize, comparison(request))
  const isMeant = serviceFilter(request)
  let isTruncated = false
  for (const entry of servicesToLookAt(state.services, request.namespaceId, shows)) {
    if (turns.isDue && !(await turns.turn())) {
      isTruncated = true
      break
    }
    if (isMeant(entry) && shows(serviceResource(entry.service.key))) found.add(entry)
  }
  const entries = pageOf(await found.sorted(turns), page).map((entry) => {
    return { ...figuresOf(entry), subscriberCount: pushes.list(entry.service.key).length }
  })
  return { page, totalCount: found.count, isTruncated, entries }
}

/** The figures of a service: it walks over all of its instances. */
export function figuresOf(entry: ServiceEntry): ServiceFigures {
  let [healthyCount, disabledCount, unhealthyCount] = [0, 0, 0]
  for (const { healthy, record } of entry.instances.values()) {
    if (healthy) healthyCount++
    if (!record.enabled) disabledCount++
    else if (!healthy) unhealthyCount++
  }
  return { entry, healthyCount, disabledCount, unhealthyCount, isProtecting: isServiceProtecting(entry) }
}

function serviceFilter(request: ServiceInventoryRequest): (entry: ServiceEntry) => boolean {
  const { group, address, metadata } = request
  const text = request.text.toLowerCase()
  return (entry) => {
    const { key } = entry.service
    if (group !== '' && groupOf(key.groupedName) !== group) return false
    if (!key.groupedName.toLowerCase().includes(text)) return false
    if (!hasHealth(entry, request.health)) return false
    if (address !== '' && !someInstance(entry, ({ record }) => hasAddress(record.address, address)))
      return false
    if (metadata === undefined) return true
    const [name, value] = metadata
    return (
      hasMetadata(entry.service.metadata, name, value) ||
      someInstance(entry, (instance) => hasMetadata(instance.metadata, name, value))
    )
  }
}

function hasHealth(entry: ServiceEntry, health: ServiceInventoryRequest['health']): boolean {
  switch (health) {
    case undefined:
      return true
    case 'empty':
      return entry.instances.size === 0
    case 'unhealthy':
      return someInstance(entry, ({ healthy, record }) => !healthy && record.enabled)
    case 'disabled':
      return someInstance(entry, ({ record }) => !record.enabled)
    case 'protecting':
      return figuresOf(entry).isProtecting
  }
}

function someInstance(entry: ServiceEntry, is: (instance: Instance) => boolean): boolean {
  for (const instance of entry.instances.values()) if (is(instance)) return true
  return false
}

function comparison({ sort, isDescending }: ServiceInventoryRequest) {
  const sign = isDescending ? -1 : 1
  const valueOf = SORTED_BY[sort]
  return (a: ServiceEntry, b: ServiceEntry): number => {
    const [left, right] = [valueOf(a), valueOf(b)]
    if (left !== right) return left < right ? -sign : sign
    return nameOf(a) < nameOf(b) ? -1 : 1
  }
}

const SORTED_BY: Readonly<Record<ServiceInventoryRequest['sort'], (entry: ServiceEntry) => string | number>> =
  {
    name: ({ service }) => serviceNameOf(service.key.groupedName),
    namespaceId: ({ service }) => service.key.namespaceId,
    ipCount: ({ instances }) => instances.size,
    lastChangeMs: ({ changedMs }) => changedMs,
  }

function nameOf({ service }: ServiceEntry): string {
  return `${service.key.groupedName} ${service.key.namespaceId}`
}
