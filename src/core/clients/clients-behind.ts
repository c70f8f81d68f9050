import type { BehindItem } from './client-views.ts'
import { type ViewedState, viewedMd5, seenSinceMs, type WatchedItem } from '../config/state/config-view.ts'

/** A poll that has ended lately: the client still has its version, until it polls again. */
export interface LastPoll {
  readonly ip: string
  readonly tag?: string | undefined
  /** Undefined where nobody knows. */
  readonly client: { readonly port: number; readonly agent: string } | undefined
  readonly items: readonly WatchedItem[]
}

/** Every client gets a new version within milliseconds; one that has not after this long will not. */
const BEHIND_AFTER_MS = 10_000
const MOST_ITEMS = 500
/** The most clients that are named for an item. */
const MOST_BEHIND_NAMED = 5
/** The most watched items that are checked. */
const MOST_LOOKED_AT = 50_000

type BehindCount = BehindItem & { clientCount: number; clients: BehindItem['clients'][number][] }

/** The dependencies of {@link clientsBehind}. */
export interface BehindParts {
  readonly state: ViewedState
  readonly nowMs: number
  /** Calls `each` with each of these, in slices. */
  readonly walk: <T>(all: Iterable<T>, each: (one: T) => void) => Promise<void>
}

/** The items of which clients have another version than they see, from polls that have ended lately. */
export async function clientsBehind(
  polls: Iterable<LastPoll>,
  { state, nowMs, walk }: BehindParts,
): Promise<BehindItem[]> {
  const byItem = new Map<string, BehindCount>()
  await walk(lookedAt(polls), ({ poll, item: { key, md5 } }) => {
    if (viewedMd5(state, key, poll) === md5) return
    const sinceMs = seenSinceMs(state, key, poll)
    if (sinceMs === undefined || nowMs - sinceMs < BEHIND_AFTER_MS) return
    const { ip, client } = poll
    const known = byItem.get(key.text) ?? { key, clientCount: 0, clients: [] }
    known.clientCount++
    if (known.clients.length < MOST_BEHIND_NAMED) known.clients.push({ ip, client })
    if (byItem.size < MOST_ITEMS) byItem.set(key.text, known)
  })
  return [...byItem.values()]
}

/** The items of the first polls, one at a time. */
function* lookedAt(polls: Iterable<LastPoll>): Generator<{ poll: LastPoll; item: WatchedItem }> {
  let count = 0
  for (const poll of polls) {
    if ((count += poll.items.length) > MOST_LOOKED_AT) return
    for (const item of poll.items) yield { poll, item }
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
