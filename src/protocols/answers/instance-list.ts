import { hash } from 'node:crypto'
import type { Instance } from '../../core/naming/instance.ts'
import { selectInstances, type Selection } from '../../core/naming/select-instances.ts'
import { groupOf, type ServiceKey } from '../../core/naming/service.ts'
import type { ServiceEntry } from '../../core/naming/service-entry.ts'
import type { State } from '../../core/state.ts'
import { hostJson } from './host-json.ts'
import { type KeptAnswers, RecentAnswers, UNUSED } from './recent-answers.ts'

/** What a client asks of a service's list. */
export interface ListQuery {
  readonly key: ServiceKey
  /** As the client spelled it: answers repeat it. */
  readonly clustersText: string
  /** The names in it, without blanks and empty ones. */
  readonly clusters: readonly string[]
  readonly healthyOnly: boolean
  /** For selectors by label; undefined: the list that nobody in particular would see. */
  readonly consumerIp: string | undefined
  /** How long the client may keep the answer, ms. */
  readonly cacheMillis: number
}

/** The part of an answer that depends on the hosts alone: `"hosts":[…]` to the end, and what it was made with. */
interface Tail {
  /** Where there is a whole answer, its end. */
  bytes: Buffer
  /** The whole answer of the last client, for the next that asks in the same words. */
  whole: { readonly clustersText: string; readonly cacheMillis: number; readonly bytes: Buffer } | undefined
}

/** What is kept for an entry until its next change; bounded by the number of cluster sets that are asked for. */
interface KeptTails extends KeptAnswers {
  readonly beatIntervalMs: number
  readonly tails: Map<string, Tail>
  /** What the tails take together. */
  bytes: number
}

const MOST_TAILS = 32

/** In smaller services a change has all hosts written anew, for some microseconds: keeping them would double the memory of an instance. */
const FEWEST_KEPT = 32

/** Of one service; a hundred thousand instances make 40 MB of each tail. One is kept in any case. */
const MOST_KEPT_BYTES = 64 * 1024 * 1024

/**
 * The instance list answer (interface.md, instance list answer envelope), as the bytes that are sent. They
 * are made once after a change and kept with the service for the next who asks the same.
 */
export function instanceListAnswer(state: State, query: ListQuery): Buffer {
  const entry = state.services.get(query.key)
  if (entry === undefined) return Buffer.concat([headOf(query), emptyTail(state)])
  const tail = tailOf(state, entry, query)
  const { whole } = tail
  if (whole?.clustersText === query.clustersText && whole.cacheMillis === query.cacheMillis)
    return whole.bytes
  const head = headOf(query)
  const bytes = Buffer.concat([head, tail.bytes])
  tail.whole = { clustersText: query.clustersText, cacheMillis: query.cacheMillis, bytes }
  tail.bytes = bytes.subarray(head.length)
  return bytes
}

function headOf({ key, clustersText, cacheMillis }: ListQuery): Buffer {
  const name = JSON.stringify(key.groupedName)
  const group = JSON.stringify(groupOf(key.groupedName))
  const clusters = JSON.stringify(clustersText)
  return Buffer.from(
    `{"name":${name},"groupName":${group},"clusters":${clusters},"cacheMillis":${cacheMillis},`,
  )
}

function tailOf(state: State, entry: ServiceEntry, query: ListQuery): Tail {
  const kept = keptTails(state, entry)
  if (entry.service.selector.type !== 'none') return makeTail(state, entry, query)
  const known = query.clusters.filter((cluster) => entry.clusterSizes.has(cluster))
  const name = query.clusters.length === 0 ? '' : `|${[...new Set(known)].sort().join(',')}`
  const variant = query.healthyOnly ? `h${name}` : name
  const recent = recentOf(state)
  const found = kept.tails.get(variant)
  if (found === undefined) {
    const made = makeTail(state, entry, query)
    if (keep(kept, variant, made)) recent.use(entry, kept, made.bytes.length)
    return made
  }
  recent.use(entry, kept, 0)
  return found
}

/** Each server has a state of its own. */
const RECENT = new WeakMap<State, RecentAnswers>()

function recentOf(state: State): RecentAnswers {
  const there = RECENT.get(state)
  if (there !== undefined) return there
  const made = new RecentAnswers()
  RECENT.set(state, made)
  return made
}

/** False where there is enough already. */
function keep(kept: KeptTails, variant: string, made: Tail): boolean {
  const bytes = kept.bytes + made.bytes.length
  if (kept.tails.size > 0 && (kept.tails.size >= MOST_TAILS || bytes > MOST_KEPT_BYTES)) return false
  kept.tails.set(variant, made)
  kept.bytes = bytes
  return true
}

/** Hosts name the switch clientBeatInterval, so what was made with another value is made anew. */
function keptTails(state: State, entry: ServiceEntry): KeptTails {
  const beatIntervalMs = state.switches.clientBeatInterval
  const kept = entry.answers as KeptTails | undefined
  if (kept?.beatIntervalMs === beatIntervalMs) return kept
  if (entry.jsonBeatMs !== beatIntervalMs) {
    for (const instance of entry.instances.values()) instance.json = undefined
    entry.jsonBeatMs = beatIntervalMs
  }
  const fresh: KeptTails = { beatIntervalMs, tails: new Map(), bytes: 0, usedIn: UNUSED }
  entry.answers = fresh
  return fresh
}

function makeTail(state: State, entry: ServiceEntry, query: ListQuery): Tail {
  const { namespaceId } = entry.service.key
  const labelsOf = (ip: string) => state.labelsAt(ip, namespaceId)
  const consumer = query.consumerIp === undefined ? undefined : { ip: query.consumerIp, labelsOf }
  const selection = selectInstances(entry, { ...query, consumer })
  const hosts = hostsText(selection, state.switches.clientBeatInterval)
  return { bytes: Buffer.from(tailText(hosts, entry.lastRefMs, selection.protecting)), whole: undefined }
}

function hostsText({ instances, protecting }: Selection, beatIntervalMs: number): string {
  const keeps = instances.length >= FEWEST_KEPT
  return instances.map((instance) => hostText(instance, { protecting, keeps }, beatIntervalMs)).join(',')
}

/** Kept with the instance until it changes; under protection the unhealthy are made anew as healthy. */
function hostText(
  instance: Instance,
  { protecting, keeps }: { protecting: boolean; keeps: boolean },
  beatIntervalMs: number,
): string {
  if (protecting && !instance.healthy) return hostJson(instance, true, beatIntervalMs)
  if (instance.json !== undefined) return instance.json
  const json = hostJson(instance, instance.healthy, beatIntervalMs)
  if (keeps) instance.json = json
  return json
}

function tailText(hosts: string, lastRefMs: number, protecting: boolean): string {
  const checksum = hash('md5', hosts, 'hex')
  return (
    `"hosts":[${hosts}],"lastRefTime":${lastRefMs},"checksum":"${checksum}",` +
    `"allIPs":false,"reachProtectionThreshold":${protecting},"valid":true}`
  )
}

/** An unknown service lists as an empty one that has not changed since the last of its name could have left. */
function emptyTail(state: State): Buffer {
  return Buffer.from(tailText('', state.services.floorMs, false))
}
