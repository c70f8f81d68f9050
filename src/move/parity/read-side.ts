import { isThing, type PlanItem, type PlanNote, type PlanThing, nameOf } from '../../plan/plan.ts'
import { type KnownServer, dialectOf } from '../old/detect-server.ts'
import type { Dialect, OldService } from '../old/dialect.ts'
import { isShortList } from '../old/item-lists.ts'
import { readOverHttp } from '../old/read-over-http.ts'
import { isLeftOut } from '../old/read-services.ts'
import type { PlanReading } from '../reading.ts'
import { comparedThing } from './compared-fields.ts'
import type { ByName, Difference } from './differences.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BothServers } from './replay/replayed.ts'

/** The data of one of the two servers. */
export interface Side {
  readonly which: 'old' | 'new'
  /** The first of its addresses: reads are replayed there. */
  readonly first: KnownServer
  readonly things: ReadonlyMap<PlanThing['kind'], ByName>
  /** By their names. */
  readonly items: ReadonlyMap<string, PlanItem>
  readonly services: ReadonlyMap<string, OldService>
  /** The clusters of each service that instances are in. */
  readonly clusters: ReadonlyMap<string, ReadonlySet<string>>
  /** The names of services with instances of both kinds. */
  readonly mixed: ReadonlySet<string>
  /** Data that is not compared, because this kind of server does not give it. */
  readonly notCompared: readonly PlanNote[]
  /** Requests that it should have answered, and did not. */
  readonly failed: readonly PlanNote[]
}

/** How the sides are read. */
export interface SideReading {
  readonly ephemeral: boolean
  /** Whether both servers show all gray versions; otherwise betas are compared. */
  readonly allGrays: boolean
  readonly show: PlanReading['show']
}

/** Reads all that a server gives. Its contents are kept as digests. */
export async function readSide(
  which: Side['which'],
  servers: readonly KnownServer[],
  { ephemeral, allGrays, show }: SideReading,
): Promise<Side> {
  const dialects = servers.map(dialectOf)
  const gathered = new Gathered(servers[0]!, dialects[0]!, allGrays)
  const reading: PlanReading = {
    parts: 'all',
    history: { isWanted: false, sinceMs: Infinity },
    ephemeral,
    earlier: { hasRecord: () => false },
    // Administrators are compared like other users.
    administrators: 'as-there',
    show: (step, done, total) => show(`${which}: ${step}`, done, total),
  }
  for await (const line of readOverHttp(dialects, reading)) {
    if (line.kind === 'plan' || line.kind === 'end') continue
    if (isThing(line)) gathered.add(line)
    else gathered.note(line)
  }
  return { which, first: servers[0]!, ...gathered.all() }
}

class Gathered {
  readonly #server: KnownServer
  readonly #missing: ReadonlySet<PlanNote>
  readonly #allGrays: boolean
  readonly #things = new Map<PlanThing['kind'], Map<string, Readonly<Record<string, string>>>>()
  readonly #items = new Map<string, PlanItem>()
  readonly #services = new Map<string, OldService>()
  readonly #clusters = new Map<string, Set<string>>()
  readonly #kinds = new Map<string, boolean>()
  readonly #mixed = new Set<string>()
  readonly #notCompared: PlanNote[] = []
  readonly #failed: PlanNote[] = []

  constructor(server: KnownServer, dialect: Dialect, allGrays: boolean) {
    this.#server = server
    this.#allGrays = allGrays
    this.#missing = new Set(dialect.missing)
  }

  all(): Omit<Side, 'which' | 'first'> {
    return {
      things: this.#things,
      items: this.#items,
      services: this.#services,
      clusters: this.#clusters,
      mixed: this.#mixed,
      notCompared: this.#notCompared,
      failed: this.#failed,
    }
  }

  add(thing: PlanThing): void {
    if (thing.kind === 'gray' && !this.#allGrays && thing.rule !== 'beta') return
    const compared = comparedThing(thing, this.#server.kind)
    if (compared === undefined) return
    const { kind, name, fields } = compared
    if (!this.#things.has(kind)) this.#things.set(kind, new Map())
    this.#things.get(kind)!.set(name, fields)
    if (thing.kind === 'config') this.#items.set(name, { ...namesOf(thing), dataId: thing.dataId })
    if (thing.kind === 'service') this.#services.set(name, { ...namesOf(thing), name: thing.name })
    if (thing.kind !== 'instance') return
    const service = `${thing.namespace || 'public'}/${thing.group}@@${thing.service}`
    this.#services.set(service, { ...namesOf(thing), name: thing.service })
    if (!this.#clusters.has(service)) this.#clusters.set(service, new Set())
    this.#clusters.get(service)!.add(thing.cluster)
    if (this.#kinds.get(service) === !thing.ephemeral) this.#mixed.add(service)
    this.#kinds.set(service, thing.ephemeral)
  }

  note(note: PlanNote): void {
    if (this.#missing.has(note)) this.#notCompared.push(note)
    else if (isShortList(note)) this.#failed.push(note)
    else if (note.kind === 'conflict' || isLeftOut(note)) this.#notCompared.push(note)
    else if (note.kind === 'cannot-come' && FAILING.includes(note.about)) this.#failed.push(note)
    else if (note.kind === 'cannot-come' && UNREADABLE.includes(note.about)) this.#notCompared.push(note)
  }
}

/** Other notes concern a move to another server, which is not the question here. */
const FAILING = ['config', 'gray', 'service', 'instance']
/** An account may not see these. */
const UNREADABLE = ['user', 'switch']

function namesOf({ namespace, group }: { readonly namespace: string; readonly group: string }) {
  return { namespace, group }
}

/** Which instances are looked at once more, and after which time. */
interface Settling {
  readonly services: ReadonlyMap<string, OldService>
  readonly waitMs: number
}

/** The differences, without differences of health that are gone after a pause: each server probes at its own times. */
export async function settledHealth(
  differences: readonly Difference[],
  servers: BothServers,
  { services, waitMs }: Settling,
): Promise<Difference[]> {
  const doubtful = differences.filter(({ field }) => field === 'healthy')
  if (doubtful.length === 0) return [...differences]
  await sleep(waitMs)
  const asked = [...services].filter(([name]) => doubtful.some((one) => one.name.startsWith(`${name} `)))
  const health = [await healthOf(servers.old, asked), await healthOf(servers.new, asked)] as const
  return differences.flatMap((one): Difference[] => {
    if (one.field !== 'healthy') return [one]
    const [old, other] = health.map((all) => all.get(one.name))
    if (old === other || old === undefined || other === undefined) return []
    return [{ ...one, old, new: other }]
  })
}

async function healthOf(
  server: KnownServer,
  services: readonly (readonly [string, OldService])[],
): Promise<ReadonlyMap<string, string>> {
  const dialect = dialectOf(server)
  const health = new Map<string, string>()
  for (const [, named] of services) {
    const service = await dialect.service(named)
    const instances = service === undefined ? [] : await dialect.instances(service)
    for (const one of instances) health.set(nameOf(one), `${one.healthy}`)
  }
  return health
}
