import type { ShownInstance } from '../answers.ts'
import { type CommandResult, DiffersError } from '../../command-line.ts'
import { done } from '../result.ts'
import { clientOf } from '../session-of-flags.ts'
import type { SvcClient } from '../svc-client.ts'
import { instancesOf, type ServiceFlags } from './read-services.ts'
import {
  addressOf,
  addressText,
  type ServiceName,
  serviceOf,
  serviceParams,
  serviceText,
} from './service-name.ts'

/** The flags of commands about instances. */
export interface InstanceFlags extends ServiceFlags {
  readonly cluster?: string
}

/** Instances, as the user names them. */
interface NamedInstances {
  readonly name: string
  readonly addresses: readonly string[]
}

/** `service disable`, `enable` and `weight`. Nothing is changed if an instance is missing. */
export async function changeInstances(
  flags: InstanceFlags,
  { name: word, addresses }: NamedInstances,
  change: { readonly enabled: boolean } | { readonly weight: string },
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
  await client.send('PUT', '/ns/instance/batch', {
    ...serviceParams(client, name),
    instances: JSON.stringify(instances),
    ...change,
  })
  const shownNames = found.map(addressText).join(', ')
  return done(`${serviceText(name)}: ${whatOf(change)} ${shownNames}`, { ...name, instances, ...change })
}

function whatOf(change: { readonly enabled: boolean } | { readonly weight: string }): string {
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
  const fitting = found.filter((instance) => instance.ip === ip && instance.port === port)
  if (fitting.length === 1) return fitting[0]!
  if (fitting.length === 0) throw new DiffersError(`${serviceText(name)} has no instance ${address}.`)
  const clusters = fitting.map(({ clusterName }) => clusterName).join(', ')
  throw new DiffersError(`${address} is in several clusters: ${clusters}. Choose one with --cluster.`)
}
