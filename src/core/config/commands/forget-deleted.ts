import type { Change } from '../../decisions/changes.ts'
import { type Command, commandOn, synced, unchanged } from '../../decisions/decision.ts'
import { recordRemoved } from '../../records/record-kind.ts'
import { DELETED_CONFIG } from '../state/deleted-config.ts'

/** A deleted item whose history is gone: the id of its record, and the history record of its deletion. */
export interface GoneItem {
  readonly id: string
  readonly historyId: number
}

/** Removes the records of deleted items whose history is gone. One stays for an item that was deleted again since. */
export function forgetDeleted(deleted: readonly GoneItem[]): Command<number> {
  return commandOn('gone history', (view, { stamp }) => {
    const changes: Change[] = []
    for (const { id, historyId } of deleted) {
      if (view.record(DELETED_CONFIG, id)?.historyId === historyId)
        changes.push(recordRemoved(DELETED_CONFIG, id, stamp))
    }
    return changes.length === 0 ? unchanged(0) : synced(changes, changes.length)
  })
}
