import { refuseDamagedService } from '../../core/naming/state/damaged-service.ts'
import type { Engine } from '../../core/engine/ports.ts'
import { DEFAULT_CHECKER, shownChecker, type ShownChecker } from '../../core/naming/state/health-checker.ts'
import {
  createService,
  deleteService,
  existingService,
  saveCluster,
  type SentCluster,
  type ServiceSettings,
  updateService,
} from '../../core/naming/commands/service-commands.ts'
import type { ServiceEntry } from '../../core/naming/state/service-entry.ts'
import { conditionsOfExpression, meetsConditions } from '../../core/naming/state/service-filter.ts'
import type { Cluster, Service, ServiceKey } from '../../core/naming/state/service.ts'
import type { State } from '../../core/engine/state.ts'
import type { Guard, Resource } from '../guard.ts'
import { type Page, pageOf, type PageRequest } from '../page.ts'

interface ServiceParts {
  readonly guard: Guard
  readonly state: State
  readonly engine: Pick<Engine, 'execute'>
}

/** The key of a service, and its settings by an operator. */
export interface ServiceRequest extends ServiceSettings {
  readonly key: ServiceKey
}

/** A page of the services of a namespace, by name. */
export interface ServicesRequest {
  readonly namespaceId: string
  /** Undefined: of every group. */
  readonly group: string | undefined
  /** Conditions on metadata, as `conditionsOfExpression` reads them; may be empty. */
  readonly filter: string
  readonly page: PageRequest
}

/** A service with its clusters, by name: each has instances or was configured. */
export interface ServiceDetail {
  readonly service: Service
  readonly clusters: readonly ShownCluster[]
  /** Whether an instance of it is ephemeral. */
  readonly hasEphemeral: boolean
}

/** A cluster as it is shown: the defaults where nobody has configured it, and no secrets. */
export interface ShownCluster extends Omit<Cluster, 'healthChecker'> {
  readonly healthChecker: ShownChecker
}

/** The permissions of operations on services and their instances. */
export const READ_SERVICE = { action: 'read', resource: 'naming' } as const
export const WRITE_SERVICE = { action: 'write', resource: 'naming' } as const

/** Makes the operations on services. They refuse as the commands in core do. */
export function serviceOperations(parts: ServiceParts) {
  return { ...readOperations(parts), ...writeOperations(parts) }
}

function readOperations({ guard, state }: ServiceParts) {
  return {
    /** The service, or Refusal `service-not-found`. */
    read: guard.operation({
      permission: READ_SERVICE,
      resources: (key: ServiceKey) => [serviceResource(key)],
      run: (key) => serviceDetail(state, key),
    }),
    /** The grouped names of a page of services, sorted. */
    list: guard.listing({
      permission: READ_SERVICE,
      scope: someServices,
      find: ({ namespaceId, group, filter }: ServicesRequest) =>
        filtered(state, { namespaceId, filter, names: state.services.names(namespaceId, group) }),
      resource: (groupedName, { namespaceId }) => serviceResource({ namespaceId, groupedName }),
      run: (names, { page }): Page<string> => ({ entries: pageOf(names, page), totalCount: names.length }),
    }),
  }
}

function writeOperations({ guard, engine }: ServiceParts) {
  const resources = ({ key }: { key: ServiceKey }) => [serviceResource(key)]
  return {
    create: guard.operation({
      permission: WRITE_SERVICE,
      audit: { operation: 'create service' },
      resources,
      run: ({ key, ...settings }: ServiceRequest) => engine.execute(createService(key, settings)),
    }),
    update: guard.operation({
      permission: WRITE_SERVICE,
      audit: { operation: 'update service' },
      resources,
      run: ({ key, ...settings }: ServiceRequest) => engine.execute(updateService(key, settings)),
    }),
    remove: guard.operation({
      permission: WRITE_SERVICE,
      audit: { operation: 'delete service' },
      resources,
      run: ({ key }) => engine.execute(deleteService(key)),
    }),
    saveCluster: guard.operation({
      permission: WRITE_SERVICE,
      audit: { operation: 'save cluster', item: ({ cluster }) => cluster.name },
      resources,
      run: ({ key, cluster }: { key: ServiceKey; cluster: SentCluster }) =>
        engine.execute(saveCluster(key, cluster)),
    }),
  }
}

/** A service as permissions name it. */
export function serviceResource(key: ServiceKey): Resource {
  return { kind: 'service', key }
}

/** At least one service of a namespace, as permissions name it; of any where it is undefined. */
export function someServices({ namespaceId }: { namespaceId: string | undefined }): Resource {
  return { kind: 'some-services', namespaceId }
}

/** The service and its clusters, or Refusal `service-not-found`. */
function serviceDetail(state: State, key: ServiceKey): ServiceDetail {
  refuseDamagedService(state, key)
  const service = existingService(state, key)
  const entry = state.services.get(key)
  const clusters = clusterNames(service, entry).map((name) => shownCluster(service, name))
  return { service, clusters, hasEphemeral: hasEphemeral(entry) }
}

function hasEphemeral(entry: ServiceEntry | undefined): boolean {
  for (const { record } of entry?.instances.values() ?? []) if (record.ephemeral) return true
  return false
}

/** The sorted names of the clusters of a service: each has instances or was configured. */
export function clusterNames(service: Service, entry: ServiceEntry | undefined): string[] {
  return [...new Set([...Object.keys(service.clusters), ...(entry?.clusterSizes.names() ?? [])])].sort()
}

const DEFAULT_CHECK_PORT = 80

function shownCluster({ clusters }: Service, name: string): ShownCluster {
  const cluster = clusters[name]
  return {
    name,
    healthChecker: shownChecker(cluster?.healthChecker ?? DEFAULT_CHECKER),
    checkPort: cluster?.checkPort ?? DEFAULT_CHECK_PORT,
    useInstancePort4Check: cluster?.useInstancePort4Check ?? true,
    metadata: cluster?.metadata ?? {},
  }
}

function filtered(
  state: State,
  { namespaceId, filter, names }: { namespaceId: string; filter: string; names: readonly string[] },
): readonly string[] {
  const conditions = conditionsOfExpression(filter)
  if (conditions.length === 0) return names
  return names.filter((groupedName) => {
    const entry = state.services.get({ namespaceId, groupedName })
    return entry !== undefined && meetsConditions(entry, conditions)
  })
}
