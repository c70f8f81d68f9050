import type { Change } from '../../decisions/changes.ts'
import type { Now } from '../../decisions/stamps.ts'
import type { Instance } from '../state/service-entry.ts'
import { isBeating, type Liveness } from './liveness.ts'
import { isMoved } from '../state/connection-publisher.ts'
import type { ServiceKey } from '../state/service.ts'
import type { LateBeat } from './goodbyes.ts'
import type { ServiceTable } from '../state/service-table.ts'

/** The instance that sends a beat. A beat without a cluster renews this ip and port in every cluster. */
export interface BeatSource {
  readonly serviceKey: ServiceKey
  readonly ip: string
  readonly port: number
  readonly cluster: string | undefined
  /** Identifies the text of the whole request. A request that names its cluster is recognized by it from then on. */
  readonly fingerprint?: string | undefined
}

/**
 * `instances`: the renewed ones. `healed`: the changes that make them healthy; the caller applies them
 * behind. `moved`: imported ones whose client has come by this beat (`keepMoved`).
 */
export interface Renewed {
  readonly kind: 'renewed'
  readonly instances: readonly Instance[]
  readonly healed: readonly Change[]
  readonly moved: readonly Instance[]
}

/**
 * The result of a beat. `left`: its client has just deregistered the instance, and this beat is late. `intervalMs` is the
 * interval that the instance had of its own.
 */
export type BeatResult = Renewed | ({ readonly kind: 'left' } & LateBeat) | { readonly kind: 'unknown' }

/** `state` finds the instance of a beat, `liveness` notes the beat. */
export interface BeatParts {
  readonly state: { readonly services: Pick<ServiceTable, 'get'> }
  readonly liveness: Liveness
}

const NOTHING_HEALED: readonly Change[] = []
const NOTHING_MOVED: readonly Instance[] = []

/**
 * Renews an instance: its silence counts from now. Everything else in a beat is ignored. Only memory is written, but
 * becoming healthy is a change. A beat makes an instance healthy only if its publisher sends beats, and keeps imported ones.
 */
export function beat({ state, liveness }: BeatParts, source: BeatSource, now: Now): BeatResult {
  const instances = findSources(state, source)
  if (instances.length === 0) {
    const late = liveness.goodbyes.heard(source, now.healthMs)
    if (late !== undefined) return { kind: 'left', ...late }
    liveness.counts.unknown++
    return { kind: 'unknown' }
  }
  const renewed = renew(liveness, instances, now)
  if (source.fingerprint !== undefined && source.cluster !== undefined && renewed.moved.length === 0)
    liveness.knowBeat(source.fingerprint, instances[0]!)
  return renewed
}

/** Renews the instance of a beat that was recognized by its fingerprint (`Liveness.find`). */
export function renewKnown(liveness: Liveness, instance: Instance, now: Now): Renewed {
  return renew(liveness, [instance], now)
}

function renew(liveness: Liveness, instances: readonly Instance[], now: Now): Renewed {
  liveness.counts.renewed++
  let healed = NOTHING_HEALED
  let moved = NOTHING_MOVED
  for (const instance of instances) {
    liveness.noteBeat(instance, now.healthMs)
    if (isBeating(instance)) {
      if (!instance.healthy) healed = [...healed, healing(instance, now)]
    } else if (isMoved(instance.record.publisher)) moved = [...moved, instance]
  }
  return { kind: 'renewed', instances, healed, moved }
}

function findSources({ services }: BeatParts['state'], source: BeatSource): Instance[] {
  const { serviceKey, ip, port, cluster } = source
  const entry = services.get(serviceKey)
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
