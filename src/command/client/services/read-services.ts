import type { ExplainedInstance, ListedService, ServiceDetail, ShownInstance } from '../answers.ts'
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

/** `service explain`. */
export async function explainService(flags: ExplainFlags, word: string): Promise<CommandResult> {
  const client = clientOf(flags)
  const { ip, clusters, healthyOnly } = flags
  const search = { ...serviceParams(client, serviceOf(word, flags)), ip, clusters, healthyOnly }
  const found = await client.all<ExplainedInstance>('/console/explain', search)
  return listed<ExplainedInstance>(
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
