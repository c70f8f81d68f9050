import { isSameIp } from '../../core/text/ip-address.ts'
import type {
  ChangedInstances,
  ExplainedInstance,
  ListedService,
  ServiceDetail,
  ShownInstance,
  Timeline,
} from '../answers.ts'
import {
  type CommandResult,
  listed,
  shown,
  timeText,
  DiffersError,
  done,
} from '../../command/command-line.ts'
import { type ClientFlags, requireAddress } from '../server-options.ts'
import { RefusedError } from '../server-session.ts'
import { clientOf, type Params, type SvcClient } from '../session-of-flags.ts'
import { cameText, enabledText, healthText, leavesText, overridesText, whyListed } from './instance-texts.ts'
import {
  addressText,
  type ServiceName,
  serviceOf,
  serviceParams,
  serviceText,
  addressOf,
} from './service-name.ts'

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
      ['WHY', healthText],
      ['LEAVES', leavesText],
      ['ENABLED', enabledText],
      ['SET BY OPERATORS', overridesText],
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
  requireAddress(ip)
  const search = { ...serviceParams(client, serviceOf(word, flags)), ip, clusters, healthyOnly }
  const found = await client.all<ExplainedInstance>('/console/explain', search)
  return listed<ExplainedInstance>(
    found,
    [
      ['ADDRESS', addressText],
      ['CLUSTER', ({ clusterName }) => clusterName],
      ['GIVEN OUT', ({ listed: isListed }) => (isListed ? 'yes' : 'no')],
      ['WHY', whyListed],
      ['HEALTH', ({ healthy }) => (healthy ? 'healthy' : 'unhealthy')],
      ['ENABLED', ({ enabled }) => (enabled ? 'yes' : 'no')],
      ['WEIGHT', ({ weight }) => weight],
      ['SET BY OPERATORS', overridesText],
      ['REGISTERED', cameText],
    ],
    addressText,
  )
}

/** A user who may not read a service may dismiss it all the same. */
function passRefused(error: unknown): void {
  if (!(error instanceof RefusedError)) throw error
}

/** `service dismiss`: somebody has seen that the last instance of a service has left. */
export async function dismissService(flags: ServiceFlags, word: string): Promise<CommandResult> {
  const client = clientOf(flags)
  const name = serviceOf(word, flags)
  const params = serviceParams(client, name)
  await client.send('DELETE', '/console/attention', params)
  // The server refuses to show a service that it does not have. One that had instances a while ago is dismissed all the same.
  const hadInstances = async (): Promise<void> => {
    const { entries } = await client.get<Timeline>('/console/timeline', params)
    if (entries.length === 0) await client.get('/ns/service', params)
  }
  await hadInstances().catch(passRefused)
  return done(`${serviceText(name)} needs no attention until an instance comes and leaves again.`, {
    ...name,
  })
}

/** The flags of commands about instances. */
export interface InstanceFlags extends ServiceFlags {
  readonly cluster?: string
}

/** Instances, as the user names them. */
interface NamedInstances {
  readonly name: string
  readonly addresses: readonly string[]
}

type InstanceChange = { readonly enabled: boolean } | { readonly weight: string } | { readonly lift: true }

/**
 * `service disable`, `enable`, `weight` and `lift`. Nothing is changed if an instance is missing. One that leaves just then is
 * named.
 */
export async function changeInstances(
  flags: InstanceFlags,
  { name: word, addresses }: NamedInstances,
  change: InstanceChange,
): Promise<CommandResult> {
  const client = clientOf(flags)
  const name = serviceOf(word, flags)
  const found = await Promise.all(
    addresses.map((address) => oneInstance(client, name, { address, cluster: flags.cluster })),
  )
  const instances = found.map(({ ip, port, clusterName, ephemeral }) => ({
    ip,
    port,
    clusterName,
    ephemeral,
  }))
  const answer = await client.send('PUT', '/ns/instance/batch', {
    ...serviceParams(client, name),
    instances: JSON.stringify(instances),
    ...change,
  })
  const { notFound } = JSON.parse(answer) as ChangedInstances
  const gone = found.filter(({ instanceId }) => notFound.includes(instanceId)).map(addressText)
  if (gone.length > 0)
    throw new DiffersError(`${serviceText(name)}: ${gone.join(', ')} left just now; all others are changed.`)
  const shownNames = found.map(addressText).join(', ')
  return done(`${serviceText(name)}: ${whatOf(change)} ${shownNames}`, { ...name, instances, ...change })
}

function whatOf(change: InstanceChange): string {
  if ('lift' in change) return 'as the application says:'
  if ('weight' in change) return `weight ${change.weight} for`
  return change.enabled ? 'enabled' : 'disabled'
}

async function oneInstance(
  client: SvcClient,
  name: ServiceName,
  { address, cluster }: { readonly address: string; readonly cluster: string | undefined },
): Promise<ShownInstance> {
  const { ip, port } = addressOf(address)
  const found = await instancesOf(client, name, { ip, clusterName: cluster })
  const fitting = found.filter((instance) => isSameIp(instance.ip, ip) && instance.port === port)
  if (fitting.length === 1) return fitting[0]!
  if (fitting.length === 0) throw new DiffersError(`${serviceText(name)} has no instance ${address}.`)
  const clusters = fitting.map(({ clusterName }) => clusterName).join(', ')
  throw new DiffersError(`${address} is in several clusters: ${clusters}. Choose one with --cluster.`)
}
