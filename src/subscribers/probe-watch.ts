import { withoutBrackets } from '../core/text/ip-address.ts'
import type { Change } from '../core/decisions/changes.ts'
import { MEMBER } from '../core/cluster/members/member-records.ts'
import { isChecked } from '../core/naming/state/checked.ts'
import { DEFAULT_CHECKER, type HealthChecker } from '../core/naming/state/health-checker.ts'
import { addressText, type InstanceAddress } from '../core/naming/state/instance.ts'
import type { Instance } from '../core/naming/state/service-entry.ts'
import { type ServiceKey, serviceKeyText } from '../core/naming/state/service.ts'
import { LOCAL_SWITCH, SWITCH } from '../core/switches/switch-records.ts'
import type { State } from '../core/engine/state.ts'

/** The address, port and checker of a probe, and the service of the instance: services take turns. */
export interface ProbeRequest {
  readonly service: ServiceKey
  readonly host: string
  readonly port: number
  readonly checker: HealthChecker
}

/** The kinds of records that decide which targets are probed. */
const CHOOSING_KINDS = new Set([SWITCH.name, LOCAL_SWITCH.name, MEMBER.name])

/** The prober. Watching a key again replaces its target. */
export interface ProbedTargets {
  watch(key: string, target: ProbeRequest, healthy: boolean): void
  forget(key: string): void
}

/**
 * Keeps the targets of probes equal to the registered persistent instances and the checkers of their
 * clusters. If there are several servers, each probes the services that it judges.
 */
export class ProbeWatch {
  readonly #state: State
  readonly #probing: ProbedTargets
  readonly #judges: (key: ServiceKey) => boolean
  /** All persistent instances by key, whichever server probes them. */
  readonly #watched = new Map<string, Instance>()

  /** `judges`: whether this server judges a service. Default: it judges all. It may change with the records of members. */
  constructor(state: State, probing: ProbedTargets, judges: (key: ServiceKey) => boolean = () => true) {
    this.#state = state
    this.#probing = probing
    this.#judges = judges
    for (const entry of state.services.all()) this.#watchAll(entry.service.key)
  }

  /** Call it with every change, after State has applied it. */
  onChange(change: Change): void {
    switch (change.kind) {
      case 'instance-saved':
        if (change.record.ephemeral && this.#watched.size === 0) return
        return this.#watch(change.serviceKey, this.#state.instance(change.serviceKey, change.record.address))
      case 'instance-health-changed':
        return this.#watch(change.serviceKey, this.#state.instance(change.serviceKey, change.address))
      case 'instance-removed':
        if (this.#watched.size === 0) return
        return this.#forget(keyOf(change.serviceKey, addressText(change.address)))
      case 'service-saved':
        return this.#watchAll(change.service.key)
      case 'record-saved':
      case 'record-removed':
        if (!CHOOSING_KINDS.has(change.recordKind)) return
        for (const instance of this.#watched.values()) this.#watch(instance.entry.service.key, instance)
        return
      case 'service-deleted': // It was empty.
      case 'config-published':
      case 'config-deleted':
      case 'history-imported':
        return
    }
  }

  /** The persistent instance of a key, if it still exists. */
  instanceOf(key: string): Instance | undefined {
    return this.#watched.get(key)
  }

  /** A verdict of this key was not written: it is found again, from the health that the instance still has. */
  probeAgain(key: string): void {
    const instance = this.#watched.get(key)
    if (instance !== undefined) this.#watch(instance.entry.service.key, instance)
  }

  #watchAll(serviceKey: ServiceKey): void {
    for (const instance of this.#state.instances(serviceKey)) this.#watch(serviceKey, instance)
  }

  #watch(serviceKey: ServiceKey, instance: Instance | undefined): void {
    if (instance === undefined) return
    const { address, ephemeral } = instance.record
    const key = keyOf(serviceKey, addressText(address))
    if (ephemeral) return this.#forget(key)
    this.#watched.set(key, instance)
    const { key: ownKey } = instance.entry.service
    if (!isChecked(this.#state.switches, ownKey) || !this.#judges(ownKey)) return this.#probing.forget(key)
    const cluster = instance.entry.service.clusters[address.cluster]
    const port = cluster?.useInstancePort4Check === false ? cluster.checkPort : address.port
    const checker = cluster?.healthChecker ?? DEFAULT_CHECKER
    const target = { service: ownKey, host: withoutBrackets(address.ip), port, checker }
    this.#probing.watch(key, target, instance.healthy)
  }

  #forget(key: string): void {
    if (this.#watched.delete(key)) this.#probing.forget(key)
  }
}

/** The key of the probes of an address. */
export function probeKey(serviceKey: ServiceKey, address: InstanceAddress): string {
  return keyOf(serviceKey, addressText(address))
}

function keyOf(serviceKey: ServiceKey, address: string): string {
  return `${serviceKeyText(serviceKey)}\u0002${address}`
}
