import type { Change } from '../../decisions/changes.ts'
import { type Command, commandOn, synced, unchanged } from '../../decisions/decision.ts'
import { recordRemoved } from '../../records/record-kind.ts'
import { CONFIG_COMMENT, DELETED_CONFIG } from '../state/config-comment.ts'

/** A deleted item whose history is gone: the id of its record, and the history record of its deletion. */
export interface GoneItem {
  readonly id: string
  readonly historyId: number
}

/** Data about history records that are gone. */
export interface HistoryLeftovers {
  readonly deleted: readonly GoneItem[]
  readonly comments: readonly string[]
}

/** Removes data about history records that are gone. It stays for an item that was deleted again since. */
export function forgetHistory({ deleted, comments }: HistoryLeftovers): Command<number> {
  return commandOn('gone history', (view, { stamp }) => {
    const changes: Change[] = []
    for (const { id, historyId } of deleted) {
      if (view.record(DELETED_CONFIG, id)?.historyId === historyId)
        changes.push(recordRemoved(DELETED_CONFIG, id, stamp))
    }
    for (const id of comments)
      if (view.record(CONFIG_COMMENT, id) !== undefined)
        changes.push(recordRemoved(CONFIG_COMMENT, id, stamp))
    return changes.length === 0 ? unchanged(0) : synced(changes, changes.length)
  })
}
