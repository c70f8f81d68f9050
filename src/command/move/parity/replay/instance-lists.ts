import type { KnownServer } from '../../old/detect-server.ts'
import type { OldService } from '../../old/dialect.ts'
import { type Fields, fieldsOf, listOf, metadataOf, textOf } from '../../old/fields.ts'
import { inOrder } from '../../old/in-order.ts'
import { CallError } from '../../old/call-error.ts'
import type { OldCall } from '../../old/old-server.ts'
import type { ComparedFields } from '../compared-fields.ts'
import { type BothServers, isGeneration3, Replayed } from './replayed.ts'

/** Java clients get grouped names, and are most of all clients. */
const AS_JAVA = { 'User-Agent': 'Nacos-Java-Client:v1.4.8' }

/** Which lists are read. */
export interface ListedServices {
  readonly services: ReadonlyMap<string, OldService>
  /** By the names of services. */
  readonly clusters: ReadonlyMap<string, ReadonlySet<string>>
  /** Whether ephemeral instances count: each server has its own registrations. */
  readonly ephemeral: boolean
}

/** Reads the list of each service as a client does. The health, found by each server's probes, is compared elsewhere. */
export async function replayInstanceLists(
  servers: BothServers,
  { services, clusters, ephemeral }: ListedServices,
  show: (done: number, total: number) => void,
): Promise<Replayed> {
  const replayed = new Replayed('list of instances')
  const callOf = (name: string, service: OldService): OldCall =>
    isGeneration3(servers) ? callV3(service, clusters.get(name) ?? new Set()) : callV1(service)
  const read = async ({ server }: KnownServer, call: OldCall): Promise<ComparedFields> => {
    const { status, text } = await server.send(call)
    // A service without instances is an error of some versions, and an empty list of others.
    if (status !== 200) return { status: `${status}` }
    try {
      return listedFields(fieldsOf(JSON.parse(text)), ephemeral)
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error
      throw new CallError(`GET ${server.url}${call.path} answers no JSON`, status)
    }
  }
  const reads = inOrder(services, ([name, service]) =>
    replayed.compare(name, servers, (server) => read(server, callOf(name, service))),
  )
  for await (const _ of reads) show(replayed.count, services.size)
  return replayed
}

function listedFields(answer: Fields, ephemeral: boolean): ComparedFields {
  const { name, groupName, hosts } = answer
  const isList = Array.isArray(answer['data'])
  const listed = listOf(isList ? answer['data'] : hosts).filter(
    (host) => ephemeral || host['ephemeral'] === false,
  )
  // 1.4 shows no group of the list.
  const names = isList
    ? { code: textOf(answer['code']) }
    : { name: textOf(name), ...(groupName !== undefined && { groupName: textOf(groupName) }) }
  return { status: '200', ...names, hosts: listed.map(hostText).toSorted().join(' ') }
}

/** Ids are not compared: 3.x shows none, and r-nacos makes its own. */
function hostText(host: Fields): string {
  const { ip, port, weight, enabled, ephemeral, clusterName, serviceName, metadata } = host
  const words = [ip, port, weight, enabled, ephemeral, clusterName, serviceName].map(textOf)
  const pairs = Object.entries(metadataOf(metadata)).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify([...words, pairs])
}

function callV1({ namespace, group, name }: OldService): OldCall {
  const space = namespace === '' ? {} : { namespaceId: namespace }
  const params = { serviceName: `${group}@@${name}`, clusters: '', healthyOnly: false, ...space }
  return { path: '/v1/ns/instance/list', params, headers: AS_JAVA }
}

/** Without a named cluster, 3.0 lists only DEFAULT. */
function callV3({ namespace, group, name }: OldService, clusters: ReadonlySet<string>): OldCall {
  const named = clusters.size === 0 ? {} : { clusterName: [...clusters].toSorted().join(',') }
  const params = { serviceName: name, groupName: group, namespaceId: namespace || 'public', ...named }
  return { path: '/v3/client/ns/instance/list', params }
}
