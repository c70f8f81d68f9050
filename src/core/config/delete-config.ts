import { type Command, synced, unchanged } from '../decision.ts'
import { historyIdOf } from '../stamps.ts'
import { checkCas } from './check-cas.ts'
import type { ConfigKey, Operator } from './config-item.ts'

/** Removes an item, if it is still the one that `casMd5` names. Answers true, also when it was not there. */
export function deleteConfig(key: ConfigKey, operator: Operator, casMd5?: string): Command<true> {
  return {
    subject: key.text,
    decide(view, now) {
      const deleted = view.config(key)
      checkCas(casMd5, deleted)
      if (deleted === undefined) return unchanged(true)
      const atMs = Math.max(now.wallMs, deleted.modifiedMs)
      const historyId = historyIdOf(now.stamp)
      return synced([{ kind: 'config-deleted', key, deleted, operator, atMs, historyId }], true)
    },
  }
}
