import type { ConfigKey } from '../config/state/config-item.ts'
import type { WatchedItem } from '../config/state/config-view.ts'
import type { Viewer } from '../config/state/viewer.ts'
import type { ServiceKey } from '../naming/state/service.ts'
import type { LostService } from '../naming/timeline/lost-services.ts'
import type { OwnTimeline } from '../naming/timeline/timeline.ts'
import type { ClientSearch, Dismissal, ServerClients } from './connected-client.ts'

/** A subscriber of changes of a service, or a client that reads its list again and again. */
export interface ListedSubscriber {
  readonly address: string
  readonly port: number
  /** The address that the client reports for itself, which may be wrong; without one, the address of its socket. */
  readonly toldIp: string
  readonly agent: string
  readonly app: string
  readonly clusters: string
  readonly namespaceId: string
  readonly groupedName: string
  /** How it receives changes; for a poll, the port is 0. */
  readonly via: 'udp' | 'stream' | 'poll'
}

/** A client of an item, for people. */
export interface ItemClient {
  /** Where its requests come from; `seen.ip` is the address by which rules know it. */
  readonly ip: string
  /** Its port, and how its library names itself; undefined where nobody knows. */
  readonly client: { readonly port: number; readonly agent: string } | undefined
  readonly md5: string
  /** The version of the item for this client. */
  readonly seen: SeenVersion
  /** How long ago something last came from it, in milliseconds; for an answered poll: how long ago it was answered. */
  readonly seenAgoMs: number
  /** Its poll was answered, and it has not asked with the same md5 again: it may have left. Undefined: it listens now. */
  readonly isAway?: boolean | undefined
  /** How it receives changes. */
  readonly via: 'poll' | 'stream'
}

/** The version of an item that a client sees. */
export interface SeenVersion {
  /** The empty string: it sees nothing. */
  readonly md5: string
  /** The name of the gray version; undefined: it is the formal one. */
  readonly gray?: string | undefined
  /** The address by which rules know the client. */
  readonly ip: string
  /** Its tag, and its labels by their names, as rules know them. */
  readonly tag?: string | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
}

/** The facts about a client, besides its address, that rules of gray versions know. */
export function knownToRules({
  tag,
  labels,
}: Pick<Viewer, 'tag' | 'labels'>): Pick<SeenVersion, 'tag' | 'labels'> {
  return { tag, labels: labels && Object.fromEntries(labels) }
}

/** An item that some of its clients have not got. */
export interface BehindItem {
  readonly key: ConfigKey
  readonly clientCount: number
  /** The first clients. */
  readonly clients: readonly Pick<ItemClient, 'ip' | 'client'>[]
}

/** A fault of a server, and for how long it lasts (ms). */
export interface ServerFault {
  readonly code: string
  readonly detail: string
  readonly forMs: number
}

/** The condition of a server, and its clients. */
export interface OwnCondition {
  readonly behind: readonly BehindItem[]
  /** Services whose last instance left lately. */
  readonly lost: readonly LostService[]
  readonly subscriberCount: number
  /** The age of its knowledge of the store. */
  readonly lagMs: number
  readonly faults: readonly ServerFault[]
}

/** How another server is, by its member id. */
export interface PeerCondition extends OwnCondition {
  readonly server: string
}

/** The clients that are connected to this server, and to each of the others. */
export interface AllServerClients {
  readonly own: ServerClients
  readonly others: readonly ServerClients[]
}

/** Knowledge about clients, collected from all servers. */
export interface Collected<T> {
  readonly value: T
  /** The ids of the servers that have not replied in time: their clients are missing. */
  readonly missing: readonly string[]
}

/** The knowledge of one server of its own clients, and how it sends connected clients away. */
export interface OwnViews {
  watchersOf(key: ConfigKey): Promise<ReadonlyMap<string, string>>
  clientsOf(key: ConfigKey): Promise<readonly ItemClient[]>
  /** How many {@link clientsOf} each of the items has, in their order. */
  clientCounts(keys: readonly ConfigKey[]): readonly number[]
  watchedBy(ip: string): Promise<readonly WatchedItem[]>
  condition(): Promise<OwnCondition>
  subscribers(key: ServiceKey): readonly ListedSubscriber[]
  timeline(key: ServiceKey): OwnTimeline
  /** Somebody has seen that the last instance of a service has left. */
  dismissLost(key: ServiceKey): void
  connectedClients(search: ClientSearch): ServerClients
  /** Sends a connected client away. False where none has the id. */
  dismiss(dismissal: Dismissal): boolean
}
