import type { Change, FedChange } from '../decisions/changes.ts'
import { DAMAGED_ITEM } from '../config/state/damaged-item.ts'
import type { Follower } from './follower.ts'
import type { Loaded, SharedCommit, StoreFollower, Snapshot, StoredInstance } from './ports.ts'
import { stampOfChange, type Stamps, historyIdOf } from '../decisions/stamps.ts'
import type { State } from './state.ts'
import { addressText } from '../naming/state/instance.ts'
import { DAMAGED_SERVICE } from '../naming/state/damaged-service.ts'
import { type ServiceKey, serviceKeyText } from '../naming/state/service.ts'
import { ELECTION, MEMBER } from '../cluster/members/member-records.ts'
import { STORED_KINDS } from './stored-kinds.ts'

/**
 * Follows a store that several servers share. Serials are numbers of one server, so the store has none: each new thing
 * gets the next serial. So all servers list instances in the same order, the order of the revisions.
 */
export class SharedFollower implements StoreFollower {
  readonly #follower: Follower
  readonly #stamps: Stamps

  /** `stamps`: no later decision of this server has a smaller stamp than an applied change. */
  constructor(follower: Follower, stamps: Stamps) {
    this.#follower = follower
    this.#stamps = stamps
  }

  applied({ revision, changes, stamp = 0 }: SharedCommit): void {
    this.#stamps.see(stamp)
    this.#follower.applied({ revision, changes: this.#seen(changes) })
  }

  reloaded(loaded: Loaded): void {
    const { revision, largestStamp } = loaded
    this.#stamps.see(largestStamp)
    const changes = differenceTo(loaded, this.#follower.state, largestStamp)
    this.#follower.reloaded({ revision, changes: this.#seen(changes) })
  }

  hasService(service: ServiceKey): boolean {
    return this.#follower.state.services.get(service) !== undefined
  }

  saw(stamp: number): void {
    this.#stamps.see(stamp)
  }

  #seen(changes: readonly FedChange[]): readonly Change[] {
    for (const change of changes) this.#stamps.see(stampOfChange(change))
    const { state, serials } = this.#follower
    const wholes = changes.flatMap((change) => whole(change, state))
    return serials.ofFeed(wholes, state)
  }
}

/** A deletion with the item that it has deleted (who did it is in the history); a removal with the ip as registered. */
function whole(change: FedChange, state: State): Change[] {
  if (change.kind === 'instance-removed') {
    const { address = change.address } = state.instance(change.serviceKey, change.address)?.record ?? {}
    return [{ ...change, address }]
  }
  if (change.kind !== 'config-deleted') return [change]
  const deleted = state.config(change.key)
  if (deleted === undefined) return []
  return [{ ...change, deleted, operator: { ip: '', user: null }, atMs: deleted.modifiedMs }]
}

/** Members are stored only where several servers share a store. */
const SHARED_KINDS = [...STORED_KINDS, MEMBER, ELECTION, DAMAGED_ITEM, DAMAGED_SERVICE]
const NOBODY = { ip: '', user: null } as const

/**
 * The changes from a state to the loaded state, or loaded part: for a server that could not follow its store for a while.
 * Services and records are saved again even if nothing differs; an item is not, so that its listeners do not wake. Things
 * that were removed and created again are removed first, to have the same order of creation as on other servers.
 */
function differenceTo(loaded: Loaded, state: State, stamp: number): Change[] {
  const { configs, records, services, instances, leftOut } = loaded
  const naming = services && instances && { services, instances, leftOut }
  return [
    ...(configs ? configDifference({ configs, leftOut }, state, stamp) : []),
    ...(records ? recordDifference(records, state, stamp) : []),
    ...(naming ? namingDifference(naming, state, stamp) : []),
  ]
}

function* configDifference(
  { configs, leftOut }: Pick<Snapshot, 'configs' | 'leftOut'>,
  state: State,
  stamp: number,
): Generator<Change> {
  const stays = staying(
    Array.from(state.configs.all(), ({ key }) => key.text),
    configs.map(({ key }) => key.text),
  )
  for (const deleted of state.configs.all())
    if (!stays.has(deleted.key.text) && leftOut?.items.has(deleted.key.text) !== true) {
      const { key, modifiedMs: atMs } = deleted
      yield { kind: 'config-deleted', key, deleted, operator: NOBODY, atMs, historyId: historyIdOf(stamp) }
    }
  for (const item of configs) {
    const previous = stays.has(item.key.text) ? state.config(item.key) : undefined
    if (previous?.historyId === item.historyId) continue
    const op = previous === undefined ? 'I' : 'U'
    yield { kind: 'config-published', op, item, previous, operator: NOBODY }
  }
}

function* recordDifference(records: Snapshot['records'], state: State, stamp: number): Generator<Change> {
  for (const { name, isLocal, decode } of SHARED_KINDS) {
    const stored = records.filter(({ recordKind }) => recordKind === name)
    const known = Array.from(state.records({ name, isLocal, decode }), ([id]) => id)
    const stays = staying(
      known,
      stored.map(({ id }) => id),
    )
    for (const id of known) if (!stays.has(id)) yield { kind: 'record-removed', recordKind: name, id, stamp }
    for (const record of stored) yield { kind: 'record-saved', ...record, stamp }
  }
}

function* namingDifference(
  snapshot: Pick<Snapshot, 'services' | 'instances' | 'leftOut'>,
  state: State,
  stamp: number,
): Generator<Change> {
  const services = new Set(snapshot.services.map(({ key }) => serviceKeyText(key)))
  const instances = addressesByService(snapshot.instances)
  const staysOf = new Map<string, ReadonlySet<string>>()
  for (const { service } of state.services.all()) {
    const { key, serial } = service
    if (snapshot.leftOut?.services.has(serviceKeyText(key)) === true) continue
    const known = [...state.instances(key)]
    const stored = instances.get(serviceKeyText(key)) ?? []
    const stays = staying(known.map(whereText), stored)
    staysOf.set(serviceKeyText(key), stays)
    for (const { record } of known) {
      const { address, serial: own } = record
      const about = { serviceKey: key, address, serial: own }
      if (!stays.has(whereText({ record })))
        yield { kind: 'instance-removed', ...about, reason: 'absent', stamp }
    }
    if (!services.has(serviceKeyText(key))) yield { kind: 'service-deleted', key, serial }
  }
  for (const service of snapshot.services) yield { kind: 'service-saved', service, stamp }
  for (const { serviceKey, record, healthy } of snapshot.instances) {
    // An instance that stayed has no beat here. Any other one has registered at another server: that counts as a beat.
    const beat = staysOf.get(serviceKeyText(serviceKey))?.has(whereText({ record })) !== true
    yield { kind: 'instance-saved', serviceKey, serviceSerial: 0, record, healthy, beat, stamp }
  }
}

/**
 * The earlier names that keep their places. New things come last in the order: so everything after the first new name
 * is new or was created again.
 */
function staying(before: readonly string[], after: readonly string[]): ReadonlySet<string> {
  const places = new Map(before.map((name, place) => [name, place]))
  const stays = new Set<string>()
  let last = -1
  for (const name of after) {
    const place = places.get(name)
    if (place === undefined || place < last) break
    last = place
    stays.add(name)
  }
  return stays
}

function addressesByService(instances: readonly StoredInstance[]): ReadonlyMap<string, readonly string[]> {
  const addresses = new Map<string, string[]>()
  for (const instance of instances) {
    const service = serviceKeyText(instance.serviceKey)
    const known = addresses.get(service)
    if (known === undefined) addresses.set(service, [whereText(instance)])
    else known.push(whereText(instance))
  }
  return addresses
}

function whereText({ record }: Pick<StoredInstance, 'record'>): string {
  return addressText(record.address)
}
