import type { ConfigKey } from '../../core/config/state/config-item.ts'
import type { WatchedItem } from '../../core/config/state/config-view.ts'
import { configResource, READ_CONFIG } from './configs.ts'
import { type ListenerKeeper, streamOperations } from './config-streams.ts'
import { turnOf } from '../../core/access/turn-of.ts'
import type { Collected, ItemClient } from '../../core/clients/client-views.ts'
import type { ClientViews } from '../client-views.ts'
import type { Now } from '../../core/decisions/stamps.ts'
import type { State } from '../../core/engine/state.ts'
import type { Guard, Resource } from '../guard.ts'

/** A poll that may be held: `answer` is called once, with the items that differ, if any. */
export interface ConfigPoll {
  readonly items: readonly WatchedItem[]
  /** The address and the tag of the client: its version of an item depends on them. */
  readonly ip: string
  readonly tag?: string | undefined
  /** Undefined where the protocol does not say. */
  readonly client?: { readonly port: number; readonly agent: string } | undefined
  /** When it is answered at the latest, on the clock of the holder. */
  readonly dueMs: number
  /** False: it is answered as soon as it is compared. */
  readonly waits: boolean
  answer(changed: readonly WatchedItem[]): void
  /** Called instead, if it gives way to the poll of another client. */
  giveWay(): void
}

/** A poll that comes in; one that does not wait is answered as soon as it is compared. */
export type PollRequest = ConfigPoll

/** Call it when the client of a held poll disconnects. */
export interface PollHold {
  cancel(): void
}

/** Compares polls, and holds polls without a difference. */
export interface PollHolder {
  /** Compares a poll, and holds it where nothing differs or not all is compared. A holder that stops may answer it at once. */
  take(poll: ConfigPoll, owner: string): Polled
}

/** The clients that have an item. */
export interface ItemClients {
  /** The md5 of the current content; undefined without an item. */
  readonly md5: string | undefined
  readonly nowMs: number
  readonly clients: readonly ItemClient[]
}

interface ListeningParts {
  readonly guard: Guard
  readonly polls: PollHolder & ListenerKeeper
  /** The most items that a client may watch over one stream. */
  readonly maxListeningItems: number
  readonly state: Pick<State, 'config'>
  readonly clock: () => Now
  readonly views: Pick<ClientViews, 'watchersOf' | 'clientsOf' | 'watchedBy'>
}

/** The outcome of a poll: the items that differ, if any; or it is held; or too many polls are held. */
export type Polled =
  | { readonly kind: 'compared'; readonly changed: readonly WatchedItem[] }
  | { readonly kind: 'held'; readonly handle: PollHold }
  | { readonly kind: 'too-many' }

/** Asks for the items that an address watches; namespaceId undefined: in every namespace. */
export interface WatchedByRequest {
  readonly ip: string
  readonly namespaceId: string | undefined
}

/** Makes the operations of listening. */
export function listeningOperations(parts: ListeningParts) {
  return { ...streamOperations(parts), ...pollOperation(parts), ...watcherOperations(parts) }
}

function pollOperation({ guard, polls }: ListeningParts) {
  return {
    /**
     * Answers at once where something differs, else holds the poll; a poll of many items is held until all are compared.
     * An item that the caller may not read never differs.
     */
    poll: guard.listing({
      permission: READ_CONFIG,
      scope: (): Resource => ({ kind: 'some-configs', namespaceId: undefined }),
      find: (poll: PollRequest) => poll.items,
      resource: ({ key }) => configResource(key),
      refusesNothingLeft: true,
      run: (items, poll, caller): Polled => {
        const mayRead = guard.later(caller, 'read')
        // The poll itself where everybody may read everything: thousands are held.
        return polls.take(mayRead === undefined ? poll : judgedAgain(poll, items, mayRead), turnOf(caller))
      },
    }),
  }
}

function watcherOperations({ guard, views, state, clock }: ListeningParts) {
  return {
    /** The md5 that each address has of an item that it watches. */
    watchersOf: guard.operation({
      permission: READ_CONFIG,
      resources: (key: ConfigKey) => [configResource(key)],
      inPlace: true,
      run: async (key) => await views.watchersOf(key),
    }),
    /** The clients of an item on all servers, each with its md5. */
    clientsOf: guard.operation({
      permission: READ_CONFIG,
      resources: (key: ConfigKey) => [configResource(key)],
      inPlace: true,
      run: async (key): Promise<Collected<ItemClients>> => {
        const { value: clients, missing } = await views.clientsOf(key)
        return { value: { md5: state.config(key)?.md5, nowMs: clock().wallMs, clients }, missing }
      },
    }),
    /** The items that an address watches and the caller may read. */
    watchedBy: guard.operation({
      permission: READ_CONFIG,
      resources: ({ namespaceId }: WatchedByRequest): Resource[] => [{ kind: 'some-configs', namespaceId }],
      inPlace: true,
      run: async ({ ip, namespaceId }, caller): Promise<Collected<readonly WatchedItem[]>> => {
        const { value, missing } = await views.watchedBy(ip)
        const isMeant = ({ key }: WatchedItem): boolean =>
          namespaceId === undefined || key.namespaceId === namespaceId
        const isShown = ({ key }: WatchedItem): boolean => guard.shows(caller, 'read', configResource(key))
        return { value: value.filter((item) => isMeant(item) && isShown(item)), missing }
      },
    }),
  }
}

/** Items that the caller may no longer read do not differ. The next poll is refused with the reason. */
function judgedAgain(
  poll: PollRequest,
  items: readonly WatchedItem[],
  mayRead: (resource: Resource) => boolean,
): ConfigPoll {
  const { ip, tag, client, dueMs, waits } = poll
  const answer = (changed: readonly WatchedItem[]): void =>
    poll.answer(changed.filter(({ key }) => mayRead(configResource(key))))
  return { items, ip, tag, client, dueMs, waits, answer, giveWay: () => poll.giveWay() }
}
