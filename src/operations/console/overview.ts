import type { State } from '../../core/engine/state.ts'
import type { BehindItem, ServerFault } from '../../core/clients/client-views.ts'
import { togetherBehind } from '../../core/clients/clients-behind.ts'
import type { ClientViews, Conditions } from '../client-views.ts'
import { configResource } from '../config/configs.ts'
import type { Guard, Resource } from '../guard.ts'
import { askerOf, type Caller } from '../authorisation.ts'
import type { LongWalks, Turns } from '../../core/work/long-walks.ts'
import type { Member } from '../server/operator.ts'
import { type ServiceKey, serviceKeyText } from '../../core/naming/state/service.ts'
import {
  newestLosses,
  type LostService,
  type LostServices,
} from '../../core/naming/timeline/lost-services.ts'
import { figuresOf, type ServiceFigures } from './service-inventory.ts'
import { serviceResource, WRITE_SERVICE } from '../naming/services.ts'
import { configsToLookAt, servicesToLookAt } from './readable.ts'

interface OverviewParts {
  readonly guard: Guard
  readonly state: Pick<State, 'configs' | 'services'>
  readonly views: Pick<ClientViews, 'conditions' | 'dismissLost'>
  readonly timeline: { readonly lost: Pick<LostServices, 'isDismissed'> }
  readonly members: () => readonly Member[]
  readonly walks: LongWalks
}

/** Conditions of a service that may need attention, the worst first. */
export const ATTENTION_KINDS = [
  'service-lost',
  'service-protecting',
  'service-unhealthy',
  'service-empty',
] as const

/** A service that needs attention. */
export interface Attention {
  readonly kind: (typeof ATTENTION_KINDS)[number]
  readonly key: ServiceKey
  readonly ipCount: number
  readonly healthyCount: number
  /** Epoch ms of its last change, or of the loss of its last instance. */
  readonly lastChangeMs: number
  /** The last instance that left, and why; undefined for other kinds. */
  readonly lost?: Pick<LostService, 'address' | 'cause'>
}

/** How everything is, as far as the caller may see it. */
export interface Overview {
  readonly configCount: number
  readonly serviceCount: number
  readonly instanceCount: number
  readonly healthyInstanceCount: number
  readonly disabledInstanceCount: number
  /** Undefined where the caller may not see the figures of servers. */
  readonly subscriberCount: number | undefined
  /** At most {@link MOST_ATTENTIONS} of each kind. */
  readonly attention: readonly Attention[]
  /** Items that clients of any server have not got, though they watch them. */
  readonly behind: readonly BehindItem[]
  /** Faults and lag of other servers, if the caller may see servers. */
  readonly faults: readonly OtherFault[]
  /** The servers that have not replied in time: their clients are missing. */
  readonly missingServers: readonly string[]
  /** The servers, if the caller may see them. */
  readonly members: readonly Member[]
  /** Whether counting took too long: then there is more. */
  readonly isTruncated: boolean
}

/** A fault of another server, by its member id; empty for this server where it lags. */
export interface OtherFault extends ServerFault {
  readonly server: string
}

const MOST_ATTENTIONS = 50
/** The knowledge of the store is up to a second old where nothing changes. */
const LAGS_AFTER_MS = 3_000

/** Makes the overview, for every signed-in user: it has everything that the user may read. */
export function overviewOperations(parts: OverviewParts) {
  const { guard } = parts
  return {
    show: guard.operation({
      permission: { action: 'read', resource: 'own-account' },
      resources: (): Resource[] => [{ kind: 'own-account' }],
      run: (request: { namespaceId: string | undefined }, caller) => overview(parts, request, caller),
    }),
    /** Somebody has seen that a service has no instances any more: the overview leaves it out. */
    dismissLost: guard.operation({
      permission: WRITE_SERVICE,
      audit: { operation: 'dismiss lost service' },
      resources: ({ key }: { readonly key: ServiceKey }) => [serviceResource(key)],
      run: ({ key }) => parts.views.dismissLost(key),
    }),
  }
}

async function overview(
  parts: OverviewParts,
  { namespaceId }: { namespaceId: string | undefined },
  caller: Caller,
): Promise<Overview> {
  const { guard, state, views, members, walks } = parts
  const shows = (resource: Resource): boolean => guard.shows(caller, 'read', resource)
  const tally = new Tally()
  const count = (turns: Turns) => countAll(parts, { namespaceId, shows, tally }, turns)
  // The other servers are asked while this one counts.
  const [isWhole, { value, missing }] = await Promise.all([
    walks.run(askerOf(caller), count),
    views.conditions(),
  ])
  const all = [value.own, ...value.others]
  const isMeant = (key: { readonly namespaceId: string }, resource: Resource): boolean =>
    (namespaceId === undefined || key.namespaceId === namespaceId) && shows(resource)
  // A server that lags may not know that it has come back.
  const lost = all
    .flatMap((condition) => condition.lost)
    .filter(({ key }) => (state.services.get(key)?.instances.size ?? 0) === 0)
    .filter(({ key }) => isMeant(key, serviceResource(key)))
  return {
    ...tally.counts(lost),
    behind: togetherBehind(all.flatMap(({ behind }) => behind))
      .filter(({ key }) => isMeant(key, configResource(key)))
      .slice(0, MOST_ATTENTIONS),
    faults: shows({ kind: 'operator' }) ? faultsIn(value) : [],
    missingServers: missing,
    subscriberCount: shows({ kind: 'metrics' }) ? subscribersIn(value) : undefined,
    members: shows({ kind: 'operator' }) ? members() : [],
    isTruncated: !isWhole,
  }
}

/** A namespace to count, the rights of the caller, and the tally. */
interface Counting {
  readonly namespaceId: string | undefined
  readonly shows: (resource: Resource) => boolean
  readonly tally: Tally
}

/** Counts services and configurations. Resolves to false where that took too long. */
async function countAll(
  { state, timeline }: OverviewParts,
  { namespaceId, shows, tally }: Counting,
  turns: Turns,
): Promise<boolean> {
  for (const entry of servicesToLookAt(state.services, namespaceId, shows)) {
    if (turns.isDue && !(await turns.turn())) return false
    const { key } = entry.service
    if (shows(serviceResource(key))) tally.addService(figuresOf(entry), timeline.lost.isDismissed(key))
  }
  for (const item of configsToLookAt(state.configs, namespaceId, shows)) {
    if (turns.isDue && !(await turns.turn())) return false
    if (shows(configResource(item.key))) tally.configCount++
  }
  return true
}

function subscribersIn({ own, others }: Conditions): number {
  return [own, ...others].reduce((sum, { subscriberCount }) => sum + subscriberCount, 0)
}

/** The faults of this server itself are shown elsewhere. */
function faultsIn({ own, others }: Conditions): OtherFault[] {
  const reported = others.flatMap(({ server, faults }) => faults.map((fault) => ({ server, ...fault })))
  const late = [{ ...own, server: '' }, ...others].filter(({ lagMs }) => lagMs > LAGS_AFTER_MS)
  const lags = late.map(({ server, lagMs }) => {
    const forMs = Math.round(lagMs)
    return { server, code: 'lags', detail: 'What this server knows of the store is old.', forMs }
  })
  return [...reported, ...lags]
}

class Tally {
  configCount = 0
  #serviceCount = 0
  #instanceCount = 0
  #healthyCount = 0
  #disabledCount = 0
  readonly #attention: Attention[] = []

  addService(figures: ServiceFigures, isDismissed: boolean): void {
    const { entry, healthyCount, disabledCount } = figures
    this.#serviceCount++
    this.#instanceCount += entry.instances.size
    this.#healthyCount += healthyCount
    this.#disabledCount += disabledCount
    const kind = attentionFor(figures)
    if (kind === 'service-empty' && isDismissed) return
    if (kind !== undefined && this.#attention.filter((one) => one.kind === kind).length < MOST_ATTENTIONS)
      this.#attention.push({
        kind,
        key: entry.service.key,
        ipCount: entry.instances.size,
        healthyCount,
        lastChangeMs: entry.changedMs,
      })
  }

  counts(
    lost: readonly LostService[],
  ): Omit<Overview, 'subscriberCount' | 'behind' | 'faults' | 'missingServers' | 'members' | 'isTruncated'> {
    return {
      configCount: this.configCount,
      serviceCount: this.#serviceCount,
      instanceCount: this.#instanceCount,
      healthyInstanceCount: this.#healthyCount,
      disabledInstanceCount: this.#disabledCount,
      attention: this.#attentionWith(lost),
    }
  }

  /** The losses, the newest first, and all other services by their kinds: a lost one is not empty besides. */
  #attentionWith(lost: readonly LostService[]): Attention[] {
    const newest = newestLosses(lost)
    const names = new Set(newest.map(({ key }) => serviceKeyText(key)))
    const losses = newest.slice(0, MOST_ATTENTIONS).map(({ key, atMs, address, cause }): Attention => {
      const none = { ipCount: 0, healthyCount: 0, lastChangeMs: atMs }
      return { kind: 'service-lost', key, ...none, lost: { address, cause } }
    })
    const others = this.#attention.filter(({ key }) => !names.has(serviceKeyText(key)))
    const isOf = (kind: Attention['kind']) => (one: Attention) => one.kind === kind
    return [...losses, ...ATTENTION_KINDS.flatMap((kind) => others.filter(isOf(kind)))]
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
