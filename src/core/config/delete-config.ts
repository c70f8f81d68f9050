import { type Command, synced, unchanged } from '../decision.ts'
import type { ConfigKey, Operator } from './config-item.ts'

/** Removes an item. Answers true, also when it was not there. */
export function deleteConfig(key: ConfigKey, operator: Operator): Command<true> {
  return {
    subject: key.text,
    decide(view, now) {
      const deleted = view.config(key)
      if (deleted === undefined) return unchanged(true)
      const atMs = Math.max(now.wallMs, deleted.modifiedMs)
      return synced([{ kind: 'config-deleted', key, deleted, operator, atMs, historyId: 0 }], true)
    },
  }
}
