import type { ConfigKey } from '../core/config/state/config-item.ts'
import type { WatchedItem } from '../core/config/state/config-view.ts'
import type { ServiceKey } from '../core/naming/state/service.ts'
import type { OwnTimeline } from '../core/naming/timeline/timeline.ts'
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

type Awaitable<T> = T | Promise<T>

/** How all servers are. */
export interface Conditions {
  readonly own: OwnCondition
  readonly others: readonly PeerCondition[]
}

/** The clients of all servers: their watches, subscriptions, connections and timelines. */
export interface ClientViews {
  /** The md5 that each address has of an item. */
  watchersOf(key: ConfigKey): Awaitable<Collected<ReadonlyMap<string, string>>>
  /** The clients that watch an item, or have polled it a moment ago. */
  clientsOf(key: ConfigKey): Awaitable<Collected<readonly ItemClient[]>>
  /** How many clients each of the items has, in their order. One question to each server, however many items there are. */
  clientCounts(keys: readonly ConfigKey[]): Awaitable<Collected<readonly number[]>>
  /** The items that an address watches. */
  watchedBy(ip: string): Awaitable<Collected<readonly WatchedItem[]>>
  /** How this server is, and how the others are. */
  conditions(): Awaitable<Collected<Conditions>>
  subscribers(key: ServiceKey): Awaitable<Collected<readonly ListedSubscriber[]>>
  timeline(key: ServiceKey): Awaitable<Collected<OwnTimeline>>
  /** Somebody has seen that the last instance of a service has left. */
  dismissLost(key: ServiceKey): Awaitable<Collected<void>>
  /** The connected clients. Each server returns its first ones, perhaps fewer than requested. */
  connectedClients(search: ClientSearch): Awaitable<Collected<AllServerClients>>
  /** Sends a connected client away, whichever server has it. False if no server that replied has it. */
  dismiss(dismissal: Dismissal): Awaitable<Collected<boolean>>
}

/** The views of a server that is the only one. */
export function viewsOfOne(own: OwnViews): ClientViews {
  const all = <T>(value: T): Collected<T> => ({ value, missing: [] })
  return {
    watchersOf: async (key) => all(await own.watchersOf(key)),
    clientsOf: async (key) => all(await own.clientsOf(key)),
    clientCounts: (keys) => all(own.clientCounts(keys)),
    watchedBy: async (ip) => all(await own.watchedBy(ip)),
    conditions: async () => all({ own: await own.condition(), others: [] }),
    subscribers: (key) => all(own.subscribers(key)),
    timeline: (key) => all(own.timeline(key)),
    dismissLost: (key) => all(own.dismissLost(key)),
    connectedClients: (search) => all({ own: own.connectedClients(search), others: [] }),
    dismiss: (dismissal) => all(own.dismiss(dismissal)),
  }
}
