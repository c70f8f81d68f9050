import { createHash } from 'node:crypto'
import type { PlanItem } from '../../../plan/plan.ts'
import type { KnownServer } from '../../old/detect-server.ts'
import { fieldsOf, textOf, type Fields, listOf, metadataOf, CallError } from '../../old/fields.ts'
import { inOrder } from '../../old/in-order.ts'
import type { OldAnswer, OldCall } from '../../old/old-server.ts'
import type { ComparedFields } from '../compared-fields.ts'
import { type BothServers, isGeneration3, Replayed } from './replayed.ts'
import type { OldService } from '../../old/dialect.ts'

/** The header fields that clients read. */
const HEADERS = ['content-type', 'content-md5', 'config-type', 'encrypted-data-key']

/**
 * The results of reading items, and the md5 of each content that both servers gave, with the gray versions of this
 * client.
 */
export interface ConfigReads {
  readonly replayed: Replayed
  readonly md5s: ReadonlyMap<string, string>
}

/** Reads each item as a client does. */
export async function replayConfigReads(
  servers: BothServers,
  items: ReadonlyMap<string, PlanItem>,
  show: (done: number, total: number) => void,
): Promise<ConfigReads> {
  const replayed = new Replayed('read of a configuration')
  const read = isGeneration3(servers) ? readV3 : readV1
  const seen = new Map<KnownServer, Map<string, string | undefined>>()
  for (const server of [servers.old, servers.new]) seen.set(server, new Map())
  const ask = async (server: KnownServer, name: string, item: PlanItem): Promise<ComparedFields> => {
    const fields = await read(server, item)
    seen.get(server)?.set(name, fields['content'])
    return fields
  }
  const reads = inOrder(items, ([name, item]) =>
    replayed.compare(name, servers, (server) => ask(server, name, item)),
  )
  for await (const _ of reads) show(replayed.count, items.size)
  const [old, other] = [seen.get(servers.old)!, seen.get(servers.new)!]
  const md5s = [...old].flatMap(([name, md5]) =>
    md5 !== undefined && md5 === other.get(name) ? [[name, md5] as const] : [],
  )
  return { replayed, md5s: new Map(md5s) }
}

/** Reads an item without a token, to see whether the servers ask for a token. */
export async function replayOpenRead(
  servers: BothServers,
  [name, item]: readonly [string, PlanItem],
): Promise<Replayed> {
  const replayed = new Replayed('read without sign-in')
  const callOf = isGeneration3(servers) ? callV3 : callV1
  await replayed.compare(name, servers, async ({ server }) => {
    const { status } = await server.send({ ...callOf(item), isAnonymous: true })
    return { status: `${status}` }
  })
  return replayed
}

async function readV1({ server, kind }: KnownServer, item: PlanItem): Promise<ComparedFields> {
  const answer = await server.send(callV1(item))
  const content = answer.status === 200 ? { content: md5Of(answer.text) } : {}
  return { status: `${answer.status}`, ...content, ...headersOf(answer, kind) }
}

async function readV3({ server }: KnownServer, item: PlanItem): Promise<ComparedFields> {
  const { status, text } = await server.send(callV3(item))
  const { code, data } = fieldsOf(status === 200 ? parsed(text) : {})
  const { content, md5, contentType } = fieldsOf(data)
  return {
    status: `${status}`,
    code: textOf(code),
    content: md5Of(textOf(content)),
    md5: textOf(md5),
    contentType: textOf(contentType),
  }
}

/** Clients leave out the default namespace. */
function callV1({ namespace, group, dataId }: PlanItem): OldCall {
  const tenant = namespace === '' ? {} : { tenant: namespace }
  return { path: '/v1/cs/configs', params: { dataId, group, ...tenant } }
}

function callV3({ namespace, group, dataId }: PlanItem): OldCall {
  const params = { dataId, groupName: group, namespaceId: namespace || 'public' }
  return { path: '/v3/client/cs/config', params }
}

/** The Rust server sends fewer header fields; no client that works with it misses the others. */
function headersOf({ headers }: OldAnswer, kind: KnownServer['kind']): ComparedFields {
  const all = HEADERS.map((name) => [name, headers.get(name)] as const)
  const present = kind === 'r-nacos' ? all.filter(([, value]) => value !== null) : all
  return Object.fromEntries(
    present.map(([name, value]) => {
      const text = (value ?? '').toLowerCase().replaceAll(' ', '')
      return [name, name === 'content-type' ? charsetIn(text) : text]
    }),
  )
}

/** Up to 2.4 the media type depends on the item, and since then it is plain text: clients read the field `config-type`. */
function charsetIn(contentType: string): string {
  return /charset=[^;]*/.exec(contentType)?.[0] ?? ''
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

function md5Of(text: string): string {
  return createHash('md5').update(text).digest('hex')
}

/** Java clients get grouped names, and are most of all clients. */
const AS_JAVA = { 'User-Agent': 'Nacos-Java-Client:v1.4.8' }
/** The application by which a server knows a tool. */
const OWN_APP = 'waypost'

/** Which lists are read. */
interface ListedServices {
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
    isGeneration3(servers) ? listCallV3(service, clusters.get(name) ?? new Set()) : listCallV1(service)
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

function listCallV1({ namespace, group, name }: OldService): OldCall {
  const space = namespace === '' ? {} : { namespaceId: namespace }
  const params = {
    serviceName: `${group}@@${name}`,
    clusters: '',
    healthyOnly: false,
    app: OWN_APP,
    ...space,
  }
  return { path: '/v1/ns/instance/list', params, headers: AS_JAVA }
}

/** Without a named cluster, 3.0 lists only DEFAULT. */
function listCallV3({ namespace, group, name }: OldService, clusters: ReadonlySet<string>): OldCall {
  const named = clusters.size === 0 ? {} : { clusterName: [...clusters].toSorted().join(',') }
  const params = { serviceName: name, groupName: group, namespaceId: namespace || 'public', ...named }
  return { path: '/v3/client/ns/instance/list', params }
}
