import { contained, nothing } from '../core/unexpected.ts'
import type { Change } from '../core/decisions/changes.ts'
import type { SeenVersion } from '../core/clients/client-views.ts'
import type { ConfigKey } from '../core/config/state/config-item.ts'
import type { WatchedItem } from '../core/config/state/config-view.ts'
import type { Viewer } from '../core/config/state/viewer.ts'
import { LOOK_LIMITS } from '../core/config/state/look-limits.ts'
import { ClientMemory, watchedBytes, watchingOf } from '../core/memory/client-memory.ts'
import { ClientTurns } from '../core/work/client-turns.ts'
import { DueBook } from '../core/work/due-book.ts'
import { SharedSlices } from '../core/work/shared-slices.ts'
import { FAN_OUT, SlicedWork, type Loop } from '../core/work/sliced-work.ts'
import { changedItem } from './changed-item.ts'
import type { PollComparison } from './poll-comparison.ts'
import { type HeldPoll, HeldPolls, type Poll, type PollHost, type PollStatus } from './held-polls.ts'
import { Looks } from './looks.ts'
import { PollComparisons } from './poll-comparisons.ts'
import { itemsBytes, RecentPolls } from './recent-polls.ts'
import { type Listener, type ListenerHost, StandingListener } from './standing-listener.ts'
import type { Watcher } from './watcher.ts'
import { WatcherLists } from './watcher-lists.ts'

export type { Poll } from './held-polls.ts'

/** A poll is answered at most this long after it is due, if `tick` is called at least as often. */
const POLL_BUCKET_MS = 100

/** How many polls are held at once by default; each costs a connection and about 11 KB. */
const MAX_HELD_POLLS = 50_000

const NOTHING: readonly WatchedItem[] = Object.freeze([])

/** The options of the watchers. */
export interface ConfigWatcherOptions {
  /** The md5 of the version that a client sees, or the empty string if it sees nothing. */
  readonly md5Of: (key: ConfigKey, who: Viewer) => string
  /** The version that a client sees, for people. */
  readonly seenBy: (key: ConfigKey, who: Viewer) => SeenVersion
  readonly loop: Loop
  readonly maxHeld?: number
  /** The most held polls of one address. 0 or absent: no limit. */
  readonly maxHeldOfAddress?: number
  readonly maxWatched?: number
  /** The memory of all watched items. */
  readonly memory?: ClientMemory
  /** Called when a client is known to have versions of items: it polls, or was sent a version. */
  readonly onWatched?: (items: readonly WatchedItem[]) => void
}

/** A poll that was taken: it is answered, or waits for an answer, or a limit is reached. */
export type Taken =
  | { readonly kind: 'compared'; readonly changed: readonly WatchedItem[] }
  | { readonly kind: 'held'; readonly handle: PollHandle }
  | { readonly kind: 'too-many' }

const TOO_MANY: Taken = { kind: 'too-many' }

/** A held poll, for its protocol: call `cancel` if the client disconnects. */
export interface PollHandle {
  cancel(): void
}

/**
 * All watchers of items: held polls, and standing listeners of streams. A poll is answered when a watched item differs
 * from the client's version, or with an empty answer after its timeout.
 *
 * A change only marks its item. Soon afterwards the polls of marked items are compared with the current state, in
 * slices of a few milliseconds. So a poll that watches several items of a burst is answered once, with all its changed
 * items. An item that was changed back answers no poll. An item that changes during its walk is marked again, so no
 * poll misses the last state.
 *
 * Polls and listeners with many items are compared in slices too. They are entered in the turn of their first slice, and
 * an item that changes meanwhile is compared again.
 */
export class ConfigWatchers {
  /** Lists the watchers, for people. */
  readonly lists: WatcherLists
  readonly #options: ConfigWatcherOptions
  readonly #polls = new HeldPolls()
  readonly #due = new DueBook<HeldPoll>(POLL_BUCKET_MS)
  readonly #memory: ClientMemory
  readonly #recent: RecentPolls
  /** The marked items, in the order of their first change. */
  readonly #changed = new Set<string>()
  /** The walk over the watchers of one item, and the key of that item. */
  #walk: Iterator<Watcher> | undefined
  #walked = ''
  /** Polls whose timeout has passed. Those before `#expiredAt` are answered. */
  #expired: HeldPoll[] = []
  #expiredAt = 0
  readonly #work: SlicedWork
  /** The comparisons that one turn is too short for. */
  readonly #slices: SharedSlices
  readonly #looks: Looks
  readonly #comparisons: PollComparisons
  #stopped = false
  readonly #listeners = new Set<StandingListener>()
  readonly #turns = new ClientTurns<StandingListener>()
  #listened = 0
  readonly #host: PollHost & ListenerHost
  /** The watches that may give way. */
  readonly #watching = [
    watchingOf(
      () => this.#polls.weights(),
      (owner) => this.#polls.oldestOf(owner),
      (held) => this.#giveWay(held),
    ),
    watchingOf(
      () => this.#turns.weights(),
      (owner) => this.#turns.heaviestOf(owner),
      (listener) => listener.giveWay(),
    ),
  ]
  readonly #counts = { begun: 0, refused: 0, changed: 0, timeout: 0, left: 0, stopped: 0, reported: 0 }

  constructor(options: ConfigWatcherOptions) {
    const { md5Of, seenBy, loop } = options
    this.#options = options
    this.#memory = options.memory ?? new ClientMemory()
    this.#recent = new RecentPolls(this.#memory)
    this.#looks = new Looks(md5Of, loop)
    const hasRoom = this.#looks.inTurn(LOOK_LIMITS.changedMs)
    this.#work = new SlicedWork(loop, () => this.#step(), { ...FAN_OUT, hasRoom })
    this.#slices = new SharedSlices(loop)
    this.#comparisons = new PollComparisons({
      looks: this.#looks,
      slices: this.#slices,
      compared: (held, changed, ends) => this.#compared(held, changed, ends),
    })
    const [polls, recent, listeners, slices] = [this.#polls, this.#recent, this.#listeners, this.#slices]
    this.lists = new WatcherLists({ polls, recent, listeners, slices, seenBy, now: loop.now })
    this.#host = this.#hostOfWatchers()
    for (const watching of this.#watching) this.#memory.join(watching)
  }

  /** The number of held polls. */
  get size(): number {
    return this.#polls.size
  }

  /** The counts of held polls and watched items, and of polls by outcome since the start. */
  counts(): PollStatus {
    const { size: held, watched } = this.#polls
    return { held, watched, listeners: this.#listeners.size, listened: this.#listened, ...this.#counts }
  }

  /**
   * Compares a poll. One that differs, or does not wait, is returned with the items that differ. Otherwise it is held, and
   * so is a poll of many items until all are compared. After `answerAll` a poll that would be held is answered with nothing.
   * `owner` is the user, or the network of a client without one: owners have turns where as many polls are held as may be.
   */
  take(poll: Poll, owner = poll.ip): Taken {
    const comparison = this.#comparisons.of(poll)
    comparison.compare(this.#looks.inTurn(LOOK_LIMITS.turnMs))
    if (comparison.isDone) {
      const changed = comparison.differing()
      if (changed.length > 0 || poll.waits === false) {
        this.#passed(poll, changed)
        return { kind: 'compared', changed }
      }
    }
    return this.#hold(poll, owner, comparison)
  }

  #hold(poll: Poll, owner: string, comparison: PollComparison): Taken {
    if (this.#stopped) {
      poll.answer(NOTHING)
      return { kind: 'held', handle: { cancel: () => {} } }
    }
    if (!this.#makePlace(poll, owner)) {
      this.#counts.refused++
      return TOO_MANY
    }
    this.#counts.begun++
    const { ip, tag, client, items } = poll
    const held = this.#polls.add(poll, owner, this.#host)
    held.before = this.#recent.began({ ip, tag, client, items })
    const waits = poll.waits !== false
    if (waits) this.#due.add(held, poll.dueMs)
    this.#options.onWatched?.(poll.items)
    if (!comparison.isDone) this.#comparisons.later(held, comparison, !waits)
    return { kind: 'held', handle: held }
  }

  /** Notes a poll that was answered at once. */
  #passed({ ip, tag, client, items }: Poll, notified: readonly WatchedItem[]): void {
    this.#recent.passed({ ip, tag, client, items }, { atMs: this.#options.loop.now(), notified })
    this.#options.onWatched?.(items)
  }

  #compared(held: HeldPoll, changed: readonly WatchedItem[], ends: boolean): void {
    if (changed.length > 0 && !ends) this.#counts.changed++
    if (changed.length > 0 || ends) this.#answer(held, changed)
  }

  /**
   * Adds a listener to the held polls. It watches nothing yet, and stays until it leaves, also while the server stops. `owner`: as
   * of a poll.
   */
  join(listener: Listener, owner = listener.ip): StandingListener {
    const standing = new StandingListener(listener, this.#host, { owner, turns: this.#turns })
    this.#listeners.add(standing)
    return standing
  }

  /** Call it with every change, after State has applied it. */
  onChange(change: Change): void {
    const keyText = changedItem(change)
    if (keyText === undefined || !this.#polls.isWatched(keyText)) return
    this.#changed.add(keyText)
    this.#work.start()
  }

  /** Answers the polls that are due at `nowMs`. */
  tick(nowMs: number): void {
    this.#recent.tick(nowMs)
    const due = this.#due.due(nowMs)
    if (due.length === 0) return
    this.#expired = this.#expired.slice(this.#expiredAt).concat(due)
    this.#expiredAt = 0
    this.#work.start()
  }

  /** Answers every poll with nothing, and every later one too. Call it when the server stops. */
  answerAll(): void {
    this.#stopped = true
    this.#counts.stopped += this.#polls.size
    for (const poll of this.#polls.all()) this.#answer(poll, NOTHING)
  }

  /** Calls `each`, which has few looks, with each of these, in slices beside the comparisons. */
  walk<T>(all: Iterable<T>, each: (one: T) => void): Promise<void> {
    return this.#slices.walk(all, each)
  }

  /**
   * Takes a place for a poll, and memory for its items. Where there is none, polls of an owner with more polls give way, or watches
   * of an owner who watches more.
   */
  #makePlace({ ip, items }: Poll, owner: string): boolean {
    const { maxHeld = MAX_HELD_POLLS, maxHeldOfAddress = 0 } = this.#options
    if (maxHeldOfAddress > 0 && this.#polls.countOf(ip) >= maxHeldOfAddress) return false
    if (items.length > this.#maxWatched) return false
    while (this.#polls.size >= maxHeld) {
      const other = this.#polls.givesWayTo(owner)
      if (other === undefined) return false
      this.#giveWay(other)
    }
    return this.#takeRoom(owner, items.length, itemsBytes(items))
  }

  /** Takes room for items that an owner is going to watch. */
  #takeRoom(owner: string, items: number, bytes: number): boolean {
    while (this.#watchedInAll + items > this.#maxWatched)
      if (!this.#memory.makeRoom(owner, items, this.#watching)) return false
    return this.#memory.takeFor(owner, items, bytes)
  }

  #giveWay(held: HeldPoll): void {
    const { poll } = held
    this.#leave(held, 'refused')
    contained('push', nothing, () => poll?.giveWay())
  }

  get #maxWatched(): number {
    return this.#options.maxWatched ?? LOOK_LIMITS.watchedItems
  }

  get #watchedInAll(): number {
    return this.#polls.watched + this.#listened
  }

  #hostOfWatchers(): PollHost & ListenerHost {
    return {
      md5Of: this.#looks.md5Of,
      now: () => this.#options.loop.now(),
      walk: (all, each) => this.#walkItems(all, each),
      walkLater: (all, each) => this.walk(all, each),
      woken: (held, keyText) => {
        this.#comparisons.woken(held, keyText)
        if (held.poll !== undefined) this.#polls.watch(keyText, held)
      },
      answer: (held, changed) => {
        if (changed.length > 0) this.#counts.changed++
        this.#answer(held, changed)
      },
      cancel: (held) => this.#leave(held, 'left'),
      watchAgain: (keyText, watcher) => this.#polls.watch(keyText, watcher),
      reported: (item) => {
        this.#counts.reported++
        this.#options.onWatched?.([item])
      },
      watch: ({ text }, listener) => {
        if (!this.#takeRoom(listener.owner, 1, watchedBytes(text))) return false
        this.#listened++
        this.#turns.weigh(listener.place, 1)
        this.#polls.watch(text, listener)
        return true
      },
      unwatch: ({ text }, listener) => {
        this.#listened--
        this.#turns.weigh(listener.place, -1)
        this.#memory.free(watchedBytes(text))
        this.#polls.unwatch(text, listener)
      },
      leave: (listener) => {
        this.#listeners.delete(listener)
        this.#turns.leave(listener.place)
      },
    }
  }

  #walkItems<T>(all: readonly T[], each: (one: T) => void): void | Promise<void> {
    const room = this.#looks.inTurn(LOOK_LIMITS.turnMs)
    let at = 0
    while (at < all.length && room()) each(all[at++]!)
    if (at < all.length) return this.walk(all.slice(at), each)
  }

  /** Compares or answers one poll. Changes are first, because they are promised within milliseconds. */
  #step(): boolean {
    const woken = this.#nextWoken()
    if (woken !== undefined) {
      contained(
        'push',
        () => woken.giveUp(),
        () => woken.wake(this.#walked),
      )
      return true
    }
    const expired = this.#expired[this.#expiredAt++]
    if (expired !== undefined) {
      const { poll } = expired
      if (poll !== undefined) {
        this.#counts.timeout++
        contained(
          'push',
          () => this.#answer(expired, NOTHING),
          () => this.#comparisons.expired(expired),
        )
      }
      return true
    }
    this.#expired = []
    this.#expiredAt = 0
    return false
  }

  #nextWoken(): Watcher | undefined {
    for (;;) {
      const next = this.#walk?.next()
      if (next?.done === false) {
        if (!next.value.watches(this.#walked)) continue
        return next.value
      }
      this.#walk = undefined
      const [keyText] = this.#changed
      if (keyText === undefined) return undefined
      // Unmark the item before the walk, so that a change during the walk marks it again.
      this.#changed.delete(keyText)
      this.#walked = keyText
      this.#walk = this.#polls.take(keyText)[Symbol.iterator]()
    }
  }

  #answer(held: HeldPoll, changed: readonly WatchedItem[]): void {
    const { poll } = held
    if (this.#release(held)) this.#remember(held, poll, changed)
    if (poll !== undefined)
      contained(
        'push',
        () => poll.answer(NOTHING),
        () => poll.answer(changed),
      )
  }

  #leave(held: HeldPoll, how: 'left' | 'refused'): void {
    const { poll } = held
    if (!this.#release(held)) return
    this.#counts[how]++
    this.#remember(held, poll, NOTHING)
  }

  #remember(held: HeldPoll, poll: Poll | undefined, notified: readonly WatchedItem[]): void {
    const { items, address, before } = held
    const plain = { ip: address.ip, tag: poll?.tag, client: poll?.client, items }
    this.#recent.ended(plain, { atMs: this.#options.loop.now(), notified }, before)
  }

  /** Removes a poll. Returns false if it was removed before. */
  #release(held: HeldPoll): boolean {
    if (held.poll === undefined) return false
    held.poll = undefined
    this.#polls.delete(held)
    this.#memory.free(itemsBytes(held.items))
    this.#due.remove(held)
    return true
  }
}
