import type { Change, InstanceSaved, ServiceSaved } from '../decisions/changes.ts'
import { LeftInstances, type PlacedInstance } from './left-instances.ts'
import type { StoredSerials } from './ports.ts'
import type { ServiceKey } from '../naming/state/service.ts'
import type { ServiceEntry } from '../naming/state/service-entry.ts'
import { REMEMBERED_METADATA } from '../naming/state/remembered-metadata.ts'
import { type RecordRemoved, recordRemoved, type RecordSaved, recordSaved } from '../records/record-kind.ts'
import type { State } from './state.ts'

interface DirtyService {
  readonly serviceKey: ServiceKey
  readonly address: undefined
  readonly serial: number
}

interface DirtyInstance extends PlacedInstance {
  /** Its service when it changed, so that it need not be looked up again. Undefined: look it up. */
  readonly entry: ServiceEntry | undefined
}

/** A thing that is newer in the state than on disk. */
type Dirty = DirtyService | DirtyInstance

/**
 * The records that changed without waiting for the disk, by serial. Their present state is written: a record that
 * changed a hundred times is written once, and there is no queue of old writes.
 *
 * A pass writes them in the order of their serials. So a service is written before its instances, and a removal before
 * the instance that replaces it, because they have the lower serial. Remembered metadata has no serial, and is written first.
 */
export class WriteBehind {
  readonly #store: StoredSerials
  /** Changed, and not in the current pass. */
  #dirty = new Map<number, Dirty>()
  /** The rest of the current pass, last first. */
  readonly #pass: Dirty[] = []
  readonly #left = new LeftInstances()
  /** The places whose remembered metadata changed, by the ids of the records. */
  readonly #remembered = new Set<string>()

  /** `store`: shows which things it has, because only these must be removed. */
  constructor(store: StoredSerials) {
    this.#store = store
  }

  /** How many records wait to be written. */
  get size(): number {
    return this.#dirty.size + this.#pass.length + this.#remembered.size
  }

  /** Whether a pass has begun and is not finished. */
  get isPassing(): boolean {
    return this.#pass.length > 0
  }

  /** Notes a change before it is applied without waiting for the disk. */
  note(change: Change, state: State): void {
    if (isRemembering(change)) return void this.#remembered.add(change.id)
    // It is written as it will be then.
    if (change.kind === 'instance-saved' && this.#dirty.has(change.record.serial)) return
    const dirty = dirtyOf(change, 'serviceKey' in change ? state.services.get(change.serviceKey) : undefined)
    this.#dirty.set(dirty.serial, dirty)
    if (change.kind === 'instance-removed' && this.#store.mayHave(change.serial)) this.#left.add(change)
  }

  /** Takes at most `most` records of the current pass, or of a new one, as changes that write their present state. */
  take(most: number, state: State, stamp: number): Change[] {
    if (!this.isPassing) this.#beginPass()
    const changes: Change[] = []
    for (const id of this.#remembered) {
      if (changes.length >= most) return changes
      this.#remembered.delete(id)
      changes.push(rememberedNow(id, state, stamp))
    }
    while (changes.length < most) {
      const dirty = this.#pass.pop()
      if (dirty === undefined) break
      if (dirty.address !== undefined) this.#left.delete(dirty)
      const change = this.#presentOf(dirty, state, stamp)
      if (change !== undefined) changes.push(change)
    }
    return changes
  }

  /**
   * Takes the records that durable changes depend on: the service of an instance, and the removal of an instance that
   * was at its address before. They are written in the same commit, so that a crash finds both or neither.
   */
  takeBound(changes: readonly Change[], state: State, stamp: number): Change[] {
    const bound = new Map<number, Dirty>()
    for (const change of changes) {
      if (change.kind !== 'instance-saved') continue
      const { serviceKey, serviceSerial: serial } = change
      const isOfState = state.service(serviceKey)?.serial === serial
      if (isOfState && !this.#store.surelyHas(serial))
        bound.set(serial, { serviceKey, address: undefined, serial })
      const place = { serviceKey, address: change.record.address }
      for (const left of this.#left.at(place)) bound.set(left.serial, { ...left, entry: undefined })
    }
    for (const dirty of bound.values()) {
      this.#dirty.delete(dirty.serial)
      if (dirty.address !== undefined) this.#left.delete(dirty)
    }
    const present = [...bound.values()].map((dirty) => this.#presentOf(dirty, state, stamp))
    return present.filter((change) => change !== undefined)
  }

  /** Puts back records that could not be written. They are taken first next time. */
  putBack(changes: readonly Change[]): void {
    for (const change of changes.toReversed()) {
      if (isRemembering(change)) this.#remembered.add(change.id)
      else this.#pass.push(dirtyOf(change, undefined))
      if (change.kind === 'instance-removed') this.#left.add(change)
    }
  }

  #beginPass(): void {
    // Numbers are sorted ten times as fast as objects.
    const serials = new Float64Array(this.#dirty.size)
    let at = 0
    for (const serial of this.#dirty.keys()) serials[at++] = serial
    for (const serial of serials.sort().reverse()) this.#pass.push(this.#dirty.get(serial)!)
    this.#dirty = new Map()
  }

  /** The change that writes the present state of a record. Undefined: it has left, and the store does not have it. */
  #presentOf(dirty: Dirty, state: State, stamp: number): Change | undefined {
    const { serviceKey, address, serial } = dirty
    const saved = address === undefined ? serviceNow(dirty, state, stamp) : instanceNow(dirty, state, stamp)
    if (saved !== undefined || !this.#store.mayHave(serial)) return saved
    if (address === undefined) return { kind: 'service-deleted', key: serviceKey, serial }
    return { kind: 'instance-removed', serviceKey, address, serial, reason: 'expired', stamp }
  }
}

/** The only small records that need not wait for the disk: they change with their instances. */
function isRemembering(change: Change): change is RecordSaved | RecordRemoved {
  const isOfRecord = change.kind === 'record-saved' || change.kind === 'record-removed'
  return isOfRecord && change.recordKind === REMEMBERED_METADATA.name
}

function rememberedNow(id: string, state: State, stamp: number): Change {
  const value = state.record(REMEMBERED_METADATA, id)
  if (value === undefined) return recordRemoved(REMEMBERED_METADATA, id, stamp)
  return recordSaved(REMEMBERED_METADATA, { id, value, stamp })
}

/** `entry` is the service of the instance. Its key is kept, because the key of a change may keep the text of a request. */
function dirtyOf(change: Change, entry: ServiceEntry | undefined): Dirty {
  switch (change.kind) {
    case 'service-saved':
      return { serviceKey: change.service.key, address: undefined, serial: change.service.serial }
    case 'service-deleted':
      return { serviceKey: change.key, address: undefined, serial: change.serial }
    case 'instance-saved': {
      const { address, serial } = change.record
      return { serviceKey: entry?.service.key ?? change.serviceKey, address, serial, entry }
    }
    case 'instance-removed':
    case 'instance-health-changed': {
      const { address, serial } = change
      return { serviceKey: entry?.service.key ?? change.serviceKey, address, serial, entry }
    }
    case 'config-published':
    case 'config-deleted':
    case 'history-imported':
    case 'record-saved':
    case 'record-removed':
      throw new Error(`${change.kind} must be on disk before it is applied`)
  }
}

/** The change that saves the service as it is. Undefined: it has left. */
function serviceNow(
  { serviceKey, serial }: DirtyService,
  state: State,
  stamp: number,
): ServiceSaved | undefined {
  const service = state.service(serviceKey)
  return service?.serial === serial ? { kind: 'service-saved', service, stamp } : undefined
}

/** The change that saves the instance as it is. Undefined: it has left. */
function instanceNow(dirty: DirtyInstance, state: State, stamp: number): InstanceSaved | undefined {
  const { serviceKey, address, serial } = dirty
  // The entry of a service that has left is empty.
  const entry = dirty.entry ?? state.services.get(serviceKey)
  const instance = entry?.get(address)
  if (instance?.record.serial !== serial) return undefined
  const { record, healthy } = instance
  const serviceSerial = instance.entry.service.serial
  return { kind: 'instance-saved', serviceKey, serviceSerial, record, healthy, beat: false, stamp }
}
