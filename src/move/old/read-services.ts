import { type PlanInstance, type PlanLine, type PlanNote, type PlanService, nameOf } from '../../plan/plan.ts'
import type { PlanReading } from '../reading.ts'
import { CallError, isUsualCluster } from './fields.ts'
import { allPages, type Dialect, type OldService } from './dialect.ts'
import { instanceKey } from './java-things.ts'
import { inOrder, listedOnly, orNote } from './in-order.ts'

/** A service, and the nodes that list it. */
interface FoundService {
  readonly named: OldService
  readonly nodes: Dialect[]
}

/** The services and instances of all nodes: each node may know ephemeral ones that others do not know yet. */
export async function* readServices(
  nodes: readonly Dialect[],
  namespaces: readonly string[],
  reading: PlanReading,
): AsyncGenerator<PlanLine> {
  if (reading.ephemeral) yield* await nodesLeftOut(nodes)
  const found = new Map<string, FoundService>()
  for (const namespace of namespaces)
    for (const [index, node] of nodes.entries()) {
      const name = `services of ${namespace || 'public'}${nodes.length > 1 ? `, server ${index + 1}` : ''}`
      const failed = await orNote('service', name, () => addServices(found, node, namespace))
      if (failed !== undefined) yield failed
      reading.show('names of services', found.size, 0)
    }
  let done = 0
  const left = new EphemeralLeftOut()
  for await (const lines of inOrder(found.values(), (one) => serviceLines(one, reading))) {
    for (const line of lines)
      if (line.kind === 'instance' && line.ephemeral && !reading.ephemeral) left.add(line)
      else yield line
    reading.show('services', ++done, found.size)
  }
  yield* left.notes()
}

/** The most services that the note names. */
const MOST_NAMED = 10

/** The ephemeral instances that a plan leaves out. */
class EphemeralLeftOut {
  #count = 0
  readonly #services = new Set<string>()

  add({ namespace, group, service }: PlanInstance): void {
    this.#count++
    this.#services.add(`${namespace || 'public'}/${group}@@${service}`)
  }

  /** One note for all; nothing without any. */
  notes(): PlanNote[] {
    if (this.#count === 0) return []
    const { size } = this.#services
    const named = [...this.#services].slice(0, MOST_NAMED).join(', ') + (size > MOST_NAMED ? ', …' : '')
    const reason = `${this.#count} of ${named}: their clients register by themselves (--ephemeral, at the swap)`
    return [{ kind: 'remark', about: 'instance', name: LEFT_OUT, reason }]
  }
}

const LEFT_OUT = 'ephemeral ones are left out'

/** Whether a note is about ephemeral instances that were left out. */
export function isLeftOut({ kind, about, name }: PlanNote): boolean {
  return kind === 'remark' && about === 'instance' && name === LEFT_OUT
}

/** Each node of a cluster may have ephemeral instances that others do not know yet. */
async function nodesLeftOut(nodes: readonly Dialect[]): Promise<PlanLine[]> {
  const inCluster = await nodes[0]!.nodes().catch((error: unknown) => {
    if (error instanceof CallError && error.status !== 0) return undefined
    throw error
  })
  if (inCluster === undefined || inCluster <= nodes.length) return []
  const reason = `the cluster has ${inCluster} servers, and ${nodes.length} were given: instances that only the others know may lack`
  return [{ kind: 'remark', about: 'instance', name: 'servers of the cluster', reason, missed: true }]
}

async function addServices(
  found: Map<string, FoundService>,
  node: Dialect,
  namespace: string,
): Promise<undefined> {
  for await (const named of allPages((pageNo) => node.services(namespace, pageNo), keyOf)) {
    const known = found.get(keyOf(named))
    if (known === undefined) found.set(keyOf(named), { named, nodes: [node] })
    else known.nodes.push(node)
  }
  return undefined
}

function keyOf({ namespace, group, name }: OldService): string {
  return JSON.stringify([namespace, group, name])
}

async function serviceLines({ named, nodes }: FoundService, reading: PlanReading): Promise<PlanLine[]> {
  const name = `${named.namespace || 'public'}/${named.group}@@${named.name}`
  const service = await orNote('service', name, () => nodes[0]!.service(named))
  if (service === undefined) return [listedOnly('service', name)]
  if (service.kind !== 'service') return [{ ...service, reason: `${service.reason}; nor do its instances` }]
  const notes: PlanLine[] = []
  const instances = new Map<string, PlanInstance>()
  // Persistent instances are the same on all nodes.
  for (const node of reading.ephemeral ? nodes : nodes.slice(0, 1)) {
    const seen = await orNote('instance', name, () => instancesOf(node, nodes[0]!, service))
    if (!Array.isArray(seen)) notes.push(seen as PlanLine)
    else for (const one of seen as PlanInstance[]) notes.push(...united(instances, one))
  }
  return [...notes, ...linesOf(service, [...instances.values()])]
}

/** Nodes may know different clusters. */
async function instancesOf(
  node: Dialect,
  first: Dialect,
  service: PlanService,
): Promise<readonly PlanInstance[]> {
  const own = node === first ? service : await node.service(service)
  return node.instances(own ?? service)
}

function united(instances: Map<string, PlanInstance>, one: PlanInstance): PlanLine[] {
  const key = instanceKey(one)
  const before = instances.get(key)
  instances.set(key, before === undefined ? one : { ...before, healthy: before.healthy || one.healthy })
  if (before === undefined || isSame(before, one)) return []
  const reason =
    'the nodes differ in weight, metadata, kind or whether it is enabled; the plan has what the first says'
  return [{ kind: 'conflict', about: 'instance', name: nameOf(one), reason }]
}

function isSame(a: PlanInstance, b: PlanInstance): boolean {
  const textOf = ({ weight, enabled, ephemeral, metadata }: PlanInstance): string =>
    JSON.stringify([weight, enabled, ephemeral, Object.entries(metadata).sort()])
  return textOf(a) === textOf(b)
}

/** A service without anything of its own comes back with its instances, when they register. */
function linesOf(service: PlanService, instances: readonly PlanInstance[]): PlanLine[] {
  const kinds = new Set(instances.map(({ ephemeral }) => ephemeral))
  const ephemeral = kinds.size === 1 ? kinds.has(true) : kinds.size === 0 ? service.ephemeral : null
  const clusters = service.clusters.filter((cluster) => !isUsualCluster(cluster))
  const line: PlanService = { ...service, ephemeral, clusters }
  const isOwn =
    clusters.length > 0 ||
    line.protectThreshold !== 0 ||
    line.selector.type !== 'none' ||
    Object.keys(line.metadata).length > 0 ||
    instances.length === 0 ||
    kinds.has(false)
  return isOwn ? [line, ...instances] : [...instances]
}
