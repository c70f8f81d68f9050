import type { ClientSearch, Dismissal } from '../core/clients/connected-client.ts'
import type {
  AllServerClients,
  Collected,
  ItemClient,
  ListedSubscriber,
  OwnCondition,
  OwnViews,
  PeerCondition,
} from '../core/clients/client-views.ts'
import type { MemberFacts } from '../core/cluster/members/member-records.ts'
import type { ConfigKey } from '../core/config/state/config-item.ts'
import type { WatchedItem } from '../core/config/state/config-view.ts'
import { addressText } from '../core/naming/state/instance.ts'
import type { ServiceKey } from '../core/naming/state/service.ts'
import type { OwnTimeline } from '../core/naming/timeline/timeline.ts'
import { newestFirst, orderOf, type TimelineEntry } from '../core/naming/timeline/timeline-entry.ts'
import type { PeerClient } from './peer-client.ts'
import {
  CLIENT_COUNTS,
  CLIENTS_OF,
  CONDITION,
  CONNECTED_CLIENTS,
  DISMISS,
  DISMISS_LOST,
  type PeerQuestion,
  SUBSCRIBERS,
  TIMELINE,
  WATCHED_BY,
  WATCHERS_OF,
} from './peer-question.ts'
import type { PeerServer } from './peer-server.ts'

/** The dependencies of `PeerViews`. */
export interface PeerViewsParts {
  readonly client: Pick<PeerClient, 'ask'>
  /** The other members, by their ids. */
  readonly peers: () => ReadonlyMap<string, MemberFacts>
  readonly own: OwnViews
}

/** The clients of all servers, as operators see them. Every member is asked at once, and has a second to reply. */
export class PeerViews {
  readonly #parts: PeerViewsParts

  constructor(parts: PeerViewsParts) {
    this.#parts = parts
  }

  /** Lets this server answer the others. */
  answerOn(server: PeerServer): void {
    const { own } = this.#parts
    server.answer(WATCHERS_OF, async (key) =>
      Array.from(await own.watchersOf(key), ([ip, md5]) => ({ ip, md5 })),
    )
    server.answer(CLIENTS_OF, (key) => own.clientsOf(key))
    server.answer(CLIENT_COUNTS, (keys) => own.clientCounts(keys))
    server.answer(WATCHED_BY, ({ ip }) => own.watchedBy(ip))
    server.answer(CONDITION, () => own.condition())
    server.answer(SUBSCRIBERS, (key) => own.subscribers(key))
    server.answer(TIMELINE, (key) => newestOf(own.timeline(key)))
    server.answer(CONNECTED_CLIENTS, (search) => own.connectedClients(bounded(search)))
    server.answer(DISMISS_LOST, (key) => {
      own.dismissLost(key)
      return {}
    })
    server.answer(DISMISS, (dismissal) => ({ isKnown: own.dismiss(dismissal) }))
  }

  /**
   * The md5 that each address has of an item. Where several servers know an address, this server's own answer counts.
   */
  async watchersOf(key: ConfigKey): Promise<Collected<ReadonlyMap<string, string>>> {
    const [own, { answers, missing }] = await Promise.all([
      this.#parts.own.watchersOf(key),
      this.#collect(WATCHERS_OF, key),
    ])
    const md5ByIp = new Map(own)
    for (const { ip, md5 } of answers.flat()) if (!md5ByIp.has(ip)) md5ByIp.set(ip, md5)
    return { value: md5ByIp, missing }
  }

  /** The clients of an item on all servers. */
  async clientsOf(key: ConfigKey): Promise<Collected<readonly ItemClient[]>> {
    const [own, { answers, missing }] = await Promise.all([
      this.#parts.own.clientsOf(key),
      this.#collect(CLIENTS_OF, key),
    ])
    return { value: [...own, ...answers.flat()], missing }
  }

  /** How many clients each of the items has, on all servers together. */
  async clientCounts(keys: readonly ConfigKey[]): Promise<Collected<readonly number[]>> {
    if (keys.length === 0) return { value: [], missing: [] }
    const { answers, missing } = await this.#collect(CLIENT_COUNTS, keys)
    const all = [this.#parts.own.clientCounts(keys), ...answers]
    const countOf = (index: number): number => all.reduce((sum, counts) => sum + (counts[index] ?? 0), 0)
    return { value: keys.map((_, index) => countOf(index)), missing }
  }

  /** The items that an address watches, each once. */
  async watchedBy(ip: string): Promise<Collected<readonly WatchedItem[]>> {
    const [own, { answers, missing }] = await Promise.all([
      this.#parts.own.watchedBy(ip),
      this.#collect(WATCHED_BY, { ip }),
    ])
    const all = [...own, ...answers.flat()]
    return { value: eachOnce(all, ({ key }) => key.text), missing }
  }

  /** How this server is, and how the others are. */
  async conditions(): Promise<
    Collected<{ readonly own: OwnCondition; readonly others: readonly PeerCondition[] }>
  > {
    const [own, { answers, from, missing }] = await Promise.all([
      this.#parts.own.condition(),
      this.#collect(CONDITION, {}),
    ])
    const others = answers.map((condition, index) => ({ server: from[index]!, ...condition }))
    return { value: { own, others }, missing }
  }

  /** The subscribers of a service, each once, also if it subscribed on several servers. */
  async subscribers(key: ServiceKey): Promise<Collected<readonly ListedSubscriber[]>> {
    const { answers, missing } = await this.#collect(SUBSCRIBERS, key)
    const all = [...this.#parts.own.subscribers(key), ...answers.flat()]
    return {
      value: eachOnce(all, ({ address, port, clusters, agent, via }) =>
        // Readers of a list have no port.
        [address, port, clusters, via === 'poll' ? agent : ''].join(' '),
      ),
      missing,
    }
  }

  /** The history of a service. Only the server of a change knows its author; a server that started later knows less. */
  async timeline(key: ServiceKey): Promise<Collected<OwnTimeline>> {
    const { answers, missing } = await this.#collect(TIMELINE, key)
    const all = [this.#parts.own.timeline(key), ...answers]
    const entries = eachEventOnce(all.flatMap((one) => one.entries).sort(newestFirst))
    return { value: { fromMs: Math.min(...all.map(({ fromMs }) => fromMs)), entries }, missing }
  }

  async dismissLost(key: ServiceKey): Promise<Collected<void>> {
    const { missing } = await this.#collect(DISMISS_LOST, key)
    return { value: this.#parts.own.dismissLost(key), missing }
  }

  /** The connected clients of each server. Others list at most their first thousand. */
  async connectedClients(search: ClientSearch): Promise<Collected<AllServerClients>> {
    const { answers: others, missing } = await this.#collect(CONNECTED_CLIENTS, search)
    return { value: { own: this.#parts.own.connectedClients(search), others }, missing }
  }

  /** Sends a client away. Asks other servers only if it is not connected to this server. */
  async dismiss(dismissal: Dismissal): Promise<Collected<boolean>> {
    if (this.#parts.own.dismiss(dismissal)) return { value: true, missing: [] }
    const { answers, missing } = await this.#collect(DISMISS, dismissal)
    return { value: answers.some(({ isKnown }) => isKnown), missing }
  }

  async #collect<Question, Answer>(question: PeerQuestion<Question, Answer>, asked: Question) {
    const { client, peers } = this.#parts
    const answers: Answer[] = []
    const from: string[] = []
    const missing: string[] = []
    const ask = async ([id, member]: readonly [string, MemberFacts]): Promise<void> => {
      const answer = await client.ask(member, question, asked)
      if (answer === undefined) return void missing.push(id)
      answers.push(answer)
      from.push(id)
    }
    await Promise.all(Array.from(peers(), ask))
    return { answers, from, missing: missing.sort() }
  }
}

/** The most entries of a timeline, and the most clients, that one server answers to another. */
const MOST_ANSWERED = 1_000

function bounded({ text, most }: ClientSearch): ClientSearch {
  return { text, most: Math.min(most, MOST_ANSWERED) }
}

function newestOf({ fromMs, entries }: OwnTimeline): OwnTimeline {
  if (entries.length <= MOST_ANSWERED) return { fromMs, entries }
  const newest = entries.slice(0, MOST_ANSWERED)
  return { fromMs: newest.at(-1)!.atMs, entries: newest }
}

/** Servers note a change without a stamp by their own clocks, which may differ by as much. */
const SAME_EVENT_MS = 5_000

/** The first entry of each event. The newest entries are first. */
function eachEventOnce(entries: readonly TimelineEntry[]): TimelineEntry[] {
  const nameOf = ({ kind, address }: TimelineEntry): string => `${kind} ${addressText(address)}`
  /** When events without a stamp happened, by their names. */
  const keptMs = new Map<string, number>()
  return eachOnce(entries, (one) => `${orderOf(one)} ${nameOf(one)}`).filter((one) => {
    if (one.stamp !== 0) return true
    if ((keptMs.get(nameOf(one)) ?? Infinity) - one.atMs <= SAME_EVENT_MS) return false
    keptMs.set(nameOf(one), one.atMs)
    return true
  })
}

/** The first item of each name. */
function eachOnce<T>(all: readonly T[], nameOf: (each: T) => string): T[] {
  const byName = new Map<string, T>()
  for (const each of all) if (!byName.has(nameOf(each))) byName.set(nameOf(each), each)
  return [...byName.values()]
}
