import { UNREADABLE } from '../core/config/state/damaged-item.ts'
import { contained, nothing, unawaited } from '../core/unexpected.ts'
import type { EndOfWatch } from '../core/clients/stream-client.ts'
import type { ConfigKey } from '../core/config/state/config-item.ts'
import type { WatchedItem } from '../core/config/state/config-view.ts'
import type { Viewer } from '../core/config/state/viewer.ts'
import type { ClientTurns, TurnPlace } from '../core/work/client-turns.ts'
import type { PollClient } from './recent-polls.ts'
import type { Watcher } from './watcher.ts'

/** A listener as its protocol hands it over: it stays until it leaves, e.g. as long as a stream is open. */
export interface Listener {
  /** The address of the client. */
  readonly ip: string
  /** The facts that decide which version of an item the client sees; absent: its address. */
  readonly who?: Viewer | undefined
  /** Undefined where its protocol does not say. */
  readonly client?: PollClient | undefined
  /** When something last came from it, on the clock of the watchers; absent: its protocol does not say. */
  readonly heardMs?: number
  /**
   * Called each time that an item differs from the version that the client has or was sent. `item.md5` is the
   * version that it has.
   */
  changed(item: WatchedItem): void
  /** Ends the connection of the client. */
  end(why: EndOfWatch): void
}

/** The functions that a standing listener calls. */
export interface ListenerHost {
  /** The md5 of the version that a client sees; the empty string: it sees nothing. */
  md5Of(key: ConfigKey, who: Viewer): string
  now(): number
  /** Calls `each` with each of these: at once where this turn has room for all, else in slices. */
  walk<T>(all: readonly T[], each: (one: T) => void): void | Promise<void>
  /** Calls `each` with each of these in slices. */
  walkLater<T>(all: readonly T[], each: (one: T) => void): Promise<void>
  /** False where no more items can be watched. */
  watch(key: ConfigKey, listener: StandingListener): boolean
  unwatch(key: ConfigKey, listener: StandingListener): void
  leave(listener: StandingListener): void
  /** Adds a listener to an item from which a walk has taken it. */
  watchAgain(keyText: string, watcher: Watcher): void
  /** A change was reported to a client. */
  reported(item: WatchedItem): void
}

/** The owner of a listener, and the turns of all owners. */
interface ListenerOwner {
  readonly owner: string
  readonly turns: ClientTurns<StandingListener>
}

/** A watched item. `sentMd5` is the last version that the client was sent; undefined: it waits for its first comparison. */
interface ReportedItem extends WatchedItem {
  md5: string
  sentMd5: string | undefined
}

/**
 * A client that watches items until it leaves. It joins the held polls: the same change wakes both. Where a
 * poll ends with its answer, a listener gets a report and continues to watch.
 */
export class StandingListener implements Watcher {
  readonly via = 'stream'
  /** The user, or the network of a client without one. */
  readonly owner: string
  /** Its place among the listeners of its owner. */
  readonly place: TurnPlace<StandingListener>
  readonly #listener: Listener
  readonly #host: ListenerHost
  /** By the text of the key. */
  readonly #items = new Map<string, ReportedItem>()
  /** When the client was first notified of each item that it has not taken since, by the text of its key. Mostly none. */
  #untaken: Map<string, number> | undefined

  constructor(listener: Listener, host: ListenerHost, { owner, turns }: ListenerOwner) {
    this.#listener = listener
    this.#host = host
    this.owner = owner
    this.place = turns.add(owner, this)
  }

  get ip(): string {
    return this.#listener.ip
  }

  get who(): Viewer {
    return this.#listener.who ?? this.#listener
  }

  get client(): PollClient | undefined {
    return this.#listener.client
  }

  get heardMs(): number {
    return this.#listener.heardMs ?? this.#host.now()
  }

  /** The watched items, each with the md5 that the client reported. */
  get items(): ReadonlyMap<string, WatchedItem> {
    return this.#items
  }

  /**
   * Watches items from now on, and then compares them. Returns the items of which the client sees another version than it has. Where
   * no more items can be watched, the first ones are watched, and the result is 'too-many'. No change falls between: before its
   * comparison an item needs no report, and after it each change is reported.
   */
  listen(
    items: readonly WatchedItem[],
  ): readonly WatchedItem[] | Promise<readonly WatchedItem[]> | 'too-many' {
    const refused = items.findIndex((item) => !this.#enter(item))
    const differing: WatchedItem[] = []
    const look = (item: WatchedItem): void => {
      if (this.#look(item)) differing.push(item)
    }
    if (refused >= 0) {
      this.#walkLater(items.slice(0, refused), look)
      return 'too-many'
    }
    const walked = this.#host.walk(items, look)
    return walked instanceof Promise ? walked.then(() => differing) : differing
  }

  /** A walk that nobody waits for. */
  #walkLater<T>(all: readonly T[], each: (one: T) => void): void {
    unawaited('push', () => this.giveUp(), this.#host.walkLater(all, each))
  }

  #enter({ key, md5, echo }: WatchedItem): boolean {
    if (!this.#items.has(key.text) && !this.#host.watch(key, this)) return false
    const known = this.#items.get(key.text)
    this.#items.set(key.text, { key, md5, echo, sentMd5: undefined })
    // A client that asks with the old md5 again is as late as before.
    if (known?.md5 !== md5) this.#untaken?.delete(key.text)
    return true
  }

  /** Compares an item for the first time: its request is answered with the outcome. True if it differs. */
  #look({ key, md5 }: WatchedItem): boolean {
    const item = this.#items.get(key.text)
    // The client has left, or watches the item no longer.
    if (item === undefined) return false
    const current = this.#host.md5Of(key, this.who)
    item.sentMd5 = current
    // One text for all clients that have the current version.
    if (item.md5 === current) item.md5 = current
    const isOther = current !== UNREADABLE && current !== md5
    this.#note(key.text, isOther)
    return isOther
  }

  #note(keyText: string, isUntaken: boolean): void {
    if (!isUntaken) this.#untaken?.delete(keyText)
    else if (this.#untaken?.has(keyText) !== true) {
      this.#untaken ??= new Map()
      this.#untaken.set(keyText, this.#host.now())
    }
  }

  /** The items that the client has not taken though it was notified by this time. */
  lateItems(sentByMs: number): WatchedItem[] {
    const late = [...(this.#untaken ?? [])].filter(([, sentMs]) => sentMs <= sentByMs)
    return late.flatMap(([keyText]) => this.#items.get(keyText) ?? [])
  }

  /** The client was given the version that it sees, by the answer to a query. It still gets the report of it. */
  took({ text }: ConfigKey, md5: string): void {
    const item = this.#items.get(text)
    if (item === undefined) return
    item.md5 = md5
    this.#untaken?.delete(text)
  }

  unwatch(key: ConfigKey): void {
    this.#untaken?.delete(key.text)
    if (this.#items.delete(key.text)) this.#host.unwatch(key, this)
  }

  /** The client has left: nothing more is reported. */
  leave(): void {
    for (const { key } of this.#items.values()) this.#host.unwatch(key, this)
    this.#items.clear()
    this.#untaken = undefined
    this.#host.leave(this)
  }

  watches(keyText: string): boolean {
    return this.#items.has(keyText)
  }

  itemOf(keyText: string): WatchedItem | undefined {
    return this.#items.get(keyText)
  }

  /** Continues to watch, whether the item differs or not. */
  wake(keyText: string): void {
    this.#host.watchAgain(keyText, this)
    const reported = this.#compare(keyText)
    if (reported !== undefined) this.#host.reported(reported)
  }

  /** Ends the connection of its client. */
  giveUp(): void {
    this.#listener.end('failed')
  }

  /** Leaves, and ends the connection of its client: others need its room. */
  giveWay(): void {
    this.leave()
    contained('push', nothing, () => this.#listener.end('gave-way'))
  }

  /** Reports each item of which the client sees another version than it was sent. */
  compareAll(): void {
    this.#walkLater([...this.#items.keys()], (keyText) => void this.#compare(keyText))
  }

  /** Reports an item if it is another version than the client was sent, and returns it then. */
  #compare(keyText: string): WatchedItem | undefined {
    const item = this.#items.get(keyText)
    if (item?.sentMd5 === undefined) return undefined
    const md5 = this.#host.md5Of(item.key, this.who)
    if (md5 === item.sentMd5 || md5 === UNREADABLE) return undefined
    item.sentMd5 = md5
    this.#note(keyText, md5 !== item.md5)
    this.#listener.changed(item)
    return item
  }
}
