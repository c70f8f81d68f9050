import type { WatchedItem } from '../core/config/state/watched-item.ts'
import type { StandingListener } from './standing-listener.ts'
import type { PollClient } from './recent-polls.ts'
import { NOT_DUE, type Due } from '../core/work/due-book.ts'

/** A poll of a client, from its protocol. */
export interface Poll {
  readonly items: readonly WatchedItem[]
  /** The address of the client, and its tag: whoever polls is a viewer by these two. */
  readonly ip: string
  readonly tag?: string | undefined
  /** Undefined where its protocol does not say. */
  readonly client?: PollClient | undefined
  /** The end of its timeout, on the clock of `tick`. */
  readonly dueMs: number
  /** Called once, with the items that differ or with none. Not called after `cancel`. */
  answer(changed: readonly WatchedItem[]): void
}

/** The clients of one address. */
interface Address {
  readonly ip: string
  /** The number of their held polls. */
  held: number
}

/** A held poll. `poll` is undefined after it was answered or cancelled. */
export class HeldPoll implements Due {
  poll: Poll | undefined
  readonly items: readonly WatchedItem[]
  readonly address: Address
  dueTick = NOT_DUE
  /** Its neighbours in the order in which polls were held. */
  earlier: HeldPoll | undefined = undefined
  later: HeldPoll | undefined = undefined
  readonly #cancel: (held: HeldPoll) => void

  constructor(poll: Poll, address: Address, cancel: (held: HeldPoll) => void) {
    this.poll = poll
    this.items = poll.items
    this.address = address
    this.#cancel = cancel
  }

  /** Releases the poll of a client that disconnected. */
  cancel(): void {
    this.#cancel(this)
  }
}

/** A watcher of items: a poll until it is answered, or a listener until it leaves. */
export type Watcher = HeldPoll | StandingListener

const NONE: ReadonlySet<Watcher> = new Set()

/**
 * The held polls, by watched item. Most items have one poll, which is the value of the map; a set is created for the
 * second poll. All polls are also a linked list, where adding and removing cost the same.
 */
export class HeldPolls {
  readonly #byKey = new Map<string, Watcher | Set<Watcher>>()
  readonly #addresses = new Map<string, Address>()
  #oldest: HeldPoll | undefined
  #newest: HeldPoll | undefined
  #size = 0
  #watched = 0

  /** The number of held polls. */
  get size(): number {
    return this.#size
  }

  /** The number of items that they watch. */
  get watched(): number {
    return this.#watched
  }

  /** The number of held polls of an address. */
  countOf(ip: string): number {
    return this.#addresses.get(ip)?.held ?? 0
  }

  /** Adds a poll. `HeldPoll.cancel` calls `cancel`. */
  add(poll: Poll, cancel: (held: HeldPoll) => void): HeldPoll {
    const held = new HeldPoll(poll, this.#addressOf(poll.ip), cancel)
    held.address.held++
    this.#size++
    this.#watched += poll.items.length
    held.earlier = this.#newest
    if (this.#newest === undefined) this.#oldest = held
    else this.#newest.later = held
    this.#newest = held
    for (const { key } of poll.items) this.watch(key.text, held)
    return held
  }

  /** Removes a held poll. */
  delete(held: HeldPoll): void {
    this.#size--
    this.#watched -= held.items.length
    if (--held.address.held === 0) this.#addresses.delete(held.address.ip)
    this.#unchain(held)
    for (const { key } of held.items) this.unwatch(key.text, held)
  }

  isWatched(keyText: string): boolean {
    return this.#byKey.has(keyText)
  }

  /** The watchers of an item, oldest first, except those that `watch` has added again. */
  of(keyText: string): ReadonlySet<Watcher> {
    const there = this.#byKey.get(keyText)
    if (there === undefined) return NONE
    return there instanceof Set ? there : new Set([there])
  }

  /**
   * The same, and removes them from the item, so that thousands of answered polls need no lookup each. Add a poll that
   * stays held again with `watch`.
   */
  take(keyText: string): ReadonlySet<Watcher> {
    const taken = this.of(keyText)
    this.#byKey.delete(keyText)
    return taken
  }

  /** Adds a watcher to an item. */
  watch(keyText: string, watcher: Watcher): void {
    const there = this.#byKey.get(keyText)
    if (there === undefined) this.#byKey.set(keyText, watcher)
    else if (there instanceof Set) there.add(watcher)
    else if (there !== watcher) this.#byKey.set(keyText, new Set([there, watcher]))
  }

  /** Removes a watcher from an item, if it watches the item. */
  unwatch(keyText: string, watcher: Watcher): void {
    const there = this.#byKey.get(keyText)
    if (there === watcher) this.#byKey.delete(keyText)
    else if (there instanceof Set && there.delete(watcher) && there.size === 0) this.#byKey.delete(keyText)
  }

  /** All held polls, oldest first. */
  all(): HeldPoll[] {
    const all: HeldPoll[] = []
    for (let held = this.#oldest; held !== undefined; held = held.later) all.push(held)
    return all
  }

  #addressOf(ip: string): Address {
    const there = this.#addresses.get(ip)
    if (there !== undefined) return there
    const address = { ip, held: 0 }
    this.#addresses.set(ip, address)
    return address
  }

  #unchain(held: HeldPoll): void {
    const { earlier, later } = held
    if (earlier === undefined) this.#oldest = later
    else earlier.later = later
    if (later === undefined) this.#newest = earlier
    else later.earlier = earlier
    held.earlier = undefined
    held.later = undefined
  }
}
