import { turnOf } from '../core/access/turn-of.ts'
import { Refusal } from '../core/refusal.ts'
import type { KeyPattern } from '../core/text/key-pattern.ts'
import type { Permission } from './authorisation.ts'
import type { Guard, Resource } from './guard.ts'

/** Room for the names that a client of a pattern has still to receive: they count as watched by it. */
export interface NameRoom {
  /** False: there is no room for this number of names and bytes. Clients with more may have given way. */
  take(names: number, bytes: number): boolean
  /** Gives room back, also after the client has left. */
  free(names: number, bytes: number): void
}

/** Keeps the watchers of patterns. */
export interface PatternKeeper<Key> {
  watch(
    pattern: KeyPattern,
    watcher: { touched(key: Key): void; giveWay?(): void },
    owner: string,
  ): { leave(): void; readonly room: NameRoom } | 'too-many'
}

/** A pattern that a client watches. */
export interface PatternRequest<Key> {
  readonly pattern: KeyPattern
  /** Called when an item that matches, and that the caller may read, has appeared or disappeared. */
  readonly touched: (key: Key) => void
  /** Ends the connection of the client: others need its room. Absent: it never gives way. */
  readonly giveWay?: () => void
}

/** The keys that a pattern matches now, and later changes. */
export interface WatchedKeys<Key> {
  /** The keys that exist now and that the caller may read. */
  readonly keys: readonly Key[]
  readonly room: NameRoom
  /** Whether it is there at this moment. */
  isThere(key: Key): boolean
  /** The client has left, or does not watch the pattern any longer. */
  leave(): void
}

/** The most items or services that one pattern may mean. */
const MOST_MATCHES = 10_000

/** Throws Refusal `too-many-matches` for a pattern that means more than may be watched. */
function refuseManyMatches(count: number): void {
  if (count <= MOST_MATCHES) return
  const allowed = `a pattern that at most ${MOST_MATCHES} names match`
  const message = `groupKeyPattern must be ${allowed}, but ${count} do.`
  throw new Refusal('too-many-matches', message, { parameter: 'groupKeyPattern', allowed })
}

/** A Refusal `too-many-patterns`. */
export function tooManyPatterns(allowed: string): Refusal {
  const message = `The server lets clients watch ${allowed}.`
  return new Refusal('too-many-patterns', message, { parameter: 'groupKeyPattern', allowed })
}

/** The things whose names a pattern matches: configurations or services. */
interface NamedThings<Key> {
  readonly permission: Permission<'read'>
  readonly keeper: PatternKeeper<Key>
  readonly scope: (pattern: KeyPattern) => Resource
  readonly find: (pattern: KeyPattern) => readonly Key[]
  readonly resource: (key: Key) => Resource
  readonly isThere: (key: Key) => boolean
}

/** Makes the operation that watches a pattern: each thing is judged when it is found and whenever it has changed. */
export function watchingPatterns<Key>(guard: Guard, things: NamedThings<Key>) {
  const { permission, keeper, scope, find, resource, isThere } = things
  return guard.listing({
    permission,
    scope: ({ pattern }: PatternRequest<Key>) => scope(pattern),
    find: ({ pattern }) => find(pattern),
    resource,
    run: (keys, { pattern, touched, giveWay }, caller): WatchedKeys<Key> => {
      refuseManyMatches(keys.length)
      const mayRead = guard.whileConnected(caller, 'read')
      const isShown = (key: Key): boolean => mayRead?.(resource(key)) !== false
      const touchedIfShown = (key: Key): void => (isShown(key) ? touched(key) : undefined)
      const watcher = { touched: touchedIfShown, ...(giveWay === undefined ? {} : { giveWay }) }
      const hold = keeper.watch(pattern, watcher, turnOf(caller))
      if (hold === 'too-many') throw tooManyPatterns('fewer patterns on all connections together')
      const { room } = hold
      return { keys, room, isThere: (key) => isThere(key) && isShown(key), leave: () => hold.leave() }
    },
  })
}
