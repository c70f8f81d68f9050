import { nameOf, type PlanInstance, type PlanNamespace, type PlanService } from '../../plan/plan.ts'
import { messageOf } from '../../command/command-line.ts'
import { type KnownServer, dialectOf } from '../old/detect-server.ts'
import { allPages, type Dialect, type OldService } from '../old/dialect.ts'
import { fieldsIn, isUsualCluster, CallError } from '../old/fields.ts'
import type { OldCall } from '../old/old-server.ts'
import { comparedThing } from '../parity/compared-fields.ts'
import { differingFields } from '../parity/differences.ts'
import { withKeptSecrets } from './kept-secrets.ts'
import type { GoingThing } from './what-goes-back.ts'
import { callsOf, V1 } from './write-calls.ts'
import { V3 } from './write-calls-v3.ts'

/** The outcome for a thing. */
export interface Written {
  readonly outcome: 'taken' | 'unchanged' | 'kept' | 'refused'
  readonly reason: string
}

type Namespaced = Pick<OldService, 'namespace' | 'group' | 'name'>

/**
 * Writes the things of a plan to a server by its interface: under `/v1`, or the admin interface of 3.x. A present thing that
 * differs is kept, unless `mayReplace` allows to replace it.
 */
export class OldWriter {
  readonly #target: KnownServer
  readonly #dialect: Dialect
  readonly #mayReplace: (before: GoingThing) => boolean
  #namespaces: Promise<ReadonlyMap<string, PlanNamespace>> | undefined
  readonly #services = new Map<string, Promise<ReadonlyMap<string, OldService>>>()
  readonly #instances = new Map<string, Promise<ReadonlyMap<string, PlanInstance>>>()

  constructor(target: KnownServer, mayReplace: (before: GoingThing) => boolean) {
    this.#target = target
    this.#dialect = dialectOf(target)
    this.#mayReplace = mayReplace
  }

  /** Writes one thing. Rejects if the server does not answer. */
  async write(planned: GoingThing): Promise<Written> {
    try {
      const before = await this.#before(planned)
      const thing = planned.kind === 'service' ? withKeptSecrets(planned, serviceIn(before)) : planned
      if (before !== undefined) {
        const differing = this.#differing(before, thing)
        if (differing.length === 0) return { outcome: 'unchanged', reason: '' }
        if (!this.#mayReplace(before)) {
          const reason = `the server has another ${differing.join(', ')} (--overwrite replaces it)`
          return { outcome: 'kept', reason }
        }
      }
      const by = this.#target.kind === 'java-3' ? V3 : V1
      for (const call of callsOf(thing, before !== undefined, by)) await this.#send(call)
      return { outcome: 'taken', reason: '' }
    } catch (error) {
      if (error instanceof CallError && error.status === 0) throw error
      return { outcome: 'refused', reason: messageOf(error) }
    }
  }

  /** The thing as the server has it. */
  async #before(thing: GoingThing): Promise<GoingThing | undefined> {
    switch (thing.kind) {
      case 'namespace':
        this.#namespaces ??= this.#dialect
          .namespaces()
          .then((all) => new Map(all.map((one) => [one.id, one])))
        return (await this.#namespaces).get(thing.id)
      case 'config':
        return this.#dialect.config(thing)
      case 'service':
        return this.#service(thing)
      case 'instance':
        return (await this.#instancesOf({ ...thing, name: thing.service })).get(nameOf(thing))
    }
  }

  async #service(named: Namespaced): Promise<PlanService | undefined> {
    const { namespace } = named
    const listing =
      this.#services.get(namespace) ?? listOf(this.#dialect, namespace).then((all) => new Map(all))
    this.#services.set(namespace, listing)
    const listed = (await listing).get(keyOf(named))
    const found = listed === undefined ? undefined : await this.#dialect.service(listed)
    return found && { ...found, clusters: found.clusters.filter((one) => !isUsualCluster(one)) }
  }

  #instancesOf(named: Namespaced): Promise<ReadonlyMap<string, PlanInstance>> {
    const key = `${named.namespace} ${keyOf(named)}`
    const known = this.#instances.get(key) ?? this.#readInstances(named)
    this.#instances.set(key, known)
    return known
  }

  async #readInstances({ namespace, group, name }: Namespaced): Promise<ReadonlyMap<string, PlanInstance>> {
    const service = await this.#dialect.service({ namespace, group, name })
    const all = service === undefined ? [] : await this.#dialect.instances(service)
    return new Map(all.map((one) => [nameOf(one), one]))
  }

  /** The fields that differ. The server makes its own md5, and judges the health by itself. */
  #differing(before: GoingThing, thing: GoingThing): string[] {
    const [there, here] = [before, thing].map((one) => comparedThing(one, this.#target.kind)?.fields ?? {})
    return differingFields('', '', [there!, here!])
      .map(({ field }) => field!)
      .filter(
        (field) =>
          !['md5', 'healthy'].includes(field) && !(field === 'ephemeral' && thing.kind === 'service'),
      )
  }

  async #send(call: OldCall): Promise<void> {
    const { server } = this.#target
    const { status, text } = await server.send(call)
    if (status === 200 && text.trim() !== 'false' && !isRefusal(text)) return
    const said = `${call.method} ${server.url}${call.path} answers ${status}: ${text.slice(0, 300)}`
    throw new CallError(said, status)
  }
}

function serviceIn(before: GoingThing | undefined): PlanService | undefined {
  return before?.kind === 'service' ? before : undefined
}

/** 3.x answers some refusals with 200, and a code other than 0. Others answer no such thing to a write. */
function isRefusal(text: string): boolean {
  const { code, data } = fieldsIn(text)
  return (typeof code === 'number' && code !== 0 && code !== 200) || data === false
}

async function listOf(dialect: Dialect, namespace: string): Promise<[string, OldService][]> {
  const found: [string, OldService][] = []
  const pages = allPages((pageNo) => dialect.services(namespace, pageNo), keyOf)
  for await (const one of pages) found.push([keyOf(one), one])
  return found
}

function keyOf({ group, name }: Pick<OldService, 'group' | 'name'>): string {
  return `${group}@@${name}`
}
