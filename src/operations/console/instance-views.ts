import { hasAddress, isIPv4 } from '../../core/text/ip-address.ts'
import { type HealthChecker, DEFAULT_CHECKER } from '../../core/naming/state/health-checker.ts'
import {
  type BeatTiming,
  type InstanceAddress,
  type Metadata,
  addressText,
} from '../../core/naming/state/instance.ts'
import type { Instance } from '../../core/naming/state/service-entry.ts'
import type { Liveness } from '../../core/naming/liveness/liveness.ts'
import { REMEMBERED_METADATA, rememberedId } from '../../core/naming/state/remembered-metadata.ts'
import { existingService } from '../../core/naming/commands/service-commands.ts'
import type { ServiceKey } from '../../core/naming/state/service.ts'
import type { Now } from '../../core/decisions/stamps.ts'
import type { State } from '../../core/engine/state.ts'
import type { Timeline } from '../../core/naming/timeline/timeline.ts'
import type { TimelineEntry } from '../../core/naming/timeline/timeline-entry.ts'
import type { Guard } from '../guard.ts'
import { type Override, overridesOf } from './overrides.ts'
import { type ShownConnection, shownConnection, type ShownConnectionParts } from './shown-connection.ts'
import { cutPage, type PageRequest, pageOf } from '../page.ts'
import { beatAgoMs } from '../naming/beats.ts'
import { READ_SERVICE, serviceResource } from '../naming/services.ts'

/** The last probe of an instance. */
export interface LastProbe {
  readonly isUp: boolean
  /** The result, in words. */
  readonly text: string
  readonly elapsedMs: number
  readonly agoMs: number
}

interface InstanceViewParts extends ShownConnectionParts {
  readonly guard: Guard
  readonly state: State
  readonly liveness: Pick<Liveness, 'lastBeatOf' | 'timingOf'>
  readonly clock: () => Now
  readonly timeline: Pick<Timeline, 'of'>
  readonly probes: { lastOf(key: ServiceKey, address: InstanceAddress): LastProbe | undefined }
  /** Whether this server probes the instances of a service; undefined: it is the only server. */
  readonly judges: ((key: ServiceKey) => boolean) | undefined
}

/** A page of the instances of a service that are looked for; undefined: whatever it is. */
export interface InstanceViewRequest {
  readonly key: ServiceKey
  readonly cluster: string | undefined
  /** A part of `ip:port`. */
  readonly address: string
  readonly healthy: boolean | undefined
  readonly enabled: boolean | undefined
  /** A key of the metadata, or a key and its value. */
  readonly metadata: readonly [name: string, value: string | undefined] | undefined
  readonly page: PageRequest
}

/**
 * Why an instance has the health that it has. `probe`: it is probed, perhaps by another server. `never`: nobody has
 * looked at it yet.
 */
export type HealthReason = 'beat' | 'beat-timeout' | 'probe' | 'operator' | 'connection' | 'never'

/** An instance, and why it is as it is. */
export interface ShownInstance {
  readonly instance: Instance
  /** How much silence counts. */
  readonly timing: BeatTiming
  /** How long ago its last beat came; undefined: it does not beat, or beats at another server. */
  readonly lastBeatAgoMs: number | undefined
  /** How much silence is left until it is removed; undefined: silence does not remove it. */
  readonly expiresInMs: number | undefined
  readonly reason: HealthReason
  readonly checker: HealthChecker['type'] | undefined
  readonly probe: LastProbe | undefined
  /** Where its connection is; undefined: no connection registered it. */
  readonly connection: ShownConnection | undefined
  /** The keys that operators wrote over its metadata. */
  readonly remembered: Metadata
  /** All that operators have set. */
  readonly overrides: readonly Override[]
  /** When it was disabled, and who did it, where that is known; undefined for one that is enabled. */
  readonly disabling: Pick<TimelineEntry, 'atMs' | 'actor' | 'cause'> | undefined
}

/** A page of instances. */
export interface ShownInstances {
  readonly page: PageRequest
  readonly totalCount: number
  readonly nowMs: number
  readonly entries: readonly ShownInstance[]
}

/** Makes the operations that show instances to people. */
export function instanceViewOperations(parts: InstanceViewParts) {
  const { guard, state } = parts
  return {
    /** A page of the instances of a service with the reason of their health. Refusal `service-not-found`. */
    list: guard.operation({
      permission: READ_SERVICE,
      resources: ({ key }: InstanceViewRequest) => [serviceResource(key)],
      run: (request): ShownInstances => {
        existingService(state, request.key)
        const page = cutPage(request.page)
        const found = Array.from(state.services.get(request.key)?.instances.values() ?? []).filter(
          instanceFilter(request),
        )
        const now = parts.clock()
        const disablings = disablingsOf(parts, found)
        const entries = pageOf(inAddressOrder(found), page).map((instance) =>
          shown(parts, instance, { now, disablings }),
        )
        return { page, totalCount: found.length, nowMs: now.wallMs, entries }
      },
    }),
  }
}

function instanceFilter(request: InstanceViewRequest): (instance: Instance) => boolean {
  const { cluster, address, healthy, enabled, metadata } = request
  return (instance) => {
    const { record } = instance
    const [name, value] = metadata ?? []
    return (
      (cluster === undefined || record.address.cluster === cluster) &&
      (address === '' || hasAddress(record.address, address)) &&
      (healthy === undefined || instance.healthy === healthy) &&
      (enabled === undefined || record.enabled === enabled) &&
      (name === undefined || hasMetadata(instance.metadata, name, value))
    )
  }
}

/** Whether metadata has a key, with this value if one is given. */
export function hasMetadata(metadata: Metadata, name: string, value: string | undefined): boolean {
  return Object.hasOwn(metadata, name) && (value === undefined || metadata[name] === value)
}

/** Facts that are read once for a page. */
interface PageFacts {
  readonly now: Now
  readonly disablings: ReadonlyMap<string, TimelineEntry>
}

/** When instances were disabled the last time, by address. */
function disablingsOf(
  { timeline }: InstanceViewParts,
  found: readonly Instance[],
): ReadonlyMap<string, TimelineEntry> {
  const disabled = found.find(({ record }) => !record.enabled)
  if (disabled === undefined) return new Map()
  const { entries } = timeline.of(disabled.entry.service.key)
  const oldestFirst = entries.filter(({ kind }) => kind === 'disabled').toReversed()
  return new Map(oldestFirst.map((entry) => [addressText(entry.address), entry]))
}

function shown(parts: InstanceViewParts, instance: Instance, { now, disablings }: PageFacts): ShownInstance {
  const { state, probes } = parts
  const { record, entry } = instance
  const serviceKey = entry.service.key
  const lastBeatAgoMs = beatAgoMs(parts, instance, now)
  const probe = record.ephemeral ? undefined : probes.lastOf(serviceKey, record.address)
  const checker = record.ephemeral ? undefined : checkerOf(instance)
  const timing = parts.liveness.timingOf(instance, now.healthMs)
  const isProbed = probe !== undefined || parts.judges?.(serviceKey) === false
  const id = rememberedId({ serviceKey, address: record.address })
  const overrides = overridesOf(state, instance)
  const seen = disablings.get(addressText(record.address))
  return {
    instance,
    timing,
    lastBeatAgoMs,
    expiresInMs: lastBeatAgoMs === undefined ? undefined : Math.max(0, timing.removeMs - lastBeatAgoMs),
    reason: reasonOf(instance, { timing, lastBeatAgoMs, checker, isProbed }),
    checker,
    probe,
    connection: shownConnection(parts, instance, now),
    remembered: state.record(REMEMBERED_METADATA, id)?.metadata ?? {},
    overrides,
    disabling: record.enabled ? undefined : lastDisabling(seen, overrides),
  }
}

/** The last disabling. The stored one is the last by an operator, outlasts a restart, and knows who asked another server. */
function lastDisabling(
  seen: TimelineEntry | undefined,
  overrides: readonly Override[],
): ShownInstance['disabling'] {
  const stored = overrides.find(({ field }) => field === 'enabled')?.setting
  if (stored === undefined || (seen !== undefined && seen.cause !== 'operator' && seen.atMs > stored.atMs))
    return seen
  const { atMs, user, ip } = stored
  return { atMs, actor: { user, ip }, cause: 'operator' }
}

function checkerOf({ entry, record }: Instance): HealthChecker['type'] {
  return (entry.service.clusters[record.address.cluster]?.healthChecker ?? DEFAULT_CHECKER).type
}

function reasonOf(
  { record, healthy }: Instance,
  {
    timing,
    lastBeatAgoMs,
    checker,
    isProbed,
  }: Pick<ShownInstance, 'timing' | 'lastBeatAgoMs' | 'checker'> & { readonly isProbed: boolean },
): HealthReason {
  switch (record.publisher.kind) {
    case 'beats': {
      const isSilent = lastBeatAgoMs === undefined || lastBeatAgoMs >= timing.unhealthyMs
      if (healthy) return 'beat'
      return isSilent ? 'beat-timeout' : 'operator'
    }
    case 'connection':
      return 'connection'
    case 'operator':
      if (checker === 'NONE' || checker === undefined) return 'operator'
      return isProbed ? 'probe' : 'never'
  }
}

/** Sorting more would hold up the others: they stay in the order in which they were registered. */
const MOST = 20_000

/**
 * Instances by address, so that an instance that is registered again keeps its place. Addresses of IPv4 come first, by
 * their numbers, then others by their text. Instances of one address follow by port and cluster.
 */
export function inAddressOrder(instances: readonly Instance[]): readonly Instance[] {
  if (instances.length > MOST) return instances
  const keyed = instances.map((instance) => ({ instance, ...keyOf(instance.record.address) }))
  return keyed
    .sort(
      (a, b) =>
        a.number - b.number || compare(a.ip, b.ip) || a.port - b.port || compare(a.cluster, b.cluster),
    )
    .map(({ instance }) => instance)
}

function keyOf({ ip, port, cluster }: InstanceAddress): InstanceAddress & { readonly number: number } {
  const number = isIPv4(ip)
    ? ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
    : Number.MAX_SAFE_INTEGER
  return { ip, port, cluster, number }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
