import type { HealthChecker } from '../../core/naming/state/health-checker.ts'
import type { Liveness } from '../../core/naming/liveness/liveness.ts'
import { existingService } from '../../core/naming/commands/service-commands.ts'
import type { ServiceEntry, Instance } from '../../core/naming/state/service-entry.ts'
import { groupOf, type ServiceKey, serviceNameOf } from '../../core/naming/state/service.ts'
import type { Now } from '../../core/decisions/stamps.ts'
import { Refusal } from '../../core/refusal.ts'
import type { State } from '../../core/engine/state.ts'
import { afterwards } from '../afterwards.ts'
import type { Collected, ListedSubscriber } from '../../core/clients/client-views.ts'
import type { ClientViews } from '../client-views.ts'
import type { Caller } from '../authorisation.ts'
import { turnOf } from '../../core/access/turn-of.ts'
import type { Guard } from '../guard.ts'
import { beatAgoMs } from './beats.ts'
import type { InTurns, LongWalks } from '../../core/work/long-walks.ts'
import { type Page, pageOf, type PageRequest } from '../page.ts'
import { clusterNames, READ_SERVICE, serviceResource, someServices } from './services.ts'

interface CatalogParts {
  readonly guard: Guard
  readonly state: State
  readonly views: Pick<ClientViews, 'subscribers'>
  readonly liveness: Pick<Liveness, 'lastBeatOf'>
  readonly clock: () => Now
  readonly walks: Pick<LongWalks, 'pieces'>
}

/** An instance, and when its client last beat, epoch ms; undefined: it does not beat, or beats at another server. */
export interface ListedInstance {
  readonly instance: Instance
  readonly lastBeatMs: number | undefined
}

/** A page of any length. */
export interface LongPage<T> extends Page<T> {
  readonly inTurns: InTurns
}

/** A page of instances. `beatIntervalMs`: the default interval of beats. */
export interface InstancePage extends LongPage<ListedInstance> {
  readonly beatIntervalMs: number
}

/** A page of the services of a namespace whose names hold these texts. */
export interface EntriesRequest {
  readonly namespaceId: string
  readonly inServiceName: string
  readonly inGroup: string
  /** Only services that have instances. */
  readonly onlyInhabited: boolean
  readonly page: PageRequest
}

/** A page of the instances of a service; `cluster` undefined: of all clusters. */
export interface InstancesRequest {
  readonly key: ServiceKey
  readonly cluster: string | undefined
  readonly page: PageRequest
}

/**
 * A page of the subscribers of a service. `isPushed`: without clients that only read its list, and each client once,
 * however many connections or clusters it subscribes by.
 */
export interface SubscribersRequest {
  readonly key: ServiceKey
  readonly isPushed: boolean
  readonly page: PageRequest
}

/** The names of services by namespace; `namespaceId` undefined: of every namespace. */
export interface NamesRequest {
  readonly namespaceId: string | undefined
  /** Only services whose own name holds this text. */
  readonly part: string
}

/** The checkers of clusters, with their defaults. */
const CHECKERS = [
  { type: 'NONE' },
  { type: 'TCP' },
  { type: 'HTTP', path: '', headers: '', expectedResponseCode: 200 },
  { type: 'MYSQL', user: '', pwd: '', cmd: '' },
] as const satisfies readonly HealthChecker[]

/** Makes the views of services. */
export function catalogOperations(parts: CatalogParts) {
  const turnsOf = (caller: Caller): InTurns => {
    const client = turnOf(caller)
    return (made) => parts.walks.pieces(client, made)
  }
  return { ...serviceViews(parts, turnsOf), ...instanceViews(parts, turnsOf) }
}

function serviceViews({ guard, state }: CatalogParts, turnsOf: (caller: Caller) => InTurns) {
  return {
    /** Services with their instances, sorted by name. */
    entries: guard.listing({
      permission: READ_SERVICE,
      scope: someServices,
      find: (request: EntriesRequest) => matchingNames(state, request),
      resource: (groupedName, { namespaceId }) => serviceResource({ namespaceId, groupedName }),
      run: (names, { namespaceId, page }, caller): LongPage<ServiceEntry> => {
        const entryOf = (groupedName: string) => state.services.get({ namespaceId, groupedName }) ?? []
        return {
          entries: pageOf(names, page).flatMap(entryOf),
          totalCount: names.length,
          inTurns: turnsOf(caller),
        }
      },
    }),
    /** The grouped names of services by namespace. A namespace that is asked for is there also without any. */
    names: guard.listing({
      permission: READ_SERVICE,
      scope: someServices,
      find: ({ namespaceId }: NamesRequest) => keysIn(state, namespaceId),
      resource: serviceResource,
      run: (keys, { namespaceId, part }) => {
        const names = new Map<string, string[]>(namespaceId === undefined ? [] : [[namespaceId, []]])
        for (const key of keys) {
          const known = names.get(key.namespaceId) ?? []
          names.set(key.namespaceId, known)
          if (serviceNameOf(key.groupedName).includes(part)) known.push(key.groupedName)
        }
        return names as ReadonlyMap<string, readonly string[]>
      },
    }),
    /** The checkers of clusters. */
    healthCheckers: guard.operation({
      permission: READ_SERVICE,
      resources: () => [someServices({ namespaceId: undefined })],
      run: () => CHECKERS,
    }),
  }
}

function instanceViews(
  { guard, state, views, liveness, clock }: CatalogParts,
  turnsOf: (caller: Caller) => InTurns,
) {
  return {
    /** All instances of a service, disabled ones too. Refusals `service-not-found`, `cluster-not-found`. */
    instances: guard.operation({
      permission: READ_SERVICE,
      resources: ({ key }: InstancesRequest) => [serviceResource(key)],
      run: ({ key, cluster, page }, caller): InstancePage => {
        const found = instancesOf(state, key, cluster)
        const now = clock()
        const entries = pageOf(found, page).map((instance) => {
          const agoMs = beatAgoMs({ liveness }, instance, now)
          return { instance, lastBeatMs: agoMs === undefined ? undefined : now.wallMs - agoMs }
        })
        const beatIntervalMs = state.switches.clientBeatInterval
        return { entries, totalCount: found.length, beatIntervalMs, inTurns: turnsOf(caller) }
      },
    }),
    /** The subscribers of changes of a service. */
    subscribers: guard.operation({
      permission: READ_SERVICE,
      resources: ({ key }: SubscribersRequest) => [serviceResource(key)],
      run: ({ key, isPushed, page }) =>
        afterwards(views.subscribers(key), ({ value, missing }): Collected<Page<ListedSubscriber>> => {
          const all = isPushed ? pushedOnce(value) : value
          return { value: { entries: pageOf(all, page), totalCount: all.length }, missing }
        }),
    }),
  }
}

function matchingNames(
  { services }: State,
  { namespaceId, inServiceName, inGroup, onlyInhabited }: EntriesRequest,
): readonly string[] {
  const all = services.names(namespaceId, undefined)
  if (inServiceName === '' && inGroup === '' && !onlyInhabited) return all
  return all.filter((groupedName) => {
    const isNamed =
      serviceNameOf(groupedName).includes(inServiceName) && groupOf(groupedName).includes(inGroup)
    if (!isNamed || !onlyInhabited) return isNamed
    return (services.get({ namespaceId, groupedName })?.instances.size ?? 0) > 0
  })
}

function keysIn({ services }: State, namespaceId: string | undefined): ServiceKey[] {
  const namespaceIds = namespaceId === undefined ? services.namespaces() : [namespaceId]
  return namespaceIds.flatMap((id) =>
    services.names(id, undefined).map((groupedName) => ({ namespaceId: id, groupedName })),
  )
}

function instancesOf(state: State, key: ServiceKey, cluster: string | undefined): Instance[] {
  const service = existingService(state, key)
  const entry = state.services.get(key)
  const all = [...(entry?.instances.values() ?? [])]
  if (cluster === undefined) return all
  if (!clusterNames(service, entry).includes(cluster))
    throw new Refusal('cluster-not-found', `cluster ${cluster} is not found!`, { names: { cluster } })
  return all.filter(({ record }) => record.address.cluster === cluster)
}

function pushedOnce(subscribers: readonly ListedSubscriber[]): ListedSubscriber[] {
  const known = new Set<string>()
  return subscribers.filter((one) => {
    const client = clientText(one)
    if (one.via === 'poll' || known.has(client)) return false
    known.add(client)
    return true
  })
}

/** All that tells a client of a service from others. Pushes by UDP go to a port of its own. */
function clientText({ toldIp, address, port, agent, app, via }: ListedSubscriber): string {
  return JSON.stringify(via === 'udp' ? [address, port, agent, app] : [toldIp, agent, app])
}
