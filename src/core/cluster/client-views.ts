import type { ConfigKey } from '../config/config-item.ts'
import type { WatchedItem } from '../config/watched-item.ts'
import type { ServiceKey } from '../naming/service.ts'

/** A subscriber of changes of a service. */
export interface ListedSubscriber {
  readonly address: string
  readonly port: number
  readonly agent: string
  readonly app: string
  readonly clusters: string
  readonly namespaceId: string
  readonly groupedName: string
}

/** What is known of clients on all servers together. */
export interface Collected<T> {
  readonly value: T
  /** The ids of the servers that have not replied in time: what they know is missing. */
  readonly missing: readonly string[]
}

/** What one server knows of its own clients. */
export interface OwnViews {
  watchersOf(key: ConfigKey): ReadonlyMap<string, string>
  watchedBy(ip: string): readonly WatchedItem[]
  subscribers(key: ServiceKey): readonly ListedSubscriber[]
}
