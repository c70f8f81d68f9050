import type { Change } from './changes.ts'

/**
 * Ids of items and of history records come from the store's revision: a revision gives two ids, an even
 * one for the item that it may make and an odd one for its history record. So both kinds come from one
 * sequence, never collide, rise with the order of commits, and no counter of their own is ever written.
 */
export function itemIdOf(revision: number): number {
  return revision * 2
}

/** The id of the history record that revision `revision` made. */
export function historyIdOf(revision: number): number {
  return revision * 2 + 1
}

/** Whether an id belongs to an item (else to a history record). */
export function isItemId(id: number): boolean {
  return id % 2 === 0
}

/** Gives the changes of a commit their ids, in order, the first one being revision `firstRevision`. */
export function stampRevisions(changes: readonly Change[], firstRevision: number): void {
  let revision = firstRevision
  for (const change of changes) {
    if (change.kind === 'config-published') {
      if (change.item.origin.id === 0) change.item.origin.id = itemIdOf(revision)
      change.item.historyId = historyIdOf(revision)
    } else if (change.kind === 'config-deleted') {
      change.historyId = historyIdOf(revision)
    }
    revision++
  }
}
