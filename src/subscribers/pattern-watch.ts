import { contained, nothing } from '../core/unexpected.ts'
import type { Change } from '../core/decisions/changes.ts'
import { type ClientMemory, watchedBytes, watchingOf } from '../core/memory/client-memory.ts'
import type { KeyPattern } from '../core/text/key-pattern.ts'
import { ClientTurns, type TurnPlace } from '../core/work/client-turns.ts'
import { type Loop, SlicedWork } from '../core/work/sliced-work.ts'

/** Learns of things that appear and disappear. */
export interface PatternWatcher<Key> {
  /** A thing that matches has appeared or disappeared, perhaps both: look at the state. */
  touched(key: Key): void
  /** Ends the connection of the client: others need its room. Absent: it never gives way. */
  giveWay?(): void
}

/** A watcher that has joined. */
export interface PatternHold {
  /** Call it when the watcher has left. */
  leave(): void
  /** For the names that the watcher keeps beside its pattern, until they are sent. */
  readonly room: PatternRoom
}

/** The memory of names that a watcher keeps. It is given back name by name, also after the watcher has left. */
export interface PatternRoom {
  /** False: there is no room for this number of names and bytes. Owners who watch more may have given way. */
  take(names: number, bytes: number): boolean
  free(names: number, bytes: number): void
}

/** A thing by the names that patterns mean. */
export interface NamedThing<Key> {
  readonly key: Key
  readonly namespaceId: string
  readonly group: string
  readonly name: string
}

/** The options of a watch. */
export interface PatternWatchOptions<Key> {
  readonly loop: Loop
  /** The thing that appears or disappears with a change; undefined for other changes. */
  readonly touchedBy: (change: Change) => NamedThing<Key> | undefined
  /** The most watchers. */
  readonly most: number
  readonly memory: ClientMemory
}

/** The objects of a pattern beyond those of any watched thing: its comparison, and what its protocol keeps for its messages. */
const PATTERN_BYTES = 2_850
/** A number in a table of a pattern: tables grow by half. */
const NUMBER_BYTES = 10

/** The memory of a watcher of a pattern, without the names that it keeps. */
export function patternBytes({ text, tableSize }: Pick<KeyPattern, 'text' | 'tableSize'>): number {
  return PATTERN_BYTES + watchedBytes(text) + NUMBER_BYTES * tableSize
}

/** A pattern and those who watch it. */
interface WatchedPattern<Key> {
  readonly pattern: KeyPattern
  readonly watchers: Set<PatternWatcher<Key>>
}

/**
 * Watchers of things by patterns of their names. Equal patterns are compared once with a change, however many clients
 * watch them. Like the held polls, it works in slices after the change.
 */
export class PatternWatch<Key> {
  readonly #options: PatternWatchOptions<Key>
  /** By namespace, then by the text of the pattern. */
  readonly #byNamespace = new Map<string, Map<string, WatchedPattern<Key>>>()
  #touched: NamedThing<Key>[] = []
  #walk: Iterator<void> | undefined
  readonly #work: SlicedWork
  /** How each watch that may give way does it. */
  readonly #turns = new ClientTurns<() => void>()
  readonly #watching = watchingOf(
    () => this.#turns.weights(),
    (owner) => this.#turns.oldestOf(owner),
    (giveWay) => giveWay(),
  )
  #size = 0

  constructor(options: PatternWatchOptions<Key>) {
    this.#options = options
    this.#work = new SlicedWork(options.loop, () => this.#step())
    options.memory.join(this.#watching)
  }

  /** How many watchers there are. */
  get size(): number {
    return this.#size
  }

  /**
   * Reports all later changes to a watcher. `owner` is the user, or the network of a client without one: where there is no room, the
   * owner who watches the most gives way.
   */
  watch(pattern: KeyPattern, watcher: PatternWatcher<Key>, owner = ''): PatternHold | 'too-many' {
    const { most, memory } = this.#options
    while (this.#size >= most) if (!memory.makeRoom(owner, 1, [this.#watching])) return 'too-many'
    if (!memory.takeFor(owner, 1, patternBytes(pattern))) return 'too-many'
    this.#size++
    this.#watchersOf(pattern).add(watcher)
    if (watcher.giveWay === undefined)
      return { leave: () => this.#leave(pattern, watcher), room: this.#roomOf(owner) }
    const place = this.#turns.add(owner, giveWay, 1)
    const leave = (): void => {
      this.#turns.leave(place)
      this.#leave(pattern, watcher)
    }
    return { leave, room: this.#roomOf(owner, place) }

    function giveWay(): void {
      leave()
      contained('push', nothing, () => watcher.giveWay?.())
    }
  }

  /** Call it with every change, after State has applied it. */
  onChange(change: Change): void {
    if (this.#size === 0) return
    const thing = this.#options.touchedBy(change)
    if (thing === undefined || !this.#byNamespace.has(thing.namespaceId)) return
    this.#touched.push(thing)
    this.#work.start()
  }

  /** Each name weighs as much as a pattern: an owner with many names gives way first. */
  #roomOf(owner: string, place?: TurnPlace<() => void>): PatternRoom {
    const { memory } = this.#options
    const weigh = (names: number): void => {
      if (place !== undefined) this.#turns.weigh(place, names)
    }
    return {
      take: (names, bytes) => {
        const isTaken = memory.takeFor(owner, names, bytes)
        if (isTaken) weigh(names)
        return isTaken
      },
      free: (names, bytes) => {
        memory.free(bytes)
        weigh(-names)
      },
    }
  }

  #watchersOf(pattern: KeyPattern): Set<PatternWatcher<Key>> {
    const { namespaceId, text } = pattern
    const patterns = this.#byNamespace.get(namespaceId) ?? new Map<string, WatchedPattern<Key>>()
    this.#byNamespace.set(namespaceId, patterns)
    const watched = patterns.get(text) ?? { pattern, watchers: new Set() }
    patterns.set(text, watched)
    return watched.watchers
  }

  #leave(pattern: KeyPattern, watcher: PatternWatcher<Key>): void {
    const { namespaceId, text } = pattern
    const patterns = this.#byNamespace.get(namespaceId)
    const watchers = patterns?.get(text)?.watchers
    if (patterns === undefined || watchers?.delete(watcher) !== true) return
    this.#size--
    this.#options.memory.free(patternBytes(pattern))
    if (watchers.size === 0) patterns.delete(text)
    if (patterns.size === 0) this.#byNamespace.delete(namespaceId)
  }

  /** Compares one pattern, or calls one watcher. */
  #step(): boolean {
    if (this.#walk?.next().done === false) return true
    const touched = this.#touched
    this.#touched = []
    this.#walk = touched.length === 0 ? undefined : this.#walkOver(touched)
    return this.#walk !== undefined
  }

  *#walkOver(touched: readonly NamedThing<Key>[]): Generator<void> {
    for (const { key, namespaceId, group, name } of touched)
      for (const { pattern, watchers } of this.#byNamespace.get(namespaceId)?.values() ?? []) {
        if (pattern.matches(group, name))
          for (const watcher of watchers) {
            contained('push', nothing, () => watcher.touched(key))
            yield
          }
        yield
      }
  }
}
