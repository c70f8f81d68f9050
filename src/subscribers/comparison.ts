import type { ConfigKey } from '../core/config/state/config-item.ts'
import type { WatchedItem } from '../core/config/state/config-view.ts'
import type { Viewer } from '../core/config/state/viewer.ts'

/** The md5 of the version that a client sees, or the empty string if it sees nothing. */
export type Md5Of = (key: ConfigKey, who: Viewer) => string

const NOTHING: readonly WatchedItem[] = Object.freeze([])

/** Compares the items of a poll with the state, in as many steps as its caller likes. An item named twice is compared once. */
export class Comparison {
  readonly #items: readonly WatchedItem[]
  readonly #who: Viewer
  readonly #md5Of: Md5Of
  /** The current md5 of each compared item, by the text of its key. */
  readonly #seen = new Map<string, string>()
  #at = 0

  constructor(items: readonly WatchedItem[], who: Viewer, md5Of: Md5Of) {
    this.#items = items
    this.#who = who
    this.#md5Of = md5Of
  }

  /** Whether all items are compared. */
  get isDone(): boolean {
    return this.#at >= this.#items.length
  }

  /** Compares further items, at most this many. Returns how many. */
  compare(most: number): number {
    const end = Math.min(this.#at + most, this.#items.length)
    const count = end - this.#at
    while (this.#at < end) {
      const { key } = this.#items[this.#at++]!
      if (!this.#seen.has(key.text)) this.#seen.set(key.text, this.#md5Of(key, this.#who))
    }
    return count
  }

  /** Compares an item again if it was compared: it has changed. */
  again(keyText: string): void {
    if (!this.#seen.has(keyText)) return
    const item = this.#items.find(({ key }) => key.text === keyText)
    if (item !== undefined) this.#seen.set(keyText, this.#md5Of(item.key, this.#who))
  }

  /** The compared items that differ, in the order of the poll. */
  differing(): readonly WatchedItem[] {
    const differing = this.#items.filter(({ key, md5 }) => {
      const seen = this.#seen.get(key.text)
      return seen !== undefined && seen !== md5
    })
    return differing.length === 0 ? NOTHING : differing
  }
}
