import type { CommandResult } from '../../command-line.ts'
import { listed, shown, timeText } from '../result.ts'
import type { ClientFlags } from '../server-options.ts'
import { clientOf } from '../session-of-flags.ts'
import type { Params, SvcClient } from '../svc-client.ts'
import { addressText, type ServiceName, serviceOf, serviceParams, serviceText } from './service-name.ts'

/** The flags of commands about one service. */
export interface ServiceFlags extends ClientFlags {
  readonly group?: string
}

/** The flags of `service list`. */
export interface ServiceListFlags extends ServiceFlags {
  readonly health?: string
}

/** A service in a list (`ListedService` of docs/openapi.json). */
export interface ListedService {
  readonly name: string
  readonly groupName: string
  readonly clusterCount: number
  readonly ipCount: number
  readonly healthyInstanceCount: number
  readonly disabledCount: number
  readonly protecting: boolean
  readonly subscriberCount: number
  readonly lastChangeMs: number
}

/** `service list`. */
export async function listServices(
  { group, health, ...flags }: ServiceListFlags,
  text: string | undefined,
): Promise<CommandResult> {
  const found = await allServices(clientOf(flags), { groupName: group, health, text })
  return listed<ListedService>(
    found,
    [
      ['GROUP', ({ groupName }) => groupName],
      ['SERVICE', ({ name }) => name],
      ['INSTANCES', ({ ipCount }) => ipCount],
      ['HEALTHY', ({ healthyInstanceCount }) => healthyInstanceCount],
      ['DISABLED', ({ disabledCount }) => disabledCount],
      ['PROTECTING', ({ protecting }) => (protecting ? 'yes' : 'no')],
      ['SUBSCRIBERS', ({ subscriberCount }) => subscriberCount],
      ['CHANGED', ({ lastChangeMs }) => timeText(lastChangeMs)],
    ],
    ({ groupName, name }) => serviceText({ groupName, serviceName: name }),
  )
}

/** The services of the namespace that match, all pages. */
export function allServices(client: SvcClient, search: Params): Promise<ListedService[]> {
  return client.all('/console/services', { namespaceId: client.namespace || 'public', ...search })
}

interface ServiceDetail {
  readonly name: string
  readonly groupName: string
  readonly namespaceId: string
  readonly protectThreshold: number
  readonly metadata: object
  readonly selector: { readonly type: string; readonly expression?: string }
  readonly clusters: readonly {
    readonly name: string
    readonly healthChecker: object
    readonly metadata: object
  }[]
}

/** `service show`. */
export async function showService(flags: ServiceFlags, word: string): Promise<CommandResult> {
  const client = clientOf(flags)
  const name = serviceOf(word, flags)
  const found = await client.get<ServiceDetail>('/ns/service', serviceParams(client, name))
  const { clusters, selector } = found
  const lines = [
    ['service', found.name],
    ['group', found.groupName],
    ['namespace', found.namespaceId],
    ['protect threshold', found.protectThreshold],
    ['selector', selector.expression ?? selector.type],
    ['metadata', found.metadata],
    ...clusters.map((cluster) => [`cluster ${cluster.name}`, cluster.healthChecker] as const),
  ] as const
  return { ...shown(found, lines), names: [serviceText(name)] }
}

/** An instance (`ShownInstance` of docs/openapi.json). */
export interface ShownInstance {
  readonly ip: string
  readonly port: number
  readonly clusterName: string
  readonly weight: number
  readonly healthy: boolean
  readonly enabled: boolean
  readonly ephemeral: boolean
  readonly metadata: Readonly<Record<string, string>>
  readonly health: { readonly reason: string; readonly check: { readonly text: string } | null }
}

/** `service instances`. */
export async function listInstances(
  flags: ServiceFlags & { readonly cluster?: string },
  word: string,
): Promise<CommandResult> {
  const client = clientOf(flags)
  const found = await instancesOf(client, serviceOf(word, flags), { clusterName: flags.cluster })
  return listed<ShownInstance>(
    found,
    [
      ['ADDRESS', addressText],
      ['CLUSTER', ({ clusterName }) => clusterName],
      ['WEIGHT', ({ weight }) => weight],
      ['HEALTH', ({ healthy }) => (healthy ? 'healthy' : 'unhealthy')],
      ['WHY', ({ health: { reason, check } }) => (check === null ? reason : `${reason}: ${check.text}`)],
      ['ENABLED', ({ enabled }) => (enabled ? 'yes' : 'no')],
      ['KIND', ({ ephemeral }) => (ephemeral ? 'ephemeral' : 'persistent')],
      ['METADATA', ({ metadata }) => JSON.stringify(metadata)],
    ],
    addressText,
  )
}

/** The instances of a service that match, all pages. */
export function instancesOf(client: SvcClient, name: ServiceName, search: Params): Promise<ShownInstance[]> {
  return client.all('/console/instances', { ...serviceParams(client, name), ...search })
}

/** The flags of `service explain`. */
export interface ExplainFlags extends ServiceFlags {
  readonly ip?: string
  readonly clusters?: string
  readonly healthyOnly?: boolean
}

interface Explained extends Omit<ShownInstance, 'health' | 'metadata'> {
  readonly listed: boolean
  readonly reasons: readonly string[]
}

/** `service explain`. */
export async function explainService(flags: ExplainFlags, word: string): Promise<CommandResult> {
  const client = clientOf(flags)
  const { ip, clusters, healthyOnly } = flags
  const search = { ...serviceParams(client, serviceOf(word, flags)), ip, clusters, healthyOnly }
  const found = await client.all<Explained>('/console/explain', search)
  return listed<Explained>(
    found,
    [
      ['ADDRESS', addressText],
      ['CLUSTER', ({ clusterName }) => clusterName],
      ['GIVEN OUT', ({ listed: isListed }) => (isListed ? 'yes' : 'no')],
      ['WHY', ({ reasons }) => reasons.join(', ')],
      ['HEALTH', ({ healthy }) => (healthy ? 'healthy' : 'unhealthy')],
      ['ENABLED', ({ enabled }) => (enabled ? 'yes' : 'no')],
      ['WEIGHT', ({ weight }) => weight],
    ],
    addressText,
  )
}
