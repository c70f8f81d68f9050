import type { ListPage } from './configs.ts'
import { request, requestCollected, requestText } from './request.ts'
import type {
  CatalogService,
  ExplainedInstancePage as Explanation,
  ListedService,
  ShownInstance as Instance,
  ServiceCluster,
  Subscriber,
  Timeline,
} from './answers.ts'

export type {
  CatalogService,
  ExplainedInstance,
  ExplainedInstancePage as Explanation,
  ListedService,
  HealthChecker,
  ShownInstance as Instance,
  ServiceCluster,
  Subscriber,
  TimelineEntry,
} from './answers.ts'

/** The names of a service. */
export interface ServiceName {
  /** Empty: the default namespace. */
  readonly namespaceId: string
  readonly groupName: string
  readonly serviceName: string
}

const NAMING = 'svc/v1/ns'
const METADATA_BATCH = `${NAMING}/instance/metadata/batch`
const CONSOLE = 'svc/v1/console'

/** The states to which a list of services can be narrowed. */
export type ServiceHealth = 'unhealthy' | 'protecting' | 'empty' | 'disabled'

/** The search of a list of services. */
export interface ServiceFilter {
  /** `*`: all that the user may read. */
  readonly namespaceId: string
  /** A part of the name or the group. */
  readonly text: string
  /** A part of the address of an instance. */
  readonly ip: string
  readonly health: string
  readonly pageNo: number
  readonly pageSize: number
}

/** A page of the services that match. `truncated`: there may be more, the search took too long. */
export const findServices = (
  filter: ServiceFilter,
): Promise<ListPage<ListedService> & { readonly truncated: boolean }> =>
  request('GET', `${CONSOLE}/services`, {
    query: {
      namespaceId: filter.namespaceId || undefined,
      text: filter.text || undefined,
      ip: filter.ip || undefined,
      health: filter.health || undefined,
      pageNo: filter.pageNo,
      pageSize: filter.pageSize,
    },
  })

/** A service; rejects with the problem `service-not-found`. */
export const readService = (name: ServiceName): Promise<CatalogService> =>
  request('GET', `${NAMING}/catalog/service`, { query: named(name) })

/** Which instances a list is narrowed to; an empty text finds all. */
export interface InstanceFilter {
  /** A part of the address. */
  readonly ip: string
  readonly clusterName: string
  /** A key of the metadata, or `key=value`. */
  readonly metadata: string
  readonly healthy?: boolean
  readonly enabled?: boolean
  readonly pageNo: number
  readonly pageSize: number
}

/** A page of the instances of a service, disabled ones included. */
export const readInstances = (name: ServiceName, filter: InstanceFilter): Promise<ListPage<Instance>> =>
  request('GET', `${CONSOLE}/instances`, {
    query: {
      ...named(name),
      ...filter,
      ip: filter.ip || undefined,
      clusterName: filter.clusterName || undefined,
      metadata: filter.metadata || undefined,
    },
  })

/** How a client asks for a list. */
export interface ListQuery {
  /** The address of the client; empty: of this browser. */
  readonly ip: string
  /** Separated by commas; empty: all. */
  readonly clusters: string
  readonly healthyOnly: boolean
  readonly pageNo: number
  readonly pageSize: number
}

/** Says of each instance why a client gets it or not. */
export const explainList = (name: ServiceName, asked: ListQuery): Promise<Explanation> =>
  request('GET', `${CONSOLE}/explain`, {
    query: { ...named(name), ...asked, ip: asked.ip || undefined, clusters: asked.clusters || undefined },
  })

/** The events of the instances of a service; `ip` is a part of their addresses. */
export const readTimeline = (name: ServiceName, ip: string): Promise<Timeline> =>
  request('GET', `${CONSOLE}/timeline`, { query: { ...named(name), ip: ip || undefined } })

/** The fields of a service that people set. */
export interface ServiceSettings {
  /** The expression of its label selector; empty: none. Absent: as it is. */
  readonly expression?: string
  readonly protectThreshold: number
  readonly metadata: Readonly<Record<string, string>>
}

/** Makes a service without instances. */
export const createService = (name: ServiceName, settings: ServiceSettings): Promise<string> =>
  requestText('POST', `${NAMING}/service`, { form: { ...named(name), ...settingsOf(settings) } })

/** Changes a service. */
export const updateService = (name: ServiceName, settings: ServiceSettings): Promise<string> =>
  requestText('PUT', `${NAMING}/service`, { form: { ...named(name), ...settingsOf(settings) } })

/** Changes how a cluster is probed. A secret that is left out stays. */
export const saveChecker = (name: ServiceName, cluster: ServiceCluster): Promise<string> =>
  requestText('PUT', `${NAMING}/cluster`, {
    form: {
      ...named(name),
      clusterName: cluster.name,
      checkPort: cluster.defaultCheckPort,
      useInstancePort4Check: cluster.useIPPort4Check,
      healthChecker: JSON.stringify(cluster.healthChecker),
      metadata: JSON.stringify(cluster.metadata),
    },
  })

/** Deletes a service; rejects with the problem `service-not-empty`. */
export const deleteService = (name: ServiceName): Promise<string> =>
  requestText('DELETE', `${NAMING}/service`, { query: named(name) })

type Many = readonly Instance[]

/** Changes weight or enabled of instances, or lifts what operators have set. Resolves with the ids of the instances that are not there any more. */
export async function changeInstances(
  name: ServiceName,
  instances: Many,
  change: {
    readonly weight?: number | undefined
    readonly enabled?: boolean | undefined
    readonly lift?: true
  },
): Promise<readonly string[]> {
  const form = { ...named(name), instances: locators(instances), ...change }
  const answer = await request<{ notFound: readonly string[] }>('PUT', `${NAMING}/instance/batch`, { form })
  return answer.notFound
}

/** Writes keys over the metadata of instances; they stay there when the instances register again. */
export const writeMetadata = (
  name: ServiceName,
  instances: Many,
  metadata: Instance['metadata'],
): Promise<object> => request('PUT', METADATA_BATCH, { form: batchOf(name, instances, metadata) })

/** Removes keys from the metadata of instances. */
export const removeMetadata = (
  name: ServiceName,
  instances: Many,
  keys: readonly string[],
): Promise<object> => {
  const metadata = Object.fromEntries(keys.map((key) => [key, '']))
  return request('DELETE', METADATA_BATCH, { form: batchOf(name, instances, metadata) })
}

const batchOf = (name: ServiceName, instances: Many, metadata: Instance['metadata']) => ({
  ...named(name),
  // These two operations want it to be named.
  namespaceId: name.namespaceId || 'public',
  instances: locators(instances),
  metadata: JSON.stringify(metadata),
})

const locators = (instances: Many): string => JSON.stringify(instances.map(placed))

/** An instance by its place. */
type PlacedInstance = Parameters<typeof placed>[0]

/** Registers an instance as an application does. */
export const register = (
  name: ServiceName,
  instance: PlacedInstance & { readonly metadata: string },
): Promise<string> => requestText('POST', `${NAMING}/instance`, { form: { ...named(name), ...instance } })

/** Sends a beat as an application does. */
export const beat = (name: ServiceName, { ip, port, clusterName }: PlacedInstance): Promise<string> =>
  requestText('PUT', `${NAMING}/instance/beat`, { form: { ...named(name), ip, port, clusterName } })

/** Removes an instance. One that still sends beats comes back. */
export const deregister = (name: ServiceName, instance: PlacedInstance): Promise<string> =>
  requestText('DELETE', `${NAMING}/instance`, { query: { ...named(name), ...placed(instance) } })

/** A page of the clients that follow a service: they get its changes, or read its list. */
export const readSubscribers = (
  name: ServiceName,
  pageNo: number,
  pageSize: number,
): Promise<{
  readonly subscribers: readonly Subscriber[]
  readonly count: number
  readonly missingServers: readonly string[]
}> =>
  requestCollected('GET', `${NAMING}/service/subscribers`, { query: { ...named(name), pageNo, pageSize } })

function named({ namespaceId, groupName, serviceName }: ServiceName): {
  namespaceId: string | undefined
  groupName: string
  serviceName: string
} {
  return { namespaceId: namespaceId || undefined, groupName, serviceName }
}

function placed({
  ip,
  port,
  clusterName,
  ephemeral,
}: Pick<Instance, 'ip' | 'port' | 'clusterName' | 'ephemeral'>): {
  ip: string
  port: number
  clusterName: string
  ephemeral: boolean
} {
  return { ip, port, clusterName, ephemeral }
}

function settingsOf({ protectThreshold, metadata, expression }: ServiceSettings): {
  protectThreshold: number
  metadata: string
  selector: string | undefined
} {
  const selector = expression === '' ? { type: 'none' } : { type: 'label', expression }
  return {
    protectThreshold,
    metadata: JSON.stringify(metadata),
    selector: expression === undefined ? undefined : JSON.stringify(selector),
  }
}
