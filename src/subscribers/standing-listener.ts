import type { ConfigKey } from '../core/config/config-item.ts'
import type { WatchedItem } from '../core/config/watched-item.ts'

/** A listener as its protocol hands it over: it stays until it leaves, e.g. as long as a stream is open. */
export interface Listener {
  /** The address of the client. */
  readonly ip: string
  /** Called each time that an item differs from what the client has; from then on the client has `item.md5`. */
  changed(item: WatchedItem): void
}

/** What a standing listener does through those who hold it. */
export interface ListenerHost {
  /** The md5 of the current version of an item, the empty string where there is none. */
  md5Of(key: ConfigKey): string
  /** False where no more items can be watched. */
  watch(key: ConfigKey, listener: StandingListener): boolean
  unwatch(key: ConfigKey, listener: StandingListener): void
  leave(listener: StandingListener): void
}

/**
 * A client that watches items until it leaves. It joins the held polls: the same change wakes both. Where a poll ends
 * with its answer, a listener gets a report and goes on watching.
 */
export class StandingListener {
  readonly #listener: Listener
  readonly #host: ListenerHost
  /** What the client has, by the text of the key. */
  readonly #items = new Map<string, WatchedItem>()

  constructor(listener: Listener, host: ListenerHost) {
    this.#listener = listener
    this.#host = host
  }

  get ip(): string {
    return this.#listener.ip
  }

  /** What it watches, with the md5 that the client has of each. */
  get items(): ReadonlyMap<string, WatchedItem> {
    return this.#items
  }

  /** Watches an item, and reports it at once if it differs. False if no more items can be watched. */
  watch(item: WatchedItem): boolean {
    if (!this.#items.has(item.key.text) && !this.#host.watch(item.key, this)) return false
    this.#items.set(item.key.text, item)
    this.compare(item.key.text)
    return true
  }

  unwatch(key: ConfigKey): void {
    if (this.#items.delete(key.text)) this.#host.unwatch(key, this)
  }

  /** The client has left: nothing more is reported. */
  leave(): void {
    for (const { key } of this.#items.values()) this.#host.unwatch(key, this)
    this.#items.clear()
    this.#host.leave(this)
  }

  /** Reports an item if it differs from what the client has; returns whether it does. */
  compare(keyText: string): boolean {
    const item = this.#items.get(keyText)
    if (item === undefined) return false
    const md5 = this.#host.md5Of(item.key)
    if (md5 === item.md5) return false
    const current = { ...item, md5 }
    this.#items.set(keyText, current)
    this.#listener.changed(current)
    return true
  }
}
