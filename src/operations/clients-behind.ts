import type { ConfigItem, ConfigKey } from '../core/config/config-item.ts'
import type { WatchedItem } from '../core/config/watched-item.ts'

/** A poll of a client that has ended lately: what it had then is what it has, until it polls again. */
export interface EndedPoll {
  readonly ip: string
  /** Undefined where nobody knows. */
  readonly client: { readonly port: number; readonly agent: string } | undefined
  readonly items: readonly WatchedItem[]
}

/** An item that some of its clients have not got. */
export interface BehindItem {
  readonly key: ConfigKey
  readonly clientCount: number
  /** The first of them. */
  readonly clients: readonly Pick<EndedPoll, 'ip' | 'client'>[]
}

/** Every client gets a new version within milliseconds; one that has not after this long will not. */
const BEHIND_AFTER_MS = 10_000
const MOST_ITEMS = 50
const MOST_CLIENTS = 5

type Gathered = BehindItem & { clientCount: number; clients: Pick<EndedPoll, 'ip' | 'client'>[] }

/** Gathers the clients that have an old version of an item, from the polls of the last minute. */
export class ClientsBehind {
  readonly #current: (key: ConfigKey) => ConfigItem | undefined
  readonly #nowMs: number
  readonly #byItem = new Map<string, Gathered>()

  /** `current` gives the items that may be shown. */
  constructor(current: (key: ConfigKey) => ConfigItem | undefined, nowMs: number) {
    this.#current = current
    this.#nowMs = nowMs
  }

  get items(): readonly BehindItem[] {
    return [...this.#byItem.values()]
  }

  add({ ip, client, items }: EndedPoll): void {
    for (const { key, md5 } of items) {
      const item = this.#current(key)
      if (item === undefined || item.md5 === md5 || this.#nowMs - item.modifiedMs < BEHIND_AFTER_MS) continue
      const known = this.#byItem.get(key.text) ?? { key, clientCount: 0, clients: [] }
      known.clientCount++
      if (known.clients.length < MOST_CLIENTS) known.clients.push({ ip, client })
      if (this.#byItem.size < MOST_ITEMS) this.#byItem.set(key.text, known)
    }
  }
}
