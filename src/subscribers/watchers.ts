import type { Change } from '../core/decisions/changes.ts'
import type { Viewer } from '../core/config/state/config-view.ts'
import { GRAY } from '../core/config/state/gray-version.ts'
import type { WatchedItem } from '../core/config/state/watched-item.ts'
import { HeldPoll, type Watcher } from './held-polls.ts'

/** The text of the key of the item that a change is about, so that somebody may see another version of it; undefined: of none. */
export function changedItem(change: Change): string | undefined {
  if (change.kind === 'config-published') return change.item.key.text
  if (change.kind === 'config-deleted') return change.key.text
  const isGray =
    (change.kind === 'record-saved' || change.kind === 'record-removed') && change.recordKind === GRAY.name
  return isGray ? change.id : undefined
}

/** Whether a poll was cancelled or has expired, or a listener stopped watching the item, since the walk began. */
export function hasLeft(watcher: Watcher, keyText: string): boolean {
  return watcher instanceof HeldPoll ? watcher.poll === undefined : !watcher.items.has(keyText)
}

/** The address of a watcher. */
export function ipOf(watcher: Watcher): string {
  return watcher instanceof HeldPoll ? watcher.address.ip : watcher.ip
}

/** A watcher, as gray versions tell clients apart. */
export function viewerOf(watcher: Watcher): Viewer {
  return watcher instanceof HeldPoll ? (watcher.poll ?? watcher.address) : watcher.who
}

/** What it watches of an item; undefined: nothing any more. */
export function itemOf(watcher: Watcher, keyText: string): WatchedItem | undefined {
  if (!(watcher instanceof HeldPoll)) return watcher.items.get(keyText)
  return watcher.items.find(({ key }) => key.text === keyText)
}
