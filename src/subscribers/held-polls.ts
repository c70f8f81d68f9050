import type { ConfigKey } from '../core/config/config-item.ts'
import { NOT_DUE, type Due } from '../core/due-book.ts'

/** An item that a poll watches. */
export interface WatchedItem {
  readonly key: ConfigKey
  /** `configKeyText(key)`, made once. */
  readonly keyText: string
  /** The md5 that the client has; the empty string when it has none. */
  readonly md5: string
  /** How the client named the item, already encoded for the answer. */
  readonly echo: string
}

/** A poll as its protocol hands it over. */
export interface Poll {
  readonly items: readonly WatchedItem[]
  /** The address of the client. */
  readonly ip: string
  /** When it is answered at the latest, on the clock of `tick`. */
  readonly dueMs: number
  /** Called once with the items that differ, or with none; never after `cancel`. */
  readonly answer: (changed: readonly WatchedItem[]) => void
}

/** A poll that waits. `answer` is undefined once it was answered or cancelled. */
export class HeldPoll implements Due {
  readonly items: readonly WatchedItem[]
  readonly ip: string
  answer: Poll['answer'] | undefined
  dueTick = NOT_DUE

  constructor(poll: Poll) {
    this.items = poll.items
    this.ip = poll.ip
    this.answer = poll.answer
  }
}

/**
 * The polls that wait, by what they watch. Most items are watched by one poll only, so a lone poll stands in
 * the map itself and a set is made for the second one.
 */
export class HeldPolls {
  readonly #all = new Set<HeldPoll>()
  readonly #byKey = new Map<string, HeldPoll | Set<HeldPoll>>()
  readonly #ofAddress = new Map<string, number>()
  #watched = 0

  /** How many polls wait. */
  get size(): number {
    return this.#all.size
  }

  /** How many items they watch in all. */
  get watched(): number {
    return this.#watched
  }

  /** How many polls of an address wait. */
  countOf(ip: string): number {
    return this.#ofAddress.get(ip) ?? 0
  }

  add(poll: HeldPoll): void {
    this.#all.add(poll)
    this.#ofAddress.set(poll.ip, this.countOf(poll.ip) + 1)
    this.#watched += poll.items.length
    for (const { keyText } of poll.items) {
      const there = this.#byKey.get(keyText)
      if (there === undefined) this.#byKey.set(keyText, poll)
      else if (there instanceof Set) there.add(poll)
      else if (there !== poll) this.#byKey.set(keyText, new Set([there, poll]))
    }
  }

  /** Answers whether the poll was there. */
  delete(poll: HeldPoll): boolean {
    if (!this.#all.delete(poll)) return false
    this.#watched -= poll.items.length
    const left = this.countOf(poll.ip) - 1
    if (left > 0) this.#ofAddress.set(poll.ip, left)
    else this.#ofAddress.delete(poll.ip)
    for (const { keyText } of poll.items) {
      const there = this.#byKey.get(keyText)
      if (there === poll) this.#byKey.delete(keyText)
      else if (there instanceof Set && there.delete(poll) && there.size === 0) this.#byKey.delete(keyText)
    }
    return true
  }

  isWatched(keyText: string): boolean {
    return this.#byKey.has(keyText)
  }

  /** The polls that watch an item, oldest first; polls may come and go while it is walked over. */
  of(keyText: string): Iterable<HeldPoll> {
    const there = this.#byKey.get(keyText)
    if (there === undefined) return []
    return there instanceof Set ? there : [there]
  }

  /** All polls, oldest first. */
  all(): Iterable<HeldPoll> {
    return this.#all
  }
}
