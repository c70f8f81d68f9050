import { contained } from '../core/unexpected.ts'
import type { Change } from '../core/decisions/changes.ts'
import type { ItemClient, SeenVersion } from '../core/clients/client-views.ts'
import type { ConfigKey } from '../core/config/state/config-item.ts'
import type { Viewer, WatchedItem } from '../core/config/state/config-view.ts'
import { GRAY } from '../core/config/state/gray-version.ts'
import { DueBook } from '../core/work/due-book.ts'
import { FAN_OUT, SlicedWork, type Loop } from '../core/work/sliced-work.ts'
import { type HeldPoll, HeldPolls, type Poll, type PollHost } from './held-polls.ts'
import { type EndedPoll, RecentPolls } from './recent-polls.ts'
import { type Listener, type ListenerHost, StandingListener } from './standing-listener.ts'
import type { Watcher } from './watcher.ts'

export type { Poll } from './held-polls.ts'

/** A poll is answered at most this long after it is due, if `tick` is called at least as often. */
const POLL_BUCKET_MS = 100

/** How many polls are held at once by default; each costs a connection and about 11 KB. */
const MAX_HELD_POLLS = 50_000

/** How many items all polls and listeners together may watch by default: some 300 bytes each. */
const MAX_WATCHED_ITEMS = 1_000_000

const NOTHING: readonly WatchedItem[] = Object.freeze([])

/** The options of the watchers. */
export interface ConfigWatcherOptions {
  /** The md5 of the version that a client sees, or the empty string if it sees nothing. */
  readonly md5Of: (key: ConfigKey, who: Viewer) => string
  /** The store cannot read the item: nobody can say that it differs. Absent: this happens to no item. */
  readonly isDamaged?: (key: ConfigKey) => boolean
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
  #stopped = false
  readonly #listeners = new Set<StandingListener>()
  #listened = 0
  readonly #host: PollHost & ListenerHost
  readonly #counts = { begun: 0, refused: 0, changed: 0, timeout: 0, left: 0, stopped: 0, reported: 0 }

  constructor(options: ConfigWatcherOptions) {
    this.#options = options
    this.#work = new SlicedWork(options.loop, () => this.#step(), FAN_OUT)
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

  /** The items of which the client sees another version than it has. A poll with such items is answered at once. */
  compare(items: readonly WatchedItem[], who: Viewer): readonly WatchedItem[] {
    let differing: WatchedItem[] | undefined
    for (const item of items) {
      if (this.#options.md5Of(item.key, who) === item.md5) continue
      if (this.#options.isDamaged?.(item.key) === true) continue
      differing ??= []
      differing.push(item)
    }
    return differing ?? NOTHING
  }

  /**
   * Holds a poll that was just compared and does not differ; nothing may be awaited in between. Returns 'too-many' if a
   * limit is reached. After `answerAll` it answers the poll at once, with nothing.
   */
  hold(poll: Poll): PollHandle | 'too-many' {
    if (this.#stopped) {
      poll.answer(NOTHING)
      return { cancel: () => {} }
    }
    if (this.#isFull(poll)) {
      this.#counts.refused++
      return 'too-many'
    }
    this.#counts.begun++
    this.#recent.began({ ip: poll.ip, tag: poll.tag, client: poll.client, items: poll.items })
    const held = this.#polls.add(poll, this.#host)
    this.#due.add(held, poll.dueMs)
    this.#options.onWatched?.(poll.items)
    return held
  }

  /** Notes a poll that was answered at once. */
  answered({ ip, tag, client, items }: Omit<Poll, 'answer' | 'dueMs'>): void {
    this.#recent.passed({ ip, tag, client, items }, this.#options.loop.now())
    this.#options.onWatched?.(items)
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

  /** The clients that watch an item or polled for it in the last minute. A walk: call it for people, not for programs. */
  clientsOf(key: ConfigKey): ItemClient[] {
    const clients: ItemClient[] = []
    for (const watcher of this.#polls.of(key.text)) {
      const item = watcher.itemOf(key.text)
      if (item === undefined) continue
      const { ip, client, via, who } = watcher
      const seen = this.#options.seenBy(key, who)
      clients.push({ ip, client, md5: item.md5, seen, seenAgoMs: 0, via })
    }
    const nowMs = this.#options.loop.now()
    for (const poll of this.#recent.all()) {
      const { ip, client, items, atMs } = poll
      const item = items.find((one) => one.key.text === key.text)
      const seen = this.#options.seenBy(key, poll)
      if (item !== undefined)
        clients.push({ ip, client, md5: item.md5, seen, seenAgoMs: nowMs - atMs, via: 'poll' })
    }
    return clients
  }

  /** How many {@link clientsOf} each of the items has, in their order, with one walk over the remembered polls. */
  clientCounts(keys: readonly ConfigKey[]): number[] {
    const remembered = this.#recent.countsOf(new Set(keys.map(({ text }) => text)))
    return keys.map(({ text }) => this.#polls.of(text).size + (remembered.get(text) ?? 0))
  }

  /** The polls of the last minute whose clients have not polled again. */
  recentPolls(): Iterable<EndedPoll> {
    return this.#recent.all()
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
    const { maxHeld = MAX_HELD_POLLS, maxWatched = MAX_WATCHED_ITEMS, maxHeldOfAddress = 0 } = this.#options
    if (maxHeldOfAddress > 0 && this.#polls.countOf(ip) >= maxHeldOfAddress) return true
    return this.#polls.size >= maxHeld || this.#watchedInAll + items.length > maxWatched
  }

  get #watchedInAll(): number {
    return this.#polls.watched + this.#listened
  }

  #hostOfWatchers(): PollHost & ListenerHost {
    return {
      md5Of: this.#options.md5Of,
      compare: (items, who) => this.compare(items, who),
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
        if (this.#watchedInAll >= (this.#options.maxWatched ?? MAX_WATCHED_ITEMS)) return false
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
          () => this.#answer(expired, this.compare(expired.items, poll)),
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
