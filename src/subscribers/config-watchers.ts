import { contained } from '../core/unexpected.ts'
import type { Change } from '../core/decisions/changes.ts'
import type { ItemClient, SeenVersion } from '../core/clients/client-views.ts'
import type { ConfigKey } from '../core/config/state/config-item.ts'
import type { WatchedItem } from '../core/config/state/config-view.ts'
import type { Viewer } from '../core/config/state/viewer.ts'
import { LOOK_LIMITS } from '../core/config/state/look-limits.ts'
import { GRAY } from '../core/config/state/gray-version.ts'
import { DueBook } from '../core/work/due-book.ts'
import { SharedSlices } from '../core/work/shared-slices.ts'
import { FAN_OUT, SlicedWork, type Loop } from '../core/work/sliced-work.ts'
import { Comparison } from './comparison.ts'
import { type HeldPoll, HeldPolls, type Poll, type PollHost } from './held-polls.ts'
import { type EndedPoll, RecentPolls } from './recent-polls.ts'
import { type Listener, type ListenerHost, StandingListener } from './standing-listener.ts'
import type { Watcher } from './watcher.ts'

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
  /** Called when a client is known to have versions of items: it polls, or was sent a version. */
  readonly onWatched?: (items: readonly WatchedItem[]) => void
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
  readonly #options: ConfigWatcherOptions
  readonly #polls = new HeldPolls()
  readonly #due = new DueBook<HeldPoll>(POLL_BUCKET_MS)
  readonly #recent = new RecentPolls()
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
  #comparedInTurn = 0
  #stopped = false
  readonly #listeners = new Set<StandingListener>()
  #listened = 0
  readonly #host: PollHost & ListenerHost
  readonly #counts = { begun: 0, refused: 0, changed: 0, timeout: 0, left: 0, stopped: 0, reported: 0 }

  constructor(options: ConfigWatcherOptions) {
    this.#options = options
    this.#work = new SlicedWork(options.loop, () => this.#step(), FAN_OUT)
    this.#slices = new SharedSlices(options.loop)
    this.#host = this.#hostOfWatchers()
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
   */
  take(poll: Poll): Taken {
    const comparison = this.#comparisonOf(poll)
    this.#compareNow(poll.items.length, (most) => comparison.compare(most))
    if (comparison.isDone) {
      const changed = comparison.differing()
      if (changed.length > 0 || poll.waits === false) {
        this.#passed(poll)
        return { kind: 'compared', changed }
      }
    }
    return this.#hold(poll, comparison)
  }

  #hold(poll: Poll, comparison: Comparison): Taken {
    if (this.#stopped) {
      poll.answer(NOTHING)
      return { kind: 'held', handle: { cancel: () => {} } }
    }
    if (this.#isFull(poll)) {
      this.#counts.refused++
      return TOO_MANY
    }
    this.#counts.begun++
    this.#recent.began({ ip: poll.ip, tag: poll.tag, client: poll.client, items: poll.items })
    const held = this.#polls.add(poll, this.#host)
    const waits = poll.waits !== false
    if (waits) this.#due.add(held, poll.dueMs)
    this.#options.onWatched?.(poll.items)
    if (!comparison.isDone) this.#compareLater(held, comparison, !waits)
    return { kind: 'held', handle: held }
  }

  /** Notes a poll that was answered at once. */
  #passed({ ip, tag, client, items }: Poll): void {
    this.#recent.passed({ ip, tag, client, items }, this.#options.loop.now())
    this.#options.onWatched?.(items)
  }

  #comparisonOf(poll: Poll): Comparison {
    return new Comparison(poll.items, poll, this.#options.md5Of)
  }

  /** Compares as much as this turn has room for: `compare` is called with the most items, and returns how many they were. */
  #compareNow(count: number, compare: (most: number) => number): void {
    const most = Math.max(LOOK_LIMITS.looksInTurn - this.#comparedInTurn, LOOK_LIMITS.looksOfFewItems)
    if (this.#comparedInTurn === 0 && count > 0)
      this.#options.loop.soon(() => void (this.#comparedInTurn = 0))
    this.#comparedInTurn += compare(most)
  }

  #compareLater(held: HeldPoll, comparison: Comparison, ends: boolean): void {
    held.comparing = { comparison, ends }
    this.#slices.add({ step: () => this.#compareStep(held), failed: () => held.giveUp() })
  }

  /** Compares some items of a held poll, and answers it if that was all. True: there are more. */
  #compareStep(held: HeldPoll): boolean {
    const { comparing, poll } = held
    if (comparing === undefined || poll === undefined) return false
    const { comparison } = comparing
    comparison.compare(LOOK_LIMITS.looksInStep)
    if (!comparison.isDone) return true
    held.comparing = undefined
    this.#compared(held, comparison, comparing.ends)
    return false
  }

  #compared(held: HeldPoll, comparison: Comparison, ends: boolean): void {
    const changed = comparison.differing()
    if (changed.length > 0 && !ends) this.#counts.changed++
    if (changed.length > 0 || ends) this.#answer(held, changed)
  }

  /** A poll whose changed item does not differ stays held. Otherwise all its items are compared: the answer names all. */
  #woken(held: HeldPoll, keyText: string): void {
    if (held.comparing !== undefined) held.comparing.comparison.again(keyText)
    else if (this.#differs(held, keyText)) this.#compareToAnswer(held, false)
    if (held.poll !== undefined) this.#polls.watch(keyText, held)
  }

  #differs({ items, who }: HeldPoll, keyText: string): boolean {
    const named = items.filter(({ key }) => key.text === keyText)
    const md5 = named[0] && this.#options.md5Of(named[0].key, who)
    return named.some((item) => item.md5 !== md5)
  }

  /** Compares a held poll to answer it; `ends`: its timeout has passed. */
  #compareToAnswer(held: HeldPoll, ends: boolean): void {
    if (held.comparing !== undefined) held.comparing.ends ||= ends
    else if (held.poll !== undefined) {
      const comparison = this.#comparisonOf(held.poll)
      comparison.compare(LOOK_LIMITS.looksInStep)
      if (comparison.isDone) this.#compared(held, comparison, ends)
      else this.#compareLater(held, comparison, ends)
    }
  }

  /** Adds a listener to the held polls. It watches nothing yet, and stays until it leaves, also while the server stops. */
  join(listener: Listener): StandingListener {
    const standing = new StandingListener(listener, this.#host)
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

  /**
   * The watchers of an item: the md5 of each address, from its newest poll. Polls that are about to be compared are
   * left out.
   */
  watchersOf(key: ConfigKey): Map<string, string> {
    const md5ByIp = new Map<string, string>()
    for (const watcher of this.#polls.of(key.text)) {
      const item = watcher.itemOf(key.text)
      if (item !== undefined) md5ByIp.set(watcher.ip, item.md5)
    }
    return md5ByIp
  }

  /** The clients that watch an item or polled for it in the last minute, collected in slices: call it for people. */
  async clientsOf(key: ConfigKey): Promise<ItemClient[]> {
    const clients: ItemClient[] = []
    const nowMs = this.#options.loop.now()
    // Both as they are now: clients that come back during the walk would be met again and again.
    const [watchers, polls] = [[...this.#polls.of(key.text)], this.recentPolls()]
    await this.walk(watchers, (watcher) => {
      const item = watcher.itemOf(key.text)
      if (item === undefined) return
      const { ip, client, via, who } = watcher
      clients.push({ ip, client, md5: item.md5, seen: this.#options.seenBy(key, who), seenAgoMs: 0, via })
    })
    await this.walk(polls, (poll) => {
      const item = poll.items.find((one) => one.key.text === key.text)
      if (item === undefined) return
      const { ip, client, atMs } = poll
      const seen = this.#options.seenBy(key, poll)
      clients.push({ ip, client, md5: item.md5, seen, seenAgoMs: nowMs - atMs, via: 'poll' })
    })
    return clients
  }

  /** How many {@link clientsOf} each of the items has, in their order, with one walk over the remembered polls. */
  clientCounts(keys: readonly ConfigKey[]): number[] {
    const remembered = this.#recent.countsOf(new Set(keys.map(({ text }) => text)))
    return keys.map(({ text }) => this.#polls.of(text).size + (remembered.get(text) ?? 0))
  }

  /** The polls of the last minute whose clients have not polled again, as they are now. */
  recentPolls(): readonly EndedPoll[] {
    return [...this.#recent.all()]
  }

  /** Calls `each`, which has one look, with each of these, in slices beside the comparisons. */
  walk<T>(all: Iterable<T>, each: (one: T) => void): Promise<void> {
    return this.#slices.walk(all, LOOK_LIMITS.looksInStep, each)
  }

  /** The items that an address watches, each once. It walks over all watchers: call it for people, not for programs. */
  watchedBy(ip: string): WatchedItem[] {
    const items = new Map<string, WatchedItem>()
    for (const watcher of [...this.#polls.all(), ...this.#listeners]) {
      if (watcher.ip !== ip) continue
      for (const item of watcher.items.values()) items.set(item.key.text, item)
    }
    return [...items.values()]
  }

  #isFull({ items, ip }: Poll): boolean {
    const {
      maxHeld = MAX_HELD_POLLS,
      maxWatched = LOOK_LIMITS.watchedItems,
      maxHeldOfAddress = 0,
    } = this.#options
    if (maxHeldOfAddress > 0 && this.#polls.countOf(ip) >= maxHeldOfAddress) return true
    return this.#polls.size >= maxHeld || this.#watchedInAll + items.length > maxWatched
  }

  get #watchedInAll(): number {
    return this.#polls.watched + this.#listened
  }

  #hostOfWatchers(): PollHost & ListenerHost {
    return {
      md5Of: this.#options.md5Of,
      walk: (all, each) => this.#walkItems(all, each),
      woken: (held, keyText) => this.#woken(held, keyText),
      answer: (held, changed) => {
        if (changed.length > 0) this.#counts.changed++
        this.#answer(held, changed)
      },
      cancel: (held) => this.#cancel(held),
      watchAgain: (keyText, watcher) => this.#polls.watch(keyText, watcher),
      reported: (item) => {
        this.#counts.reported++
        this.#options.onWatched?.([item])
      },
      watch: ({ text }, listener) => {
        if (this.#watchedInAll >= (this.#options.maxWatched ?? LOOK_LIMITS.watchedItems)) return false
        this.#listened++
        this.#polls.watch(text, listener)
        return true
      },
      unwatch: ({ text }, listener) => {
        this.#listened--
        this.#polls.unwatch(text, listener)
      },
      leave: (listener) => void this.#listeners.delete(listener),
    }
  }

  #walkItems<T>(all: readonly T[], each: (one: T) => void): void | Promise<void> {
    let at = 0
    this.#compareNow(all.length, (most) => {
      while (at < all.length && at < most) each(all[at++]!)
      return at
    })
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
          () => this.#compareToAnswer(expired, true),
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
    if (this.#release(held)) this.#remember(held, poll)
    if (poll !== undefined)
      contained(
        'push',
        () => poll.answer(NOTHING),
        () => poll.answer(changed),
      )
  }

  #cancel(held: HeldPoll): void {
    const { poll } = held
    if (!this.#release(held)) return
    this.#counts.left++
    this.#remember(held, poll)
  }

  #remember({ items, address }: HeldPoll, poll: Poll | undefined): void {
    const { tag, client } = poll ?? {}
    this.#recent.ended({ ip: address.ip, tag, client, items }, this.#options.loop.now())
  }

  /** Removes a poll. Returns false if it was removed before. */
  #release(held: HeldPoll): boolean {
    if (held.poll === undefined) return false
    held.poll = undefined
    this.#polls.delete(held)
    this.#due.remove(held)
    return true
  }
}

/** The key text of the item that a change is about, if its visible version may have changed. */
function changedItem(change: Change): string | undefined {
  if (change.kind === 'config-published') return change.item.key.text
  if (change.kind === 'config-deleted') return change.key.text
  const isGray =
    (change.kind === 'record-saved' || change.kind === 'record-removed') && change.recordKind === GRAY.name
  return isGray ? change.id : undefined
}
