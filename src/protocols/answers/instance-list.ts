import { hash } from 'node:crypto'
import type { Instance, InstanceRecord, Metadata } from '../../core/naming/instance.ts'
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
  /** Whose labels a selector compares; undefined: the list without the selector. */
  readonly consumerIp: string | undefined
  /** How long the client may keep the answer, ms. */
  readonly cacheMillis: number
}

/**
 * An answer as it is sent: bytes, or an ASCII text, whose length is its number of bytes. A short text costs V8 less memory
 * and less garbage collection than a Buffer.
 */
export type ListBody = Buffer | string

/** Longer ones are bytes: a text would be copied each time it is sent. */
const LONGEST_TEXT = 16_000

/** An answer as one client asked for it. From `hostsAt` on it is independent of how the query was spelled. */
interface KeptList {
  readonly format: ListFormat
  /** See {@link variantOf}. */
  readonly variant: string
  body: ListBody
  hostsAt: number
  clustersText: string
  cacheMillis: number
}

/** The text of a host, and what it was made of: State replaces these objects when the instance changes. */
interface KeptHost {
  readonly record: InstanceRecord
  readonly metadata: Metadata
  readonly healthy: boolean
  readonly text: string
}

/** The answers of a service at one version of it. Their number is limited: clients may ask for any set of clusters. */
interface KeptLists extends KeptAnswers {
  readonly entry: ServiceEntry
  version: number
  beatIntervalMs: number
  lists: readonly KeptList[]
  /** The size of all lists. */
  bytes: number
  /** Outlives a version: after a change only the hosts that have changed are serialized again. */
  hosts: Map<Instance, KeptHost> | undefined
}

const NO_LISTS: readonly KeptList[] = []

const MOST_LISTS = 32

/** The hosts of smaller services are all serialized again after a change: keeping them would double what an instance takes. */
const FEWEST_KEPT = 32

/** Of one service; a hundred thousand instances make 40 MB of each list. One is kept in any case. */
const MOST_KEPT_BYTES = 64 * 1024 * 1024

/**
 * Builds the instance list answer (interface.md, instance list answer envelope) as the bytes that are sent, and keeps
 * it until the service changes. A list that is asked for again costs one lookup. The state knows nothing of this: what
 * is kept is found by the service's entry, and is valid while the entry has the same version.
 */
export class InstanceListAnswers {
  readonly #state: State
  readonly #kept = new WeakMap<ServiceEntry, KeptLists>()
  readonly #recent: RecentAnswers<KeptLists>

  /** `mostBytes`: see {@link RecentAnswers}. */
  constructor(state: State, mostBytes?: number) {
    this.#state = state
    this.#recent = new RecentAnswers((kept) => this.#kept.delete(kept.entry), mostBytes)
  }

  answer(query: ListQuery): ListBody {
    const state = this.#state
    const entry = state.services.get(query.key)
    if (entry === undefined) return bodyOf(headText(query) + emptyTail(state, query))
    const lists = this.#listsOf(entry)
    // With a selector the list depends on the consumer: it is not kept.
    if (entry.service.selector.type !== 'none') return makeAnswer(state, lists, query).body
    const variant = variantOf(entry, query)
    const found = lists.lists.find((kept) => kept.variant === variant && kept.format === query.format)
    if (found === undefined) {
      const made = makeAnswer(state, lists, query)
      if (keep(lists, made)) this.#recent.use(lists, made.body.length)
      return made.body
    }
    this.#recent.use(lists, 0)
    if (found.clustersText !== query.clustersText || found.cacheMillis !== query.cacheMillis)
      reword(found, query)
    return found.body
  }

  #listsOf(entry: ServiceEntry): KeptLists {
    const beatIntervalMs = this.#state.switches.clientBeatInterval
    const kept = this.#kept.get(entry)
    if (kept === undefined) {
      const { version } = entry
      const fresh = {
        entry,
        version,
        beatIntervalMs,
        lists: NO_LISTS,
        bytes: 0,
        hosts: undefined,
        usedIn: UNUSED,
      }
      this.#kept.set(entry, fresh)
      return fresh
    }
    if (kept.version !== entry.version || kept.beatIntervalMs !== beatIntervalMs) renew(kept, beatIntervalMs)
    return kept
  }
}

/** Drops what the last change has made invalid. Hosts name the switch clientBeatInterval. */
function renew(kept: KeptLists, beatIntervalMs: number): void {
  if (kept.beatIntervalMs !== beatIntervalMs) kept.hosts = undefined
  kept.version = kept.entry.version
  kept.beatIntervalMs = beatIntervalMs
  kept.lists = NO_LISTS
  kept.bytes = 0
}

/** Two queries with the same variant and format have the same hosts. Unknown clusters make no difference. */
function variantOf(entry: ServiceEntry, { clusters, healthyOnly }: ListQuery): string {
  const known = clusters.filter((cluster) => entry.clusterSizes.has(cluster))
  const name = clusters.length === 0 ? '' : `|${[...new Set(known)].sort().join(',')}`
  return healthyOnly ? `h${name}` : name
}

/** Adds a list to those that are kept. Returns false when they are at their limit. */
function keep(lists: KeptLists, made: KeptList): boolean {
  const bytes = lists.bytes + made.body.length
  if (lists.lists.length > 0 && (lists.lists.length >= MOST_LISTS || bytes > MOST_KEPT_BYTES)) return false
  // Not `push`: nearly every service has one list, and an array that grows reserves room for 17.
  lists.lists = [...lists.lists, made]
  lists.bytes = bytes
  return true
}

/** Gives a kept list the spelling of another query, for the next client that spells it so. */
function reword(kept: KeptList, query: ListQuery): void {
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

function makeAnswer(state: State, lists: KeptLists, query: ListQuery): KeptList {
  const { entry } = lists
  const { namespaceId } = entry.service.key
  const labelsOf = (ip: string) => state.labelsAt(ip, namespaceId)
  const consumer = query.consumerIp === undefined ? undefined : { ip: query.consumerIp, labelsOf }
  const { clusters, healthyOnly, format } = query
  const selection = selectInstances(entry, { clusters, healthyOnly, consumer })
  const { groupedName } = query.key
  const hosts = hostsText(lists, selection, hostWriter(format, groupedName))
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

function hostsText(lists: KeptLists, { instances, protecting }: Selection, write: WriteHost): string {
  const { beatIntervalMs } = lists
  const hosts = instances.length >= FEWEST_KEPT ? keptHosts(lists) : lists.hosts
  return instances
    .map((instance) => {
      const healthy = protecting || instance.healthy
      const json = hostText(hosts, { instance, healthy }, beatIntervalMs)
      return write(json, healthy)
    })
    .join(',')
}

/** The kept texts of hosts. Once there are more than hosts, the texts of hosts that have left are dropped. */
function keptHosts(lists: KeptLists): Map<Instance, KeptHost> {
  const { instances } = lists.entry
  const known = lists.hosts
  if (known !== undefined && known.size <= instances.size) return known
  lists.hosts = new Map()
  for (const instance of known === undefined ? [] : instances.values()) {
    const host = known?.get(instance)
    if (host !== undefined) lists.hosts.set(instance, host)
  }
  return lists.hosts
}

/** A host as `svc` has it. */
function hostText(
  hosts: Map<Instance, KeptHost> | undefined,
  { instance, healthy }: { instance: Instance; healthy: boolean },
  beatIntervalMs: number,
): string {
  // Protection shows the unhealthy as healthy only for a while: these texts are not kept.
  if (hosts === undefined || healthy !== instance.healthy) return hostJson(instance, healthy, beatIntervalMs)
  const { record, metadata } = instance
  const host = hosts.get(instance)
  if (host?.record === record && host.metadata === metadata && host.healthy === healthy) return host.text
  const text = hostJson(instance, healthy, beatIntervalMs)
  hosts.set(instance, { record, metadata, healthy, text })
  return text
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

/** The answer for an unknown service is that of an empty one. No service with this name had a later `lastRefTime`. */
function emptyTail(state: State, { key, format }: ListQuery): string {
  const more = moreListFields(format, { groupedName: key.groupedName, metadata: {} })
  return tailText('', { lastRefMs: state.services.floorMs, protecting: false, more })
}
