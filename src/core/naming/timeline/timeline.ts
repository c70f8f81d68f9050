import { type Change, type InstanceRemoved, type InstanceSaved, savedValue } from '../../decisions/changes.ts'
import { type Now, shownMsOf } from '../../decisions/stamps.ts'
import type { AskedLeave } from '../state/connection-publisher.ts'
import type { InstanceAddress, Publisher } from '../state/instance.ts'
import type { Instance } from '../state/service-entry.ts'
import { addressText, isSameMetadata, isSamePublisher } from '../state/instance.ts'
import type { RecordRemoved } from '../../records/record-kind.ts'
import type { RecordView } from '../../records/record-tables.ts'
import { REMEMBERED_METADATA, rememberedId } from '../state/remembered-metadata.ts'
import { type Service, type ServiceKey, serviceKeyText } from '../state/service.ts'
import {
  type Actor,
  orderOf,
  type TimelineCause,
  type TimelineEntry,
  type TimelineKind,
} from './timeline-entry.ts'
import { type LostService, LostServices } from './lost-services.ts'
import { TimelineRing } from './timeline-ring.ts'

/** The memory of a server about a service, newest first. It is complete from `fromMs` on, epoch ms. */
export interface OwnTimeline {
  readonly fromMs: number
  readonly entries: readonly TimelineEntry[]
}

/** The requests, and the kinds of entries that they cause. */
const KINDS_OF_REQUEST = {
  modify: ['enabled', 'disabled', 'weight', 'metadata'],
  lift: ['enabled', 'disabled', 'weight', 'lifted'],
  health: ['healthy', 'unhealthy'],
  deregister: ['removed'],
} as const satisfies Record<string, readonly TimelineKind[]>

/** Instances for which somebody asks for a change; `address` undefined: for several of the service. */
export interface TimelineRequest {
  readonly what: keyof typeof KINDS_OF_REQUEST
  readonly key: ServiceKey
  readonly address: InstanceAddress | undefined
  readonly actor: Actor
}

/** Dependencies of a timeline. */
export interface TimelineParts {
  /** When it begins to watch, epoch ms. */
  readonly startMs: number
  /** The result of the last probe of an instance; empty: this server knows none. */
  readonly probeText: (key: ServiceKey, address: InstanceAddress) => string
}

/** The state before a change. */
interface Before extends Pick<RecordView, 'record'> {
  service(key: ServiceKey): Pick<Service, 'key'> | undefined
  instance(key: ServiceKey, address: InstanceAddress): Instance | undefined
}

/** The state after a step. */
interface After {
  instanceCount(key: ServiceKey): number
}

/** Clients and probes cause more changes than people, and must not drive out the changes by people. */
const MOST_OF_CLIENTS = 40_000
const MOST_OF_PEOPLE = 10_000

type Found = Pick<TimelineEntry, 'kind' | 'cause'> & { readonly text?: string }
type Moment = Pick<TimelineEntry, 'stamp' | 'atMs'>
type TimelinePlace = Pick<LostService, 'key' | 'address'>

/**
 * The history of the instances of each service, for people. It is in the memory of this server, in places
 * that are there from the start, so that it does not grow. It gets every change before the change is applied.
 */
export class Timeline {
  readonly lost = new LostServices()
  readonly #parts: TimelineParts
  readonly #ofClients: TimelineRing
  readonly #ofPeople: TimelineRing
  /** The requests underway, by place. */
  readonly #requests = new Map<string, TimelineRequest>()
  /** Requests underway of connections whose instances leave, by service and publisher. */
  readonly #asked = new Map<string, AskedLeave>()
  /** The last removal of each service in the current step, by the texts of keys. */
  readonly #leaving = new Map<string, LostService>()

  constructor(parts: TimelineParts) {
    this.#parts = parts
    this.#ofClients = new TimelineRing(MOST_OF_CLIENTS, parts.startMs)
    this.#ofPeople = new TimelineRing(MOST_OF_PEOPLE, parts.startMs)
  }

  /** Carries out a request: until it ends, its changes have the name of its author. */
  during<T>(request: TimelineRequest, run: () => T): T {
    return noted(this.#requests, [placeText(request.key, request.address), request], run)
  }

  /** Carries out a request of a connection: until it ends, its instances leave for this cause. */
  readonly whileLeaving = <T>(leave: AskedLeave, run: () => T): T =>
    noted(this.#asked, [leaveText(leave), leave], run)

  /** Call it with each change, before the state has it. */
  see(change: Change, before: Before, { wallMs }: Pick<Now, 'wallMs'>): void {
    switch (change.kind) {
      case 'instance-saved':
        return this.#saved(change, before, momentOf(change.stamp, wallMs))
      case 'instance-removed': {
        const known = before.instance(change.serviceKey, change.address)
        return this.#removed(change.reason, known, momentOf(change.stamp, wallMs))
      }
      case 'instance-health-changed': {
        const { serviceKey, address, healthy, stamp } = change
        const instance = before.instance(serviceKey, address)
        if (instance !== undefined && instance.healthy !== healthy)
          this.#note(placeOf(instance), this.#health(instance, healthy), momentOf(stamp, wallMs))
        return
      }
      case 'record-saved': {
        if (change.recordKind !== REMEMBERED_METADATA.name) return
        const place = savedValue(REMEMBERED_METADATA, change)
        const instance = place && before.instance(place.serviceKey, place.address)
        if (place === undefined || instance === undefined) return
        const { metadata = {} } = before.record(REMEMBERED_METADATA, change.id) ?? {}
        if (isSameMetadata(metadata, place.metadata)) return
        const found = { kind: 'metadata', cause: 'operator' } as const
        const moment = momentOf(change.stamp, wallMs)
        this.#note(placeOf(instance), found, moment)
        return
      }
      case 'record-removed':
        return this.#recordRemoved(change, before, momentOf(change.stamp, wallMs))
      case 'service-saved':
      case 'service-deleted':
      case 'config-published':
      case 'config-deleted':
      case 'history-imported':
    }
  }

  /** Call it after the changes of a step are applied. Several instances may have left in one step. */
  seen(after: After): void {
    // A Map that is cleared allocates, also an empty one.
    if (this.#leaving.size === 0) return
    for (const lost of this.#leaving.values()) if (after.instanceCount(lost.key) === 0) this.lost.left(lost)
    this.#leaving.clear()
  }

  /** The first beat after a deregistration that did not bring the instance back. */
  lateBeat(key: ServiceKey, address: InstanceAddress, { stamp, wallMs }: Now): void {
    const moment = momentOf(stamp, wallMs)
    this.#note({ key, address }, { kind: 'late-beat', cause: 'deregistration' }, moment)
  }

  of(key: ServiceKey): OwnTimeline {
    const rings = [this.#ofClients, this.#ofPeople]
    const entries = rings.flatMap((ring) => ring.of(key)).sort((a, b) => orderOf(b) - orderOf(a))
    return { fromMs: Math.max(...rings.map(({ fromMs }) => fromMs)), entries }
  }

  #saved(change: InstanceSaved, state: Before, moment: Moment): void {
    const { record } = change
    const known = state.instance(change.serviceKey, record.address)
    // The key object of the state: an entry may outlive the request, and must not keep a second key in memory.
    const serviceKey = state.service(change.serviceKey)?.key ?? change.serviceKey
    const note = (found: Found): void =>
      this.#note({ key: serviceKey, address: record.address }, found, moment)
    if (known === undefined) {
      this.lost.back(serviceKey)
      const cause = isRevived(change, state) ? 'memory' : registrationBy(record.publisher)
      if (change.beat) note({ kind: 'registered', cause })
      return
    }
    const before = known.record
    // The publisher has left, and a claim has taken the address over.
    const isTakenOver = !change.beat && !isSamePublisher(before.publisher, record.publisher)
    const cause = change.beat ? registrationBy(record.publisher) : isTakenOver ? 'claim' : 'operator'
    const kinds: Found[] = isTakenOver ? [{ kind: 'registered', cause }] : []
    if (before.enabled !== record.enabled)
      kinds.push({ kind: record.enabled ? 'enabled' : 'disabled', cause })
    if (before.weight !== record.weight)
      kinds.push({ kind: 'weight', cause, text: `${before.weight} → ${record.weight}` })
    if (change.healthy !== undefined && change.healthy !== known.healthy)
      kinds.push(
        change.beat ? { kind: healthKind(change.healthy), cause } : this.#health(known, change.healthy),
      )
    if (kinds.length === 0 && !isSameMetadata(before.registered, record.registered))
      kinds.push({ kind: 'metadata', cause })
    for (const found of kinds) note(found)
  }

  #removed(reason: InstanceRemoved['reason'], known: Instance | undefined, moment: Moment): void {
    if (known === undefined) return
    const { address, publisher } = known.record
    const { key } = known.entry.service
    const cause = reason === 'expired' ? 'silence' : this.#causeOfLeave(key, publisher)
    const { stamp, atMs } = moment
    this.#leaving.set(serviceKeyText(key), { key, stamp, atMs, address, cause })
    this.#note({ key, address }, { kind: 'removed', cause }, moment)
  }

  #causeOfLeave(serviceKey: ServiceKey, publisher: Publisher): TimelineCause {
    if (publisher.kind !== 'connection') return 'deregistration'
    if (this.#asked.size === 0) return 'connection'
    return this.#asked.get(leaveText({ serviceKey, publisher }))?.cause ?? 'connection'
  }

  /** If somebody asks to lift it, what operators have set is gone as a whole. */
  #recordRemoved({ recordKind, id }: RecordRemoved, state: Before, moment: Moment): void {
    if (recordKind !== REMEMBERED_METADATA.name) return
    const place = state.record(REMEMBERED_METADATA, id)
    const instance = place && state.instance(place.serviceKey, place.address)
    if (instance === undefined) return
    const { key } = instance.entry.service
    const { address } = instance.record
    if (this.#requestFor(key, address)?.what !== 'lift') return
    this.#note({ key, address }, { kind: 'lifted', cause: 'operator' }, moment)
  }

  /** A change of health, with its cause by the publisher of the instance. Requests of people have their own causes. */
  #health({ record, entry }: Instance, healthy: boolean): Found {
    const kind = healthKind(healthy)
    switch (record.publisher.kind) {
      case 'beats':
        return { kind, cause: healthy ? 'beat' : 'silence' }
      case 'connection':
        return { kind, cause: 'connection' }
      case 'operator':
        return { kind, cause: 'probe', text: this.#parts.probeText(entry.service.key, record.address) }
    }
  }

  #note({ key, address }: TimelinePlace, { kind, cause, text = '' }: Found, { stamp, atMs }: Moment): void {
    const actor = this.#requests.size === 0 ? undefined : this.#actorOf(key, address, kind)
    const isAsked = actor !== undefined && kind !== 'removed'
    const entry = {
      stamp,
      atMs,
      kind,
      address,
      cause: isAsked ? 'operator' : cause,
      text,
      actor,
    } as const
    // A caller who is not signed in may be any client that leaves.
    const isOfPeople = entry.cause === 'operator' || (actor !== undefined && actor.user !== null)
    const ring = isOfPeople ? this.#ofPeople : this.#ofClients
    ring.add(key, entry)
  }

  #actorOf(key: ServiceKey, address: InstanceAddress, kind: TimelineKind): Actor | undefined {
    const request = this.#requestFor(key, address)
    if (request === undefined) return undefined
    const kinds: readonly TimelineKind[] = KINDS_OF_REQUEST[request.what]
    return kinds.includes(kind) ? request.actor : undefined
  }

  #requestFor(key: ServiceKey, address: InstanceAddress): TimelineRequest | undefined {
    return this.#requests.get(placeText(key, address)) ?? this.#requests.get(placeText(key, undefined))
  }
}

function placeOf({ entry, record }: Instance): TimelinePlace {
  return { key: entry.service.key, address: record.address }
}

function momentOf(stamp: number, wallMs: number): Moment {
  return { stamp, atMs: shownMsOf(stamp, wallMs) }
}

/** Whether a registration is the one that silence has removed. */
function isRevived({ serviceKey, record }: InstanceSaved, state: Before): boolean {
  const over = state.record(REMEMBERED_METADATA, rememberedId({ serviceKey, address: record.address }))
  if (over?.silenced === undefined || record.publisher.kind !== 'beats') return false
  const { weight, enabled, registered } = over.silenced
  const isSame = record.weight === (over.weight ?? weight) && record.enabled === (over.enabled ?? enabled)
  return isSame && isSameMetadata(record.registered, registered)
}

/** Keeps a value in a map while something runs. */
function noted<V, T>(map: Map<string, V>, [key, value]: readonly [string, V], run: () => T): T {
  map.set(key, value)
  const end = (): void => {
    if (map.get(key) === value) map.delete(key)
  }
  let outcome: T
  try {
    outcome = run()
  } catch (error) {
    end()
    throw error
  }
  if (outcome instanceof Promise) outcome.then(end, end)
  else end()
  return outcome
}

function leaveText({ serviceKey, publisher }: Pick<AskedLeave, 'serviceKey' | 'publisher'>): string {
  return `${serviceKeyText(serviceKey)} ${publisher.kind === 'connection' ? publisher.id : ''}`
}

function placeText({ namespaceId, groupedName }: ServiceKey, address: InstanceAddress | undefined): string {
  return `${namespaceId} ${groupedName} ${address === undefined ? '' : addressText(address)}`
}

function registrationBy({ kind }: Publisher): TimelineCause {
  return kind === 'connection' ? 'connection' : 'registration'
}

function healthKind(healthy: boolean): TimelineKind {
  return healthy ? 'healthy' : 'unhealthy'
}
