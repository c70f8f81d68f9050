import type { LateClient } from '../core/clients/clients-behind.ts'
import type { ItemClient, SeenVersion } from '../core/clients/client-views.ts'
import type { ConfigKey } from '../core/config/state/config-item.ts'
import type { WatchedItem } from '../core/config/state/config-view.ts'
import type { Viewer } from '../core/config/state/viewer.ts'
import type { SharedSlices } from '../core/work/shared-slices.ts'
import type { HeldPolls } from './held-polls.ts'
import type { RecentPolls } from './recent-polls.ts'
import type { StandingListener } from './standing-listener.ts'
import type { Watcher } from './watcher.ts'

/** The dependencies of {@link WatcherLists}. */
export interface WatcherListParts {
  readonly polls: HeldPolls
  readonly recent: RecentPolls
  readonly listeners: ReadonlySet<StandingListener>
  readonly slices: SharedSlices
  /** The version that a client sees, for people. */
  readonly seenBy: (key: ConfigKey, who: Viewer) => SeenVersion
  readonly now: () => number
}

/** Lists who watches what, for people. Watchers are listed as they are at the beginning of a walk, which takes slices. */
export class WatcherLists {
  readonly #parts: WatcherListParts

  constructor(parts: WatcherListParts) {
    this.#parts = parts
  }

  /**
   * The watchers of an item: the md5 of each address, as rules of gray versions know it, from its newest poll. Polls that
   * are about to be compared are left out.
   */
  async watchersOf(key: ConfigKey): Promise<Map<string, string>> {
    const md5ByIp = new Map<string, string>()
    await this.#parts.slices.walk([...this.#parts.polls.of(key.text)], (watcher) => {
      const item = watcher.itemOf(key.text)
      if (item !== undefined) md5ByIp.set(watcher.who.ip, item.md5)
    })
    return md5ByIp
  }

  /** The clients that watch an item or polled for it in the last minute. */
  async clientsOf(key: ConfigKey): Promise<ItemClient[]> {
    const { polls, recent, slices, seenBy, now } = this.#parts
    const clients: ItemClient[] = []
    const nowMs = now()
    // A message may come during the walk.
    const agoMs = (atMs: number): number => Math.max(0, nowMs - atMs)
    // Both as they are now: clients that come back during the walk would be met again and again.
    const [watchers, ended] = [[...polls.of(key.text)], [...recent.all()]]
    await slices.walk(watchers, (watcher) => {
      const item = watcher.itemOf(key.text)
      if (item === undefined) return
      const { ip, client, via, who, heardMs } = watcher
      clients.push({ ip, client, md5: item.md5, seen: seenBy(key, who), seenAgoMs: agoMs(heardMs), via })
    })
    await slices.walk(ended, (poll) => {
      const item = poll.items.find((one) => one.key.text === key.text)
      if (item === undefined) return
      const { ip, client, atMs, late } = poll
      const isAway = !late.some((one) => one.key.text === key.text)
      const seen = seenBy(key, poll)
      clients.push({ ip, client, md5: item.md5, seen, seenAgoMs: agoMs(atMs), isAway, via: 'poll' })
    })
    return clients
  }

  /** How many {@link clientsOf} each of the items has, in their order, with one walk over the remembered polls. */
  clientCounts(keys: readonly ConfigKey[]): number[] {
    const { polls, recent } = this.#parts
    const remembered = recent.countsOf(new Set(keys.map(({ text }) => text)))
    return keys.map(({ text }) => polls.of(text).size + (remembered.get(text) ?? 0))
  }

  /**
   * The clients that lack a version for so long, each with these items. They ask with the old md5 again, or their
   * connection has not taken the version.
   */
  lateClients(forMs: number): LateClient[] {
    const { recent, listeners, now } = this.#parts
    const toldBeforeMs = now() - forMs
    const polls = [...recent.all()].filter(({ lateSinceMs }) => lateSinceMs <= toldBeforeMs)
    return [
      ...polls.map(({ ip, tag, client, late }) => ({ who: { ip, tag }, client, items: late })),
      ...Array.from(listeners, (one) => {
        return { who: one.who, client: one.client, items: one.lateItems(toldBeforeMs) }
      }),
    ].filter(({ items }) => items.length > 0)
  }

  /** The items that the clients of an address watch, each once; rules of gray versions know them by it. */
  async watchedBy(ip: string): Promise<WatchedItem[]> {
    const { polls, listeners, slices } = this.#parts
    const items = new Map<string, WatchedItem>()
    await slices.walk(itemsOf([...polls.all(), ...listeners], ip), (item) => items.set(item.key.text, item))
    return [...items.values()]
  }
}

function* itemsOf(watchers: readonly Watcher[], ip: string): Generator<WatchedItem> {
  for (const watcher of watchers) if (watcher.who.ip === ip) yield* watcher.items.values()
}
