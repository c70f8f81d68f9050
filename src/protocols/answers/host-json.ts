import { askedTiming } from '../../core/naming/state/beat-timing.ts'
import type { Instance } from '../../core/naming/state/service-entry.ts'
import { instanceIdOf } from '../../core/naming/state/instance.ts'
import { decimalText } from './java-numbers.ts'

/** The facts from which a host is written. */
export type HostFacts = Pick<Instance, 'record' | 'metadata' | 'entry'>

/**
 * One entry of `hosts` (interface.md, Instance), always with all 14 fields in this order: some clients compare hosts by their
 * text. `weight` is written as Java writes a double. `beatIntervalMs` is the interval of instances that do not set their own.
 */
export function hostJson(host: HostFacts, healthy: boolean, beatIntervalMs: number): string {
  const { record, metadata, entry } = host
  // As asked for, not as they count: clients compare these with their own.
  const { intervalMs, unhealthyMs, removeMs } = askedTiming(metadata)
  const { address } = record
  const { groupedName } = entry.service.key
  const rest = JSON.stringify({
    healthy,
    enabled: record.enabled,
    ephemeral: record.ephemeral,
    clusterName: address.cluster,
    serviceName: groupedName,
    metadata,
    instanceHeartBeatInterval: intervalMs ?? beatIntervalMs,
    instanceHeartBeatTimeOut: unhealthyMs,
    ipDeleteTimeout: removeMs,
    // Ids are made in one way only, whatever the metadata ask for.
    instanceIdGenerator: 'simple',
  })
  const [id, ip] = [JSON.stringify(instanceIdOf(address, groupedName)), JSON.stringify(address.ip)]
  const weight = decimalText(record.weight)
  return `{"instanceId":${id},"ip":${ip},"port":${address.port},"weight":${weight},${rest.slice(1)}`
}

const BEFORE_WEIGHT = '"weight":'

/** A host with its weight as JSON usually has it: `1`. */
export function withPlainWeight(json: string): string {
  // The first match is the member itself: within a text of JSON a quote has a backslash before it.
  const from = json.indexOf(BEFORE_WEIGHT) + BEFORE_WEIGHT.length
  const to = json.indexOf(',', from)
  return `${json.slice(0, from)}${Number(json.slice(from, to))}${json.slice(to)}`
}

/** A host at one moment: the instance itself, or a copy. State replaces these objects when the instance changes. */
export type HostAtOnce = HostFacts & Pick<Instance, 'healthy'>

interface KeptHost {
  readonly record: Instance['record']
  readonly metadata: Instance['metadata']
  readonly healthy: boolean
  readonly text: string
}

/** The texts of the hosts of a service, as `grpc` has them. After a change only hosts that changed are serialized again. */
export class HostTexts {
  readonly beatIntervalMs: number
  readonly #kept: Map<Instance, KeptHost> | undefined

  /** `beatIntervalMs`: the switch clientBeatInterval, which hosts name. */
  constructor(beatIntervalMs: number, { keeps }: { readonly keeps: boolean }) {
    this.beatIntervalMs = beatIntervalMs
    this.#kept = keeps ? new Map() : undefined
  }

  /** How many texts are kept, also of instances that have left. */
  get size(): number {
    return this.#kept?.size ?? 0
  }

  /** The text of an instance as `host` has it, shown as healthy or not. */
  textOf(instance: Instance, host: HostAtOnce, shownHealthy: boolean): string {
    // Protection shows the unhealthy as healthy only for a while: these texts are not kept.
    if (this.#kept === undefined || shownHealthy !== host.healthy)
      return hostJson(host, shownHealthy, this.beatIntervalMs)
    const { record, metadata, healthy } = host
    const kept = this.#kept.get(instance)
    if (kept?.record === record && kept.metadata === metadata && kept.healthy === healthy) return kept.text
    const text = hostJson(host, healthy, this.beatIntervalMs)
    this.#kept.set(instance, { record, metadata, healthy, text })
    return text
  }

  /** The texts of these instances alone. */
  only(instances: Iterable<Instance>): HostTexts {
    const others = new HostTexts(this.beatIntervalMs, { keeps: true })
    for (const instance of instances) {
      const kept = this.#kept?.get(instance)
      if (kept !== undefined) others.#kept?.set(instance, kept)
    }
    return others
  }
}
