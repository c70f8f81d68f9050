import type { WatchedItem } from '../core/config/state/config-view.ts'
import type { Viewer } from '../core/config/state/viewer.ts'
import { ClientTurns, type TurnPlace } from '../core/work/client-turns.ts'
import { NOT_DUE, type Due } from '../core/work/due-book.ts'
import type { PollComparison } from './poll-comparison.ts'
import type { Before, PollClient } from './recent-polls.ts'
import type { Watcher } from './watcher.ts'

/** A poll of a client, from its protocol. */
export interface Poll {
  readonly items: readonly WatchedItem[]
  /** The address of the client, and its tag: whoever polls is a viewer by these two. */
  readonly ip: string
  readonly tag?: string | undefined
  /** Undefined where its protocol does not say. */
  readonly client?: PollClient | undefined
  /** False: it is answered as soon as it is compared. */
  readonly waits?: boolean
  /** The end of its timeout, on the clock of `tick`. */
  readonly dueMs: number
  /** Called once, with the items that differ, if any. Not called after `cancel`. */
  answer(changed: readonly WatchedItem[]): void
  /** Called instead, if it gives way to the poll of another client. */
  giveWay(): void
}

/** The held polls, and since the start the counts of polls by outcome. */
export interface PollStatus {
  readonly held: number
  readonly watched: number
  /** Standing listeners, and how many items they watch. */
  readonly listeners: number
  readonly listened: number
  readonly begun: number
  /** Refused, because a limit was reached. */
  readonly refused: number
  /** Answered because an item changed, because the timeout passed, or because the server stopped. */
  readonly changed: number
  readonly timeout: number
  readonly stopped: number
  /** The client disconnected before its answer. */
  readonly left: number
  /** Changes that were reported to standing listeners. */
  readonly reported: number
}

/** The clients of one address. */
interface Address {
  readonly ip: string
  /** The number of their held polls. */
  held: number
}

/** The services of those who hold polls. */
export interface PollHost {
  now(): number
  /** Compares a poll, because one of its items has changed. A walk has taken the poll from the item. */
  woken(held: HeldPoll, keyText: string): void
  /** Answers a poll with the changed items, or with no items after a fault. */
  answer(held: HeldPoll, changed: readonly WatchedItem[]): void
  /** Releases a poll whose client has disconnected. */
  cancel(held: HeldPoll): void
}

/** The comparison of a held poll, where it takes several slices. `ends`: the poll is answered whether it differs or not. */
interface UnfinishedComparison {
  readonly comparison: PollComparison
  ends: boolean
}

interface HeldPollParts {
  readonly address: Address
  /** The user, or the network of a client without one. */
  readonly owner: string
  readonly turns: ClientTurns<HeldPoll>
}

/** A held poll. `poll` is undefined after it was answered or cancelled. */
export class HeldPoll implements Due, Watcher {
  readonly via = 'poll'
  poll: Poll | undefined
  readonly items: readonly WatchedItem[]
  readonly heardMs: number
  readonly address: Address
  /** Its place among the polls of its owner. */
  readonly place: TurnPlace<HeldPoll>
  dueTick = NOT_DUE
  /** Undefined: all its items were compared. */
  comparing: UnfinishedComparison | undefined = undefined
  /** The poll before of its client. */
  before: Before | undefined = undefined
  /** Its neighbours in the order in which polls were held. */
  earlier: HeldPoll | undefined = undefined
  later: HeldPoll | undefined = undefined
  readonly #host: PollHost

  constructor(poll: Poll, { address, owner, turns }: HeldPollParts, host: PollHost) {
    this.poll = poll
    this.place = turns.add(owner, this, poll.items.length)
    this.items = poll.items
    this.heardMs = host.now()
    this.address = address
    this.#host = host
  }

  get ip(): string {
    return this.address.ip
  }

  get who(): Viewer {
    return this.poll ?? this.address
  }

  get client(): PollClient | undefined {
    return this.poll?.client
  }

  watches(): boolean {
    return this.poll !== undefined
  }

  itemOf(keyText: string): WatchedItem | undefined {
    return this.items.find(({ key }) => key.text === keyText)
  }

  wake(keyText: string): void {
    this.#host.woken(this, keyText)
  }

  giveUp(): void {
    this.#host.answer(this, [])
  }

  /** Releases the poll of a client that disconnected. */
  cancel(): void {
    this.#host.cancel(this)
  }
}

const NONE: ReadonlySet<Watcher> = new Set()

/**
 * The held polls, by watched item. Most items have one poll, which is the value of the map; a set is created for the
 * second poll. All polls are also a linked list, where adding and removing cost the same.
 */
export class HeldPolls {
  readonly #byKey = new Map<string, Watcher | Set<Watcher>>()
  readonly #addresses = new Map<string, Address>()
  readonly #turns = new ClientTurns<HeldPoll>()
  #oldest: HeldPoll | undefined
  #newest: HeldPoll | undefined
  #watched = 0

  /** The number of held polls. */
  get size(): number {
    return this.#turns.size
  }

  /** The number of items that they watch. */
  get watched(): number {
    return this.#watched
  }

  /** The number of held polls of an address. */
  countOf(ip: string): number {
    return this.#addresses.get(ip)?.held ?? 0
  }

  /** The poll that gives way to one more poll of an owner. */
  givesWayTo(owner: string): HeldPoll | undefined {
    return this.#turns.givesWayTo(owner, 'oldest')?.thing
  }

  /** The items that the polls of each owner watch. */
  weights(): Iterable<readonly [owner: string, items: number]> {
    return this.#turns.weights()
  }

  /** The oldest poll of an owner. */
  oldestOf(owner: string): HeldPoll | undefined {
    return this.#turns.oldestOf(owner)
  }

  add(poll: Poll, owner: string, host: PollHost): HeldPoll {
    const parts = { address: this.#addressOf(poll.ip), owner, turns: this.#turns }
    const held = new HeldPoll(poll, parts, host)
    held.address.held++
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
    this.#turns.leave(held.place)
    this.#watched -= held.items.length
    if (--held.address.held === 0) this.#addresses.delete(held.address.ip)
    this.#unchain(held)
    for (const { key } of held.items) this.unwatch(key.text, held)
  }

  isWatched(keyText: string): boolean {
    return this.#byKey.has(keyText)
  }

  /** The watchers of an item, oldest first; a watcher that `watch` has added again is last. */
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
