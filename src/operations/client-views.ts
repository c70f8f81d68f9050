import type { ConfigKey } from '../core/config/config-item.ts'
import type { WatchedItem } from '../core/config/watched-item.ts'
import type { ServiceKey } from '../core/naming/service.ts'
import type { OwnTimeline } from '../core/naming/timeline.ts'
import type {
  BehindItem,
  Collected,
  ItemClient,
  ListedSubscriber,
  OwnViews,
} from '../core/cluster/client-views.ts'
type Awaitable<T> = T | Promise<T>

/** Who watches and subscribes to what, and what has happened, on all servers. */
export interface ClientViews {
  /** The md5 that each address has of an item. */
  watchersOf(key: ConfigKey): Awaitable<Collected<ReadonlyMap<string, string>>>
  /** The clients of an item: those that watch it, and those that have polled a moment ago. */
  clientsOf(key: ConfigKey): Awaitable<Collected<readonly ItemClient[]>>
  /** What an address watches. */
  watchedBy(ip: string): Awaitable<Collected<readonly WatchedItem[]>>
  /** The items of which clients have an old version for a while. */
  behind(): Awaitable<Collected<readonly BehindItem[]>>
  subscribers(key: ServiceKey): Awaitable<Collected<readonly ListedSubscriber[]>>
  timeline(key: ServiceKey): Awaitable<Collected<OwnTimeline>>
}

/** The views of a server that is the only one. */
export function viewsOfOne(own: OwnViews): ClientViews {
  const all = <T>(value: T): Collected<T> => ({ value, missing: [] })
  return {
    watchersOf: (key) => all(own.watchersOf(key)),
    clientsOf: (key) => all(own.clientsOf(key)),
    watchedBy: (ip) => all(own.watchedBy(ip)),
    behind: () => all(own.behind()),
    subscribers: (key) => all(own.subscribers(key)),
    timeline: (key) => all(own.timeline(key)),
  }
}
