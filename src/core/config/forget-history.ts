import type { Change } from '../changes.ts'
import { type Command, synced, unchanged } from '../decision.ts'
import { recordRemoved } from '../records/record-kind.ts'
import { CONFIG_COMMENT } from './config-comment.ts'
import { DELETED_CONFIG } from './deleted-config.ts'

/** What belongs to history records that are gone: deleted items by the ids of their records, and comments by theirs. */
export interface GoneHistory {
  readonly deleted: readonly string[]
  readonly comments: readonly string[]
}

/** Forgets what belongs to history records that are gone. A deleted item that was deleted once more since `beforeMs` stays. */
export function forgetHistory({ deleted, comments }: GoneHistory, beforeMs: number): Command<number> {
  return {
    subject: 'gone history',
    decide(view, { stamp }) {
      const changes: Change[] = []
      for (const id of deleted) {
        const there = view.record(DELETED_CONFIG, id)
        if (there !== undefined && there.atMs < beforeMs)
          changes.push(recordRemoved(DELETED_CONFIG, id, stamp))
      }
      for (const id of comments)
        if (view.record(CONFIG_COMMENT, id) !== undefined)
          changes.push(recordRemoved(CONFIG_COMMENT, id, stamp))
      return changes.length === 0 ? unchanged(0) : synced(changes, changes.length)
    },
  }
}
