import type { Instance } from '../../core/naming/state/service-entry.ts'
import { type HostFacts, hostJson } from './host-json.ts'

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
