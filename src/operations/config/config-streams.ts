import { turnOf } from '../../core/access/turn-of.ts'
import type { EndOfWatch } from '../../core/clients/stream-client.ts'
import type { ConfigKey } from '../../core/config/state/config-item.ts'
import type { WatchedItem } from '../../core/config/state/config-view.ts'
import type { Viewer } from '../../core/config/state/viewer.ts'
import { Refusal } from '../../core/refusal.ts'
import type { State } from '../../core/engine/state.ts'
import { configResource, READ_CONFIG } from './configs.ts'
import type { Guard, Resource } from '../guard.ts'

/** A client that receives changes over a stream, until it leaves. */
export interface ConfigStreamListener {
  readonly ip: string
  /** The facts that decide which version of an item the client sees. */
  readonly who: Viewer
  /** How its library names itself, and the port of the connection. */
  readonly client: { readonly port: number; readonly agent: string }
  /** When something last came from it, on the clock of the keeper. */
  readonly heardMs: number
  /** Called each time that an item differs from the version that the client has or was sent. */
  changed(item: WatchedItem): void
  /** Ends the connection of the client. */
  end(why: EndOfWatch): void
}

/** The watch of a listener, as it is kept with the held polls. */
export interface KeptWatch {
  readonly items: ReadonlyMap<string, WatchedItem>
  /** Watches items and then compares them: the items that differ, or 'too-many' if no more items can be watched. */
  listen(items: readonly WatchedItem[]): Differing | 'too-many'
  /** The client was given the version that it sees, by another answer. */
  took(key: ConfigKey, md5: string): void
  unwatch(key: ConfigKey): void
  /** Compares all that is watched: the client sees items in another way than before. */
  compareAll(): void
  leave(): void
}

/** The items of which a client sees another version than it has; later, where there are many to compare. */
type Differing = readonly WatchedItem[] | Promise<readonly WatchedItem[]>

/** Keeps listeners, and compares their items with the state. */
export interface ListenerKeeper {
  join(listener: ConfigStreamListener, owner: string): KeptWatch
}

/** Dependencies of streams. */
export interface ConfigStreamParts {
  readonly guard: Guard
  readonly polls: ListenerKeeper
  readonly state: Pick<State, 'config'>
  /** The most items that one listener may watch. */
  readonly maxListeningItems: number
}

/** The watch of a client over its stream: from `joinStream`, for the requests that follow. */
export type StreamWatch = ConfigWatch

/** Items that a client watches from now on. */
export interface WatchRequest {
  readonly watch: StreamWatch
  readonly items: readonly WatchedItem[]
  /** The client, as this request says; undefined: as before. */
  readonly who?: Viewer | undefined
}

/** Items that a client does not watch any longer. */
export interface UnwatchRequest {
  readonly watch: StreamWatch
  readonly keys: readonly ConfigKey[]
}

/** For operations that show and change nothing. */
const PUBLIC = { action: 'read', resource: 'public' } as const

/** Makes the operations of clients that receive changes over a stream. */
export function streamOperations({ guard, polls, state, maxListeningItems }: ConfigStreamParts) {
  return {
    /** Lets a client watch items. It watches nothing yet; call `leave` of the result when it has gone. */
    joinStream: guard.operation({
      permission: PUBLIC,
      resources: (_listener: ConfigStreamListener) => [],
      run: (listener, caller) => new ConfigWatch(listener, polls, turnOf(caller)),
    }),
    /** Watches the items that the caller may read; answers the items that differ from the client's. Refusal `too-many`. */
    watch: guard.listing({
      permission: READ_CONFIG,
      scope: (): Resource => ({ kind: 'some-configs', namespaceId: undefined }),
      find: ({ items }: WatchRequest) => items,
      resource: ({ key }) => configResource(key),
      refusesNothingLeft: true,
      run: (items, { watch, who }, caller): Differing => {
        if (watch.sizeWith(items) > maxListeningItems)
          throw tooMany(`at most ${maxListeningItems} items on a connection`)
        const isOther = watch.takeViewer(who)
        const changed = watch.listen(
          items.map((item) => withSharedKey(item, state)),
          guard.whileConnected(caller, 'read'),
        )
        if (isOther) watch.compareAll()
        return changed
      },
    }),
    unwatch: guard.operation({
      permission: PUBLIC,
      resources: (_request: UnwatchRequest) => [],
      run: ({ watch, keys }) => {
        for (const key of keys) watch.remove(key)
      },
    }),
  }
}

/** The watch of a client over its stream. Each report is judged again: its permissions may have changed. */
class ConfigWatch implements ConfigStreamListener {
  readonly #listener: ConfigStreamListener
  readonly #kept: KeptWatch
  #who: Viewer
  /** The judge of the newest request; undefined while everybody may read everything. */
  #mayRead: ((resource: Resource) => boolean) | undefined
  #hasLeft = false

  constructor(listener: ConfigStreamListener, keeper: ListenerKeeper, owner: string) {
    this.#listener = listener
    this.#who = listener.who
    // It is the listener itself: there are very many, and an object of callbacks takes half a kilobyte.
    this.#kept = keeper.join(this, owner)
  }

  get ip(): string {
    return this.#listener.ip
  }

  get who(): Viewer {
    return this.#who
  }

  get client(): ConfigStreamListener['client'] {
    return this.#listener.client
  }

  get heardMs(): number {
    return this.#listener.heardMs
  }

  changed(item: WatchedItem): void {
    if (this.#mayRead?.(configResource(item.key)) !== false) this.#listener.changed(item)
  }

  end(why: EndOfWatch): void {
    this.#listener.end(why)
  }

  /** Takes the viewer of a request; true if it is new. Within a connection only the tag can differ. */
  takeViewer(who: Viewer | undefined): boolean {
    if (who === undefined || who.tag === this.#who.tag) return false
    this.#who = who
    return true
  }

  /** Reports the items of which the client now sees another version than it was sent. */
  compareAll(): void {
    this.#kept.compareAll()
  }

  /** How many items it would watch together with these. */
  sizeWith(items: readonly WatchedItem[]): number {
    const watched = this.#kept.items
    const added = new Set(items.map(({ key }) => key.text).filter((text) => !watched.has(text)))
    return watched.size + added.size
  }

  /** Watches items and compares them. Throws Refusal `too-many` where the server watches too many in all. */
  listen(items: readonly WatchedItem[], mayRead: ((resource: Resource) => boolean) | undefined): Differing {
    // A request may still be read while its connection ends.
    if (this.#hasLeft) return []
    this.#mayRead = mayRead
    const differing = this.#kept.listen(items)
    if (differing === 'too-many') throw tooMany('fewer items on all connections together')
    return differing
  }

  remove(key: ConfigKey): void {
    this.#kept.unwatch(key)
  }

  /** The client was given the version that it sees, by another answer over its connection. */
  took(key: ConfigKey, md5: string): void {
    this.#kept.took(key, md5)
  }

  /** The client has gone: nothing more is reported. */
  leave(): void {
    this.#hasLeft = true
    this.#kept.leave()
  }
}

/** An item that exists is named by its own key, so that thousands of listeners share one. */
function withSharedKey(item: WatchedItem, state: Pick<State, 'config'>): WatchedItem {
  const key = state.config(item.key)?.key
  return key === undefined ? item : { ...item, key }
}

function tooMany(allowed: string): Refusal {
  return new Refusal('too-many', `A client may listen to ${allowed}.`, { parameter: 'items', allowed })
}
