import type { Change } from './changes.ts'
import type { InstanceAddress } from './naming/instance.ts'
import type { ServiceKey } from './naming/service.ts'
import type { State } from './state.ts'

/** A record whose written form is older than what is known. */
interface Dirty {
  readonly serviceKey: ServiceKey
  /** Undefined: the service itself. */
  readonly address: InstanceAddress | undefined
  readonly serial: number
}

/**
 * The records that were changed without waiting for the disk, by serial. What is flushed is their state at
 * that time: a record that changed a hundred times is written once, and there is no queue of old writes.
 */
export class WriteBehind {
  readonly #dirty = new Map<number, Dirty>()

  /** How many records wait to be written. */
  get size(): number {
    return this.#dirty.size
  }

  /** Notes a change that is about to be applied without waiting for the disk. */
  note(change: Change, state: State): void {
    switch (change.kind) {
      case 'service-saved':
        if (state.service(change.service.key) === undefined) state.unstored.add(change.service.serial)
        this.#noteService(change.service.key, change.service.serial)
        return
      case 'service-deleted':
        this.#noteService(change.key, change.serial)
        return
      case 'instance-saved': {
        const { serviceKey, record } = change
        if (state.instance(serviceKey, record.address) === undefined) state.unstored.add(record.serial)
        this.#dirty.set(record.serial, { serviceKey, address: record.address, serial: record.serial })
        return
      }
      case 'instance-removed':
      case 'instance-health-changed':
        this.#dirty.set(change.serial, change)
        return
      default:
        throw new Error(`${change.kind} must be on disk before it is applied`)
    }
  }

  /** Takes at most `most` records out, as the changes that write their present state. */
  take(most: number, state: State, atMs: number): Change[] {
    const changes: Change[] = []
    for (const dirty of this.#dirty.values()) {
      if (changes.length >= most) break
      this.#dirty.delete(dirty.serial)
      const change =
        dirty.address === undefined
          ? serviceNow(dirty, state, atMs)
          : instanceNow(dirty, dirty.address, state, atMs)
      if (change !== undefined) changes.push(change)
      state.unstored.delete(dirty.serial)
    }
    return changes
  }

  /** Puts back what could not be written. */
  putBack(changes: readonly Change[], state: State): void {
    for (const change of changes) this.note(change, state)
  }

  #noteService(serviceKey: ServiceKey, serial: number): void {
    this.#dirty.set(serial, { serviceKey, address: undefined, serial })
  }
}

function serviceNow(dirty: Dirty, state: State, atMs: number): Change | undefined {
  const service = state.service(dirty.serviceKey)
  if (service?.serial === dirty.serial) return { kind: 'service-saved', service, atMs }
  return state.maybeStored(dirty.serial)
    ? { kind: 'service-deleted', key: dirty.serviceKey, serial: dirty.serial }
    : undefined
}

function instanceNow(dirty: Dirty, address: InstanceAddress, state: State, atMs: number): Change | undefined {
  const { serviceKey, serial } = dirty
  const instance = state.instance(serviceKey, address)
  if (instance?.record.serial !== serial) {
    if (!state.maybeStored(serial)) return undefined
    return { kind: 'instance-removed', serviceKey, address, serial, reason: 'expired', atMs }
  }
  const { record, healthy, entry } = instance
  const serviceSerial = entry.service.serial
  return { kind: 'instance-saved', serviceKey, serviceSerial, record, healthy, beat: false, atMs }
}
