import type { Change } from '../changes.ts'
import type { Now } from '../ports.ts'
import type { State } from '../state.ts'
import type { Instance } from './instance.ts'
import { isBeating, type Liveness } from './liveness.ts'
import type { ServiceKey } from './service.ts'

/** Who beats; a beat that names no cluster renews that ip and port in any. */
export interface BeatSource {
  readonly serviceKey: ServiceKey
  readonly ip: string
  readonly port: number
  readonly cluster: string | undefined
  /** Stands for the whole request word for word; one that names its cluster is known by it from then on. */
  readonly fingerprint?: string | undefined
}

/** `instances`: those renewed; `healed`: the changes that this brings about, to be applied behind. */
export interface Renewed {
  readonly kind: 'renewed'
  readonly instances: readonly Instance[]
  readonly healed: readonly Change[]
}

/** What a beat came to. */
export type BeatResult = Renewed | { readonly kind: 'unknown' }

/** What a beat is looked up in, and what notes it. */
export interface BeatParts {
  readonly state: State
  readonly liveness: Liveness
}

const NOTHING_HEALED: readonly Change[] = []

/**
 * Renews an instance: its silence counts from now. Nothing else that a beat carries changes anything. Only
 * memory is written; coming back to health is a change. Only instances that are kept by beats are healed by one.
 */
export function beat({ state, liveness }: BeatParts, source: BeatSource, now: Now): BeatResult {
  const instances = findSources(state, source)
  if (instances.length === 0) {
    liveness.counts.unknown++
    return { kind: 'unknown' }
  }
  if (source.fingerprint !== undefined && source.cluster !== undefined)
    liveness.knowBeat(source.fingerprint, instances[0]!)
  return renew(liveness, instances, now)
}

/** Renews the instance of a beat that is known word for word (`Liveness.find`). */
export function renewKnown(liveness: Liveness, instance: Instance, now: Now): Renewed {
  return renew(liveness, [instance], now)
}

function renew(liveness: Liveness, instances: readonly Instance[], now: Now): Renewed {
  liveness.counts.renewed++
  let healed = NOTHING_HEALED
  for (const instance of instances) {
    liveness.hear(instance, now.healthMs)
    if (!instance.healthy && isBeating(instance)) healed = [...healed, healing(instance, now)]
  }
  return { kind: 'renewed', instances, healed }
}

function findSources(state: State, source: BeatSource): Instance[] {
  const { serviceKey, ip, port, cluster } = source
  const entry = state.services.get(serviceKey)
  if (entry === undefined) return []
  if (cluster === undefined) return entry.anywhere(ip, port)
  const instance = entry.get({ ip, port, cluster })
  return instance === undefined ? [] : [instance]
}

function healing({ entry, record }: Instance, now: Now): Change {
  return {
    kind: 'instance-health-changed',
    serviceKey: entry.service.key,
    address: record.address,
    serial: record.serial,
    healthy: true,
    stamp: now.stamp,
  }
}
