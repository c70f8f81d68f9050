import type { WatchedItem } from '../core/config/state/config-view.ts'
import type { Viewer } from '../core/config/state/viewer.ts'
import { UNREADABLE } from '../core/config/state/damaged-item.ts'
import type { Md5Of, Room } from './looks.ts'

const NOTHING: readonly WatchedItem[] = Object.freeze([])

/** Compares the items of a poll with the state, in as many steps as its caller likes. An item named twice is compared once. */
export class PollComparison {
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

  /** Compares further items, as long as there is room. */
  compare(room: Room): void {
    while (this.#at < this.#items.length && room()) {
      const { key } = this.#items[this.#at++]!
      if (!this.#seen.has(key.text)) this.#seen.set(key.text, this.#md5Of(key, this.#who))
    }
  }

  /** Compares an item that has changed, whether it was compared or not. True if it differs. */
  changed(keyText: string): boolean {
    const named = this.#items.filter(({ key }) => key.text === keyText)
    const [first] = named
    if (first === undefined) return false
    const current = this.#md5Of(first.key, this.#who)
    this.#seen.set(keyText, current)
    return current !== UNREADABLE && named.some(({ md5 }) => md5 !== current)
  }

  /** The compared items that differ, in the order of the poll. */
  differing(): readonly WatchedItem[] {
    const differing = this.#items.filter(({ key, md5 }) => {
      const seen = this.#seen.get(key.text)
      return seen !== undefined && seen !== UNREADABLE && seen !== md5
    })
    return differing.length === 0 ? NOTHING : differing
  }
}
