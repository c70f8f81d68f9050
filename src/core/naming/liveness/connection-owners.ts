import { connectionOf } from '../state/connection-publisher.ts'
import type { Instance } from '../state/service-entry.ts'
import type { InstancePlace } from '../state/presence.ts'

/** The instances that the connections of one process have published. */
export interface OwnedInstances {
  readonly process: string
  readonly published: Set<Instance>
  /** Health time at which one of them was last registered, or loaded. */
  registeredMs: number
}

/** A place at which a connection of this process had an instance. */
export interface LostPlace extends InstancePlace {
  readonly connectionId: string
}

/** Which instances the connections of which process have published, and what those of this process have lost. */
export class ConnectionOwners {
  readonly #self: string | undefined
  readonly #byProcess = new Map<string, OwnedInstances>()
  #lost: LostPlace[] = []

  /** `self`: the process of this server. */
  constructor(self?: string) {
    this.#self = self
  }

  /** The processes with instances. They may come and go meanwhile. */
  all(): Iterable<OwnedInstances> {
    return this.#byProcess.values()
  }

  /** Those of a process; undefined: it has none. */
  of(process: string): OwnedInstances | undefined {
    return this.#byProcess.get(process)
  }

  /** An instance is there, or has changed. */
  saved(instance: Instance, isRegistration: boolean, nowMs: number): void {
    const owner = connectionOf(instance.record.publisher)
    if (owner === undefined) return
    const owned = this.#made(owner.process, nowMs)
    owned.published.add(instance)
    if (isRegistration) owned.registeredMs = nowMs
  }

  /** An instance leaves, or another publisher takes it over: its record is still the old one. */
  left(instance: Instance): void {
    const { record, entry } = instance
    const owner = connectionOf(record.publisher)
    if (owner === undefined) return
    const { process, connectionId } = owner
    const owned = this.#byProcess.get(process)
    if (owned?.published.delete(instance) === true && owned.published.size === 0)
      this.#byProcess.delete(process)
    if (process === this.#self)
      this.#lost.push({ serviceKey: entry.service.key, address: record.address, connectionId })
  }

  /** Where connections of this process have lost an instance, by whatever change. Each is returned once. */
  takeLost(): readonly LostPlace[] {
    const lost = this.#lost
    if (lost.length > 0) this.#lost = []
    return lost
  }

  #made(process: string, nowMs: number): OwnedInstances {
    const known = this.#byProcess.get(process)
    if (known !== undefined) return known
    const made = { process, published: new Set<Instance>(), registeredMs: nowMs }
    this.#byProcess.set(process, made)
    return made
  }
}
