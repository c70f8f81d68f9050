import type { BehindItem } from './client-views.ts'
import { type ViewedState, viewedMd5, type WatchedItem } from '../config/state/config-view.ts'
import type { Viewer } from '../config/state/viewer.ts'

/** A client that has not taken some items, though it was notified some time ago. */
export interface LateClient {
  readonly who: Viewer
  /** Undefined where nobody knows. */
  readonly client: { readonly port: number; readonly agent: string } | undefined
  readonly items: readonly WatchedItem[]
}

/** Every client gets a new version within milliseconds; one that has not after this long will not. */
export const BEHIND_AFTER_MS = 10_000
const MOST_ITEMS = 500
/** The most clients that are named for an item. */
const MOST_BEHIND_NAMED = 5
/** The most watched items that are checked. */
const MOST_LOOKED_AT = 50_000

type BehindCount = BehindItem & { clientCount: number; clients: BehindItem['clients'][number][] }

/** The dependencies of {@link clientsBehind}. */
export interface BehindParts {
  readonly state: ViewedState
  /** Calls `each` with each of these, in slices. */
  readonly walk: <T>(all: Iterable<T>, each: (one: T) => void) => Promise<void>
}

/** The items of which clients lack the version that they see. An item that is gone has none. */
export async function clientsBehind(
  clients: Iterable<LateClient>,
  { state, walk }: BehindParts,
): Promise<BehindItem[]> {
  const byItem = new Map<string, BehindCount>()
  await walk(lookedAt(clients), ({ who, client, item: { key, md5 } }) => {
    const seen = viewedMd5(state, key, who)
    if (seen === md5 || seen === '') return
    const known = byItem.get(key.text) ?? { key, clientCount: 0, clients: [] }
    known.clientCount++
    if (known.clients.length < MOST_BEHIND_NAMED) known.clients.push({ ip: who.ip, client })
    if (byItem.size < MOST_ITEMS) byItem.set(key.text, known)
  })
  return [...byItem.values()]
}

/** The items of the first clients, one at a time. */
function* lookedAt(clients: Iterable<LateClient>): Generator<LateClient & { item: WatchedItem }> {
  let count = 0
  for (const client of clients) {
    if ((count += client.items.length) > MOST_LOOKED_AT) return
    for (const item of client.items) yield { ...client, item }
  }
}

/** Merges the items of several servers, each item once. */
export function togetherBehind(all: readonly BehindItem[]): BehindItem[] {
  const byItem = new Map<string, BehindItem>()
  for (const { key, ...one } of all) {
    const { clientCount = 0, clients = [] } = byItem.get(key.text) ?? {}
    byItem.set(key.text, {
      key,
      clientCount: clientCount + one.clientCount,
      clients: [...clients, ...one.clients].slice(0, MOST_BEHIND_NAMED),
    })
  }
  return [...byItem.values()]
}
