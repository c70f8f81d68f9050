import type { ConfigKey } from '../core/config/config-item.ts'
import type { WatchedItem } from '../core/config/watched-item.ts'
import { configResource, READ_CONFIG } from './configs.ts'
import type { Guard, Resource } from './guard.ts'

/** A poll that may be held: `answer` is called once, with the items that differ or with none. */
export interface ConfigPoll {
  readonly items: readonly WatchedItem[]
  readonly ip: string
  /** When it is answered at the latest, on the clock of the holder. */
  readonly dueMs: number
  answer(changed: readonly WatchedItem[]): void
}

/** A poll that comes in; one that does not wait is compared and never held. */
export interface PollRequest extends ConfigPoll {
  readonly waits: boolean
}

/** Call it when the client of a held poll disconnects. */
export interface PollHold {
  cancel(): void
}

/** Compares polls, and holds those without a difference. */
export interface PollHolder {
  /** The items that differ from what the client has. */
  compare(items: readonly WatchedItem[]): readonly WatchedItem[]
  /** Holds a poll that was just compared. A holder that stops may answer it before it returns. */
  hold(poll: ConfigPoll): PollHold | 'too-many'
  /** Who watches an item: the md5 that each address has. */
  watchersOf(key: ConfigKey): ReadonlyMap<string, string>
  /** What an address watches. */
  watchedBy(ip: string): readonly WatchedItem[]
}

/** What listening works on. */
export interface ListeningParts {
  readonly guard: Guard
  readonly polls: PollHolder
}

/** The outcome of a poll: the items that differ, perhaps none; or it is held; or too many are. */
export type Polled =
  | { readonly kind: 'compared'; readonly changed: readonly WatchedItem[] }
  | { readonly kind: 'held'; readonly handle: PollHold }
  | { readonly kind: 'too-many' }

const TOO_MANY: Polled = { kind: 'too-many' }

/** What an address watches; namespaceId undefined: in every namespace. */
export interface WatchedByRequest {
  readonly ip: string
  readonly namespaceId: string | undefined
}

/** The operations of those who wait for changes of configurations. */
export type ListeningOperations = ReturnType<typeof listeningOperations>

/** Makes the operations of listening. */
export function listeningOperations({ guard, polls }: ListeningParts) {
  return {
    /**
     * Answers at once where something differs, else holds the poll. An item that the caller may not read never
     * differs. Nothing is awaited: a change between the comparison and the holding would be missed.
     */
    poll: guard.listing({
      permission: READ_CONFIG,
      scope: (): Resource => ({ kind: 'some-configs', namespaceId: undefined }),
      find: (poll: PollRequest) => poll.items,
      resource: ({ key }) => configResource(key),
      refusesNothingLeft: true,
      run: (items, poll, caller): Polled => {
        const changed = polls.compare(items)
        if (changed.length > 0 || !poll.waits) return { kind: 'compared', changed }
        const mayRead = guard.later(caller, 'read')
        // The poll itself where everybody may read everything: thousands are held.
        const handle = polls.hold(mayRead === undefined ? poll : judgedAgain(poll, items, mayRead))
        return handle === 'too-many' ? TOO_MANY : { kind: 'held', handle }
      },
    }),
    /** The md5 that each address has of an item that it watches. */
    watchersOf: guard.operation({
      permission: READ_CONFIG,
      resources: (key: ConfigKey) => [configResource(key)],
      run: (key) => polls.watchersOf(key),
    }),
    /** The items that an address watches. */
    watchedBy: guard.listing({
      permission: READ_CONFIG,
      scope: ({ namespaceId }: WatchedByRequest): Resource => ({ kind: 'some-configs', namespaceId }),
      find: ({ ip, namespaceId }) =>
        polls.watchedBy(ip).filter(({ key }) => namespaceId === undefined || key.namespaceId === namespaceId),
      resource: ({ key }) => configResource(key),
      run: (items) => items,
    }),
  }
}

/** What the caller may no longer read when the poll is answered does not differ. Its next poll then says why. */
function judgedAgain(
  poll: PollRequest,
  items: readonly WatchedItem[],
  mayRead: (resource: Resource) => boolean,
): ConfigPoll {
  const { ip, dueMs } = poll
  const answer = (changed: readonly WatchedItem[]): void =>
    poll.answer(changed.filter(({ key }) => mayRead(configResource(key))))
  return { items, ip, dueMs, answer }
}
