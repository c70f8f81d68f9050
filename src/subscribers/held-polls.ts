import type { WatchedItem } from '../core/config/watched-item.ts'
import type { StandingListener } from './standing-listener.ts'
import { NOT_DUE, type Due } from '../core/due-book.ts'

/** A poll as its protocol hands it over. */
export interface Poll {
  readonly items: readonly WatchedItem[]
  /** The address of the client. */
  readonly ip: string
  /** When it is answered at the latest, on the clock of `tick`. */
  readonly dueMs: number
  /** Called once with the items that differ, or with none; never after `cancel`. */
  answer(changed: readonly WatchedItem[]): void
}

/** The clients of one address. */
interface Address {
  readonly ip: string
  /** How many of their polls wait. */
  held: number
}

/** A poll that waits, until `poll` is undefined: then it was answered or cancelled. */
export class HeldPoll implements Due {
  poll: Poll | undefined
  readonly items: readonly WatchedItem[]
  readonly address: Address
  dueTick = NOT_DUE
  /** Its neighbours in the order of holding. */
  earlier: HeldPoll | undefined = undefined
  later: HeldPoll | undefined = undefined
  readonly #cancel: (held: HeldPoll) => void

  constructor(poll: Poll, address: Address, cancel: (held: HeldPoll) => void) {
    this.poll = poll
    this.items = poll.items
    this.address = address
    this.#cancel = cancel
  }

  /** The client has left: forget its poll. */
  cancel(): void {
    this.#cancel(this)
  }
}

/** Who watches items: a poll until it is answered, a listener until it leaves. */
export type Watcher = HeldPoll | StandingListener

const NONE: ReadonlySet<Watcher> = new Set()

/**
 * The polls that wait, by what they watch. Most items are watched by one poll only, so a lone poll stands in
 * the map itself and a set is made for the second one. All polls are a chain, which costs no more to leave than
 * to join.
 */
export class HeldPolls {
  readonly #byKey = new Map<string, Watcher | Set<Watcher>>()
  readonly #addresses = new Map<string, Address>()
  #oldest: HeldPoll | undefined
  #newest: HeldPoll | undefined
  #size = 0
  #watched = 0

  /** How many polls wait. */
  get size(): number {
    return this.#size
  }

  /** How many items they watch in all. */
  get watched(): number {
    return this.#watched
  }

  /** How many polls of an address wait. */
  countOf(ip: string): number {
    return this.#addresses.get(ip)?.held ?? 0
  }

  /** Takes a poll in; `cancel` is what its own `cancel` calls. */
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

  /** Takes out a poll that is in. */
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

  /** Who watches an item, oldest first but for those that `watch` has put back. */
  of(keyText: string): ReadonlySet<Watcher> {
    const there = this.#byKey.get(keyText)
    if (there === undefined) return NONE
    return there instanceof Set ? there : new Set([there])
  }

  /**
   * The same, and they no longer count as watching it: of thousands that are answered none is looked up again.
   * Who goes on waiting has to be put back with `watch`.
   */
  take(keyText: string): ReadonlySet<Watcher> {
    const taken = this.of(keyText)
    this.#byKey.delete(keyText)
    return taken
  }

  /** Notes who watches an item. */
  watch(keyText: string, watcher: Watcher): void {
    const there = this.#byKey.get(keyText)
    if (there === undefined) this.#byKey.set(keyText, watcher)
    else if (there instanceof Set) there.add(watcher)
    else if (there !== watcher) this.#byKey.set(keyText, new Set([there, watcher]))
  }

  /** Nothing happens where it does not watch the item. */
  unwatch(keyText: string, watcher: Watcher): void {
    const there = this.#byKey.get(keyText)
    if (there === watcher) this.#byKey.delete(keyText)
    else if (there instanceof Set && there.delete(watcher) && there.size === 0) this.#byKey.delete(keyText)
  }

  /** All polls of this moment, oldest first. */
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
