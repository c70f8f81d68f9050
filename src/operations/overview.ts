import type { ServiceEntry } from '../core/naming/service-entry.ts'
import type { Loop } from '../core/sliced-work.ts'
import type { State } from '../core/state.ts'
import type { BehindItem } from '../core/cluster/client-views.ts'
import type { ClientViews } from './client-views.ts'
import { configResource } from './configs.ts'
import type { Caller, Guard, Resource } from './guard.ts'
import type { Member } from './operator.ts'
import { figuresOf, type ServiceFigures } from './service-inventory.ts'
import { serviceResource } from './services.ts'
import { TimeSlices } from './time-slices.ts'

/** What the overview is made from. */
export interface OverviewParts {
  readonly guard: Guard
  readonly state: Pick<State, 'configs' | 'services'>
  readonly views: Pick<ClientViews, 'behind'>
  readonly members: () => readonly Member[]
  readonly subscriberCount: () => number
  readonly loop: Loop
}

/** What may need somebody's attention about a service, the worst first. */
export const ATTENTION_KINDS = ['service-protecting', 'service-unhealthy', 'service-empty'] as const

/** A service that needs attention. */
export interface Attention {
  readonly kind: (typeof ATTENTION_KINDS)[number]
  readonly figures: ServiceFigures
}

/** How everything is, as far as the caller may see it. */
export interface Overview {
  readonly configCount: number
  readonly serviceCount: number
  readonly instanceCount: number
  readonly healthyInstanceCount: number
  readonly disabledInstanceCount: number
  /** Of this server; undefined where the caller may not see the figures of the server. */
  readonly subscriberCount: number | undefined
  /** At most {@link MOST_ATTENTIONS} of each kind. */
  readonly attention: readonly Attention[]
  /** Items that clients of any server have not got, though they watch them. */
  readonly behind: readonly BehindItem[]
  /** The servers that have not replied in time: what they know of their clients is missing. */
  readonly missingServers: readonly string[]
  /** The servers, if the caller may see them. */
  readonly members: readonly Member[]
  /** Whether counting took too long: then there is more. */
  readonly isTruncated: boolean
}

const MOST_ATTENTIONS = 50

/** The overview. */
export type OverviewOperations = ReturnType<typeof overviewOperations>

/** Makes the overview. It is for everybody who is signed in, and has what that user may read. */
export function overviewOperations(parts: OverviewParts) {
  const { guard } = parts
  return {
    show: guard.operation({
      permission: { action: 'read', resource: 'own-account' },
      resources: (): Resource[] => [{ kind: 'own-account' }],
      run: (request: { namespaceId: string | undefined }, caller) => overview(parts, request, caller),
    }),
  }
}

async function overview(
  parts: OverviewParts,
  { namespaceId }: { namespaceId: string | undefined },
  caller: Caller,
): Promise<Overview> {
  const { guard, state, views, members, subscriberCount, loop } = parts
  // The other servers are asked while this one counts.
  const asked = views.behind()
  const slices = new TimeSlices(loop)
  const shows = (resource: Resource): boolean => guard.shows(caller, 'read', resource)
  const tally = new Tally()
  let isTruncated = false
  for (const entry of servicesIn(state, namespaceId)) {
    if (slices.isDue && (isTruncated = !(await slices.turn()))) break
    if (shows(serviceResource(entry.service.key))) tally.addService(figuresOf(entry))
  }
  for (const item of isTruncated ? [] : configsIn(state, namespaceId)) {
    if (slices.isDue && (isTruncated = !(await slices.turn()))) break
    if (shows(configResource(item.key))) tally.configCount++
  }
  const { value, missing } = await asked
  const isMeant = ({ key }: BehindItem): boolean =>
    (namespaceId === undefined || key.namespaceId === namespaceId) && shows(configResource(key))
  return {
    ...tally.counts(),
    behind: value.filter(isMeant).slice(0, MOST_ATTENTIONS),
    missingServers: missing,
    subscriberCount: shows({ kind: 'metrics' }) ? subscriberCount() : undefined,
    members: shows({ kind: 'operator' }) ? members() : [],
    isTruncated,
  }
}

/** Copies: what there is may change between two turns. */
function servicesIn({ services }: OverviewParts['state'], namespaceId: string | undefined): ServiceEntry[] {
  const all = Array.from(services.all())
  return namespaceId === undefined
    ? all
    : all.filter(({ service }) => service.key.namespaceId === namespaceId)
}

function configsIn({ configs }: OverviewParts['state'], namespaceId: string | undefined) {
  return Array.from(namespaceId === undefined ? configs.all() : configs.inNamespace(namespaceId))
}

class Tally {
  configCount = 0
  #serviceCount = 0
  #instanceCount = 0
  #healthyCount = 0
  #disabledCount = 0
  readonly #attention = new Map<Attention['kind'], Attention[]>(ATTENTION_KINDS.map((kind) => [kind, []]))

  addService(figures: ServiceFigures): void {
    const { entry, healthyCount, disabledCount } = figures
    this.#serviceCount++
    this.#instanceCount += entry.instances.size
    this.#healthyCount += healthyCount
    this.#disabledCount += disabledCount
    const kind = attentionFor(figures)
    const others = kind && this.#attention.get(kind)
    if (kind !== undefined && others !== undefined && others.length < MOST_ATTENTIONS)
      others.push({ kind, figures })
  }

  counts(): Omit<Overview, 'subscriberCount' | 'behind' | 'missingServers' | 'members' | 'isTruncated'> {
    return {
      configCount: this.configCount,
      serviceCount: this.#serviceCount,
      instanceCount: this.#instanceCount,
      healthyInstanceCount: this.#healthyCount,
      disabledInstanceCount: this.#disabledCount,
      attention: [...this.#attention.values()].flat(),
    }
  }
}

function attentionFor({
  entry,
  unhealthyCount,
  isProtecting,
}: ServiceFigures): Attention['kind'] | undefined {
  if (isProtecting) return 'service-protecting'
  if (unhealthyCount > 0) return 'service-unhealthy'
  return entry.instances.size === 0 ? 'service-empty' : undefined
}
