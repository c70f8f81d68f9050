import type { WatchedItem } from '../core/config/state/config-view.ts'
import type { Viewer } from '../core/config/state/viewer.ts'
import type { PollClient } from './recent-polls.ts'

/** A client that watches items: by a poll until it is answered, or by a stream until it leaves. */
export interface Watcher {
  readonly via: 'poll' | 'stream'
  readonly ip: string
  /** The client, as gray versions tell clients apart. */
  readonly who: Viewer
  /** Undefined where its protocol does not say. */
  readonly client: PollClient | undefined
  /** When something last came from its client, on the clock of the watchers: a poll that is held came then. */
  readonly heardMs: number
  /** The watched items, with the md5 that the client said that it has. */
  readonly items: { values(): Iterable<WatchedItem> }
  /** Whether it still watches an item: a walk may meet a poll that was answered, or a listener that has stopped. */
  watches(keyText: string): boolean
  /** The watched item of this key; undefined: it does not watch it. */
  itemOf(keyText: string): WatchedItem | undefined
  /** Compares an item that has changed. A walk has taken the watcher from the item: it watches again unless it ends. */
  wake(keyText: string): void
  /** Ends after a fault: the client asks again. */
  giveUp(): void
}
