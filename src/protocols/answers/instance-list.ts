import { hash } from 'node:crypto'
import type { Instance } from '../../core/naming/instance.ts'
import { selectInstances, type Selection } from '../../core/naming/select-instances.ts'
import { groupOf, type ServiceKey } from '../../core/naming/service.ts'
import type { ServiceEntry } from '../../core/naming/service-entry.ts'
import type { State } from '../../core/state.ts'
import { hostJson } from './host-json.ts'
import { type ListFormat, hostWriter, moreListFields, type WriteHost } from './list-format.ts'
import { type KeptAnswers, RecentAnswers, UNUSED } from './recent-answers.ts'

/** What a client asks of a service's list. */
export interface ListQuery {
  readonly key: ServiceKey
  readonly format: ListFormat
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

/**
 * An answer as it is sent: bytes, or a text of ASCII characters alone, which has as many. Texts of this size are what
 * the engine keeps and collects with the least effort; a Buffer has memory and a price of its own.
 */
export type ListBody = Buffer | string

/** Longer ones are bytes: a text would be copied each time it is sent. */
const LONGEST_TEXT = 16_000

/** An answer as one client asked for it. From `hostsAt` on it depends on the hosts alone, and is the same for all words. */
interface Kept {
  readonly format: ListFormat
  /** See {@link variantOf}. */
  readonly variant: string
  body: ListBody
  hostsAt: number
  clustersText: string
  cacheMillis: number
}

/** What is kept for an entry until its next change; bounded by the number of cluster sets that are asked for. */
interface KeptLists extends KeptAnswers {
  readonly beatIntervalMs: number
  lists: readonly Kept[]
  /** What the lists take together. */
  bytes: number
}

const MOST_LISTS = 32

/** Smaller services have all hosts written anew after a change: keeping them would double what an instance takes. */
const FEWEST_KEPT = 32

/** Of one service; a hundred thousand instances make 40 MB of each list. One is kept in any case. */
const MOST_KEPT_BYTES = 64 * 1024 * 1024

/**
 * The instance list answer (interface.md, instance list answer envelope), as the bytes that are sent. They
 * are made once after a change and kept with the service for the next who asks the same.
 */
export function instanceListAnswer(state: State, query: ListQuery): ListBody {
  const entry = state.services.get(query.key)
  if (entry === undefined) return bodyOf(headText(query) + emptyTail(state, query))
  const lists = keptLists(state, entry)
  // Who sees what depends on who asks.
  if (entry.service.selector.type !== 'none') return makeAnswer(state, entry, query).body
  const variant = variantOf(entry, query)
  const found = lists.lists.find((kept) => kept.variant === variant && kept.format === query.format)
  if (found === undefined) {
    const made = makeAnswer(state, entry, query)
    if (keep(lists, made)) recentOf(state).use(entry, lists, made.body.length)
    return made.body
  }
  recentOf(state).use(entry, lists, 0)
  if (found.clustersText !== query.clustersText || found.cacheMillis !== query.cacheMillis)
    reword(found, query)
  return found.body
}

/** What makes the hosts of one list differ from those of another in the same format, at the same time. */
function variantOf(entry: ServiceEntry, { clusters, healthyOnly }: ListQuery): string {
  const known = clusters.filter((cluster) => entry.clusterSizes.has(cluster))
  const name = clusters.length === 0 ? '' : `|${[...new Set(known)].sort().join(',')}`
  return healthyOnly ? `h${name}` : name
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
function keep(lists: KeptLists, made: Kept): boolean {
  const bytes = lists.bytes + made.body.length
  if (lists.lists.length > 0 && (lists.lists.length >= MOST_LISTS || bytes > MOST_KEPT_BYTES)) return false
  // Not pushed: nearly all have one list, and an array that grows makes room for seventeen.
  lists.lists = [...lists.lists, made]
  lists.bytes = bytes
  return true
}

/** The same hosts in the words of another client; the next who asks so finds them. */
function reword(kept: Kept, query: ListQuery): void {
  const head = headText(query)
  const { body, hostsAt } = kept
  kept.body =
    typeof body === 'string'
      ? bodyOf(head + body.slice(hostsAt))
      : Buffer.concat([Buffer.from(head), body.subarray(hostsAt)])
  kept.hostsAt = Buffer.byteLength(head)
  kept.clustersText = query.clustersText
  kept.cacheMillis = query.cacheMillis
}

/** Hosts name the switch clientBeatInterval, so what was made with another value is made anew. */
function keptLists(state: State, entry: ServiceEntry): KeptLists {
  const beatIntervalMs = state.switches.clientBeatInterval
  const kept = entry.answers as KeptLists | undefined
  if (kept?.beatIntervalMs === beatIntervalMs) return kept
  if (entry.jsonBeatMs !== beatIntervalMs) {
    for (const instance of entry.instances.values()) instance.json = undefined
    entry.jsonBeatMs = beatIntervalMs
  }
  const fresh: KeptLists = { beatIntervalMs, lists: [], bytes: 0, usedIn: UNUSED }
  entry.answers = fresh
  return fresh
}

function makeAnswer(state: State, entry: ServiceEntry, query: ListQuery): Kept {
  const { namespaceId } = entry.service.key
  const labelsOf = (ip: string) => state.labelsAt(ip, namespaceId)
  const consumer = query.consumerIp === undefined ? undefined : { ip: query.consumerIp, labelsOf }
  const { clusters, healthyOnly, format } = query
  const selection = selectInstances(entry, { clusters, healthyOnly, consumer })
  const { groupedName } = query.key
  const writing = {
    write: hostWriter(format, groupedName),
    beatIntervalMs: state.switches.clientBeatInterval,
  }
  const hosts = hostsText(selection, writing)
  const head = headText(query)
  const more = moreListFields(format, { groupedName, metadata: entry.service.metadata })
  const tail = tailText(hosts, { lastRefMs: entry.lastRefMs, protecting: selection.protecting, more })
  return {
    format,
    variant: variantOf(entry, query),
    body: bodyOf(head + tail),
    hostsAt: Buffer.byteLength(head),
    clustersText: query.clustersText,
    cacheMillis: query.cacheMillis,
  }
}

function bodyOf(text: string): ListBody {
  return text.length > LONGEST_TEXT || Buffer.byteLength(text) > text.length ? Buffer.from(text) : text
}

function headText({ key, clustersText, cacheMillis }: ListQuery): string {
  const name = JSON.stringify(key.groupedName)
  const group = JSON.stringify(groupOf(key.groupedName))
  const clusters = JSON.stringify(clustersText)
  return `{"name":${name},"groupName":${group},"clusters":${clusters},"cacheMillis":${cacheMillis},`
}

interface Writing {
  readonly write: WriteHost
  readonly beatIntervalMs: number
}

function hostsText({ instances, protecting }: Selection, { write, beatIntervalMs }: Writing): string {
  const keeps = instances.length >= FEWEST_KEPT
  return instances
    .map((instance) => {
      const json = hostText(instance, { protecting, keeps }, beatIntervalMs)
      return write(json, protecting || instance.healthy)
    })
    .join(',')
}

/**
 * A host as `svc` has it, kept with the instance until it changes; under protection the unhealthy are made anew as
 * healthy.
 */
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

interface Tail {
  readonly lastRefMs: number
  readonly protecting: boolean
  /** See {@link moreListFields}. */
  readonly more: string
}

function tailText(hosts: string, { lastRefMs, protecting, more }: Tail): string {
  const checksum = hash('md5', hosts, 'hex')
  return (
    `"hosts":[${hosts}],"lastRefTime":${lastRefMs},"checksum":"${checksum}",` +
    `"allIPs":false,"reachProtectionThreshold":${protecting},"valid":true${more}}`
  )
}

/** An unknown service lists as an empty one that has not changed since the last of its name could have left. */
function emptyTail(state: State, { key, format }: ListQuery): string {
  const more = moreListFields(format, { groupedName: key.groupedName, metadata: {} })
  return tailText('', { lastRefMs: state.services.floorMs, protecting: false, more })
}
