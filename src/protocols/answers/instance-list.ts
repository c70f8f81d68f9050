import { hash } from 'node:crypto'
import { bytesOfText, isLongText, type SentText } from '../../core/text/long-text.ts'
import { selectInstances } from '../../core/naming/state/select-instances.ts'
import type { ServiceKey } from '../../core/naming/state/service.ts'
import type { ServiceEntry } from '../../core/naming/state/service-entry.ts'
import type { Loop } from '../../core/work/sliced-work.ts'
import type { State } from '../../core/engine/state.ts'
import { HostTexts } from './host-json.ts'
import { hostWriter, type ListFormat, moreListFields, mostBytesOf } from './list-format.ts'
import { headText, type ListPlan, ListTextWriter, tailText } from './list-text.ts'
import { type KeptAnswers, RecentAnswers, UNUSED } from './recent-answers.ts'

/** A query for a service's list. */
export interface ListQuery {
  readonly key: ServiceKey
  readonly format: ListFormat
  /** As the client spelled it: answers repeat it. */
  readonly clustersText: string
  /** The names in it, without blanks and empty ones. */
  readonly clusters: readonly string[]
  readonly healthyOnly: boolean
  /** The labels of this address are compared by a selector; undefined: the list without the selector. */
  readonly consumerIp: string | undefined
  /** How long the client may keep the answer, ms. */
  readonly cacheMillis: number
}

/** An answer as it is sent. A short text costs V8 less memory and less garbage collection than a Buffer. */
export type ListBody = SentText

/** Longer ones are bytes: a text would be copied each time it is sent. */
const LONGEST_TEXT = 16_000

/** An answer as one client asked for it. From `hostsAt` on it is independent of how the query was spelled. */
interface KeptList {
  readonly format: ListFormat
  /** See {@link variantOf}. */
  readonly variant: string
  body: ListBody
  readonly bytes: number
  hostsAt: number
  clustersText: string
  cacheMillis: number
}

/** The answers of a service at one version of it. Their number is limited: clients may ask for any set of clusters. */
interface KeptLists extends KeptAnswers {
  readonly entry: ServiceEntry
  version: number
  beatIntervalMs: number
  lists: readonly KeptList[]
  /** Lists that are longer than may be answered. */
  tooLong: readonly WantedList[]
  /** The size of all lists. */
  bytes: number
  /** Outlives a version: after a change only the hosts that have changed are serialized again. */
  hosts: HostTexts | undefined
  /** Long lists that are being written, of any version. */
  pending: readonly Pending[]
}

/** Which list of a service. */
type WantedList = Pick<KeptList, 'format' | 'variant'>

/** A list that is written over several turns of the event loop. */
interface Pending extends WantedList {
  readonly shows: ShownVersion
  readonly done: Promise<KeptList | undefined>
}

/** The version of its service that a list shows; undefined until its turn to be written comes. */
interface ShownVersion {
  version: number | undefined
}

const NO_LISTS: readonly KeptList[] = []
const NONE_TOO_LONG: KeptLists['tooLong'] = []
const NONE_PENDING: readonly Pending[] = []

const MOST_LISTS = 32

/** Smaller services serialize all hosts again after a change: kept texts would double the memory of an instance. */
const FEWEST_KEPT = 32

/** The most texts of hosts per instance: texts of instances that have left are dropped beyond. */
const MOST_TEXTS = 1.25

/** A list of more instances, or of more characters, takes longer to write than others should wait. */
const MOST_AT_ONCE = 5_000
const MOST_CHARACTERS_AT_ONCE = 512 * 1024

/**
 * The most bytes of the lists of one service; a hundred thousand instances make 40 MB of each list. One is
 * kept in any case.
 */
const MOST_KEPT_BYTES = 64 * 1024 * 1024

/**
 * Builds the instance list answer (interface.md, instance list answer envelope) as the bytes that are sent, and keeps
 * it until the service changes. A list that is asked for again costs one lookup. The state knows nothing of this: kept
 * lists are found by the service's entry, and valid while the entry has the same version.
 */
export class InstanceListAnswers {
  readonly #state: State
  readonly #writer: ListTextWriter
  readonly #kept = new WeakMap<ServiceEntry, KeptLists>()
  readonly #recent: RecentAnswers<KeptLists>

  /** `loop`: for lists that are written in slices. `mostBytes`: see {@link RecentAnswers}. */
  constructor(state: State, loop: Loop, mostBytes?: number) {
    this.#state = state
    this.#writer = new ListTextWriter(loop)
    this.#recent = new RecentAnswers((kept) => this.#kept.delete(kept.entry), mostBytes)
  }

  /** The list as it is now, written at once; undefined if it has more than `mostCharacters`. */
  answer(query: ListQuery, mostCharacters = Infinity): ListBody | undefined {
    const entry = this.#state.services.get(query.key)
    if (entry === undefined) return bodyOf(emptyList(this.#state, query))
    const lists = this.#listsOf(entry)
    const known = this.#known(lists, query)
    if (known !== undefined) return bytesOfText(known) > mostCharacters ? undefined : known
    const made = writeAtOnce(this.#state, lists, { query, mostCharacters })
    return made === undefined ? undefined : this.#keep(lists, made).body
  }

  /**
   * As `answer`, but a long list that nobody has asked for since the last change is written in slices. Undefined if it
   * is longer than may be answered in its format.
   */
  answerInSlices(query: ListQuery): ListBody | undefined | Promise<ListBody | undefined> {
    const entry = this.#state.services.get(query.key)
    if (entry === undefined) return this.answer(query)
    const lists = this.#listsOf(entry)
    const known = this.#known(lists, query)
    if (known !== undefined) return known
    const wanted = { format: query.format, variant: variantOf(entry, query) }
    if (lists.tooLong.some((one) => isSame(one, wanted))) return undefined
    const pending = pendingOf(lists, wanted)
    if (pending !== undefined) return this.#inWords(pending, query)
    if (entry.instances.size > MOST_AT_ONCE) return this.#awaited(lists, query, wanted)
    const made = writeAtOnce(this.#state, lists, { query, mostCharacters: MOST_CHARACTERS_AT_ONCE })
    return made === undefined ? this.#awaited(lists, query, wanted) : this.#keep(lists, made).body
  }

  /** The list that is kept, in the spelling of the query. */
  #known(lists: KeptLists, query: ListQuery): ListBody | undefined {
    if (lists.lists.length === 0 || isPersonal(lists)) return undefined
    const variant = variantOf(lists.entry, query)
    const found = lists.lists.find((kept) => kept.variant === variant && kept.format === query.format)
    if (found === undefined) return undefined
    this.#recent.use(lists, 0)
    reword(found, query)
    return found.body
  }

  async #inWords({ done }: Pending, query: ListQuery): Promise<ListBody | undefined> {
    const made = await done
    return made === undefined ? undefined : reworded(made, query)
  }

  /** The list as it is now or later, once it is written. Requests for the same list wait together. */
  async #awaited(lists: KeptLists, query: ListQuery, wanted: WantedList): Promise<ListBody | undefined> {
    const shows: ShownVersion = { version: undefined }
    const done = this.#write(lists, query, shows)
    if (isPersonal(lists)) return (await done)?.body
    const pending = { ...wanted, shows, done }
    lists.pending = [...lists.pending, pending]
    try {
      const made = await done
      if (lists.version !== shows.version) return made?.body
      if (made !== undefined) return this.#keep(lists, made).body
      if (lists.tooLong.length < MOST_LISTS) lists.tooLong = [...lists.tooLong, wanted]
      return undefined
    } finally {
      lists.pending = lists.pending.filter((one) => one !== pending)
    }
  }

  async #write(lists: KeptLists, query: ListQuery, shows: ShownVersion): Promise<KeptList | undefined> {
    let [hostsAt, variant] = [0, '']
    const planned = (): ListPlan => {
      shows.version = this.#listsOf(lists.entry).version
      const plan = planOf(this.#state, lists, query)
      hostsAt = Buffer.byteLength(plan.head)
      variant = variantOf(lists.entry, query)
      return plan
    }
    const body = await this.#writer.write(query.key, planned, mostBytesOf(query.format))
    return body === undefined ? undefined : keptOf(query, { variant, hostsAt, body })
  }

  #keep(lists: KeptLists, made: KeptList): KeptList {
    // With a selector the list depends on the consumer: it is not kept.
    if (!isPersonal(lists) && keep(lists, made)) this.#recent.use(lists, made.bytes)
    return made
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
        tooLong: NONE_TOO_LONG,
        bytes: 0,
        hosts: undefined,
        pending: NONE_PENDING,
        usedIn: UNUSED,
      }
      this.#kept.set(entry, fresh)
      return fresh
    }
    if (kept.version !== entry.version || kept.beatIntervalMs !== beatIntervalMs) renew(kept, beatIntervalMs)
    return kept
  }
}

/** Drops the parts that the last change has made invalid. Hosts contain the switch clientBeatInterval. */
function renew(kept: KeptLists, beatIntervalMs: number): void {
  if (kept.beatIntervalMs !== beatIntervalMs) kept.hosts = undefined
  kept.version = kept.entry.version
  kept.beatIntervalMs = beatIntervalMs
  kept.lists = NO_LISTS
  kept.tooLong = NONE_TOO_LONG
  kept.bytes = 0
}

/** Two queries with the same variant and format have the same hosts. Unknown clusters make no difference. */
function variantOf(entry: ServiceEntry, { clusters, healthyOnly }: ListQuery): string {
  const known = clusters.filter((cluster) => entry.clusterSizes.has(cluster))
  const name = clusters.length === 0 ? '' : `|${[...new Set(known)].sort().join(',')}`
  return healthyOnly ? `h${name}` : name
}

/** Keeps a list. Returns false when the limit of kept lists is reached. */
function keep(lists: KeptLists, made: KeptList): boolean {
  const bytes = lists.bytes + made.bytes
  if (lists.lists.length > 0 && (lists.lists.length >= MOST_LISTS || bytes > MOST_KEPT_BYTES)) return false
  // Not `push`: nearly every service has one list, and an array that grows reserves room for 17.
  lists.lists = [...lists.lists, made]
  lists.bytes = bytes
  return true
}

/** Gives a kept list the spelling of another query, for the next client that spells it so. */
function reword(kept: KeptList, query: ListQuery): void {
  if (isWordedFor(kept, query)) return
  const head = headText(query)
  kept.body = reworded(kept, query)
  kept.hostsAt = Buffer.byteLength(head)
  kept.clustersText = query.clustersText
  kept.cacheMillis = query.cacheMillis
}

/** The same hosts in the spelling of a query. */
function reworded({ body, hostsAt, ...kept }: KeptList, query: ListQuery): ListBody {
  if (isWordedFor(kept, query)) return body
  const head = headText(query)
  if (typeof body === 'string') return bodyOf(head + body.slice(hostsAt))
  if (isLongText(body)) return { head: Buffer.from(head), rest: body.rest }
  return Buffer.concat([Buffer.from(head), body.subarray(hostsAt)])
}

function isSame(one: WantedList, other: WantedList): boolean {
  return one.variant === other.variant && one.format === other.format
}

/** The waiting list of the same version, or of a version that is not known before its turn comes. */
function pendingOf(lists: KeptLists, wanted: WantedList): Pending | undefined {
  return lists.pending.find(
    (one) => (one.shows.version ?? lists.version) === lists.version && isSame(one, wanted),
  )
}

function isWordedFor(kept: Pick<KeptList, 'clustersText' | 'cacheMillis'>, query: ListQuery): boolean {
  return kept.clustersText === query.clustersText && kept.cacheMillis === query.cacheMillis
}

/** Whether a list depends on who asks for it. */
function isPersonal({ entry }: KeptLists): boolean {
  return entry.service.selector.type !== 'none'
}

/** The parts of a list, as it is now. */
function planOf(state: State, lists: KeptLists, query: ListQuery): ListPlan {
  const { entry } = lists
  const { key, metadata } = entry.service
  const labelsOf = (ip: string) => state.labelsAt(ip, key.namespaceId)
  const consumer = query.consumerIp === undefined ? undefined : { ip: query.consumerIp, labelsOf }
  const { clusters, healthyOnly, format } = query
  const { instances, protecting } = selectInstances(entry, { clusters, healthyOnly, consumer })
  const more = moreListFields(format, { groupedName: query.key.groupedName, metadata })
  return {
    head: headText(query),
    instances,
    protecting,
    write: hostWriter(format, query.key.groupedName),
    texts: textsFor(lists, instances.length),
    tail: { format, lastRefMs: entry.lastRefMs, protecting, more },
  }
}

/** The list, unless it has more characters. */
function writeAtOnce(
  state: State,
  lists: KeptLists,
  { query, mostCharacters }: { readonly query: ListQuery; readonly mostCharacters: number },
): KeptList | undefined {
  const { head, instances, protecting, write, texts, tail } = planOf(state, lists, query)
  const written: string[] = []
  let left = mostCharacters - head.length
  for (const instance of instances) {
    const healthy = protecting || instance.healthy
    const host = write(texts.textOf(instance, instance, healthy), healthy)
    left -= host.length + 1
    if (left < 0) return undefined
    written.push(host)
  }
  const hosts = written.join(',')
  return keptOf(query, {
    variant: variantOf(lists.entry, query),
    hostsAt: Buffer.byteLength(head),
    body: bodyOf(`${head}${hosts}${tailText(() => hash('md5', hosts, 'hex'), tail)}`),
  })
}

function keptOf(query: ListQuery, made: Pick<KeptList, 'variant' | 'hostsAt' | 'body'>): KeptList {
  const { format, clustersText, cacheMillis } = query
  const { variant, body, hostsAt } = made
  return { format, variant, body, bytes: bytesOfText(body), hostsAt, clustersText, cacheMillis }
}

function bodyOf(text: string): ListBody {
  return text.length > LONGEST_TEXT || Buffer.byteLength(text) > text.length ? Buffer.from(text) : text
}

/** The kept texts of the hosts of a service; texts of a small service are kept for this list alone. */
function textsFor(lists: KeptLists, count: number): HostTexts {
  const { beatIntervalMs, hosts, entry } = lists
  const { size } = entry.instances
  if (hosts !== undefined && hosts.size <= size * MOST_TEXTS) return hosts
  // A large service starts again without texts: to copy them takes longer than others should wait.
  if (hosts !== undefined && size <= MOST_AT_ONCE) return (lists.hosts = hosts.only(entry.instances.values()))
  const texts = new HostTexts(beatIntervalMs, { keeps: count >= FEWEST_KEPT })
  if (count >= FEWEST_KEPT) lists.hosts = texts
  return texts
}

/** An unknown service is answered like an empty one. No service with this name had a later `lastRefTime`. */
function emptyList(state: State, query: ListQuery): string {
  const { format, key } = query
  const more = moreListFields(format, { groupedName: key.groupedName, metadata: {} })
  const tail = { format, lastRefMs: state.services.floorMs, protecting: false, more }
  return `${headText(query)}${tailText(() => hash('md5', '', 'hex'), tail)}`
}
