import { type Command, synced, unchanged } from '../../decisions/decision.ts'
import { recordSaved } from '../../records/record-kind.ts'
import { historyIdOf } from '../../decisions/stamps.ts'
import { checkCas } from './check-cas.ts'
import { commentSaved, DELETED_CONFIG, deletedConfigOf, deletedGrayOf } from '../state/config-comment.ts'
import type { ConfigKey, Operator } from '../state/config-item.ts'
import type { View } from '../../decisions/view.ts'
import type { Change } from '../../decisions/changes.ts'
import { GRAY, type GrayItem } from '../state/gray-version.ts'
import { type GrayChange, grayEnded, stampsToEnd } from './gray-records.ts'

/**
 * How to delete. `casMd5`: only if the item is still the one that it names. `comment`: why. `keepsGray`: the formal
 * version alone goes.
 */
export interface DeleteOptions {
  readonly keepsGray?: boolean | undefined
  readonly casMd5?: string | undefined
  readonly comment?: string | undefined
}

/** Removes an item, with its gray versions. Answers true, also if it did not exist. See {@link DeletedConfig}. */
export function deleteConfig(
  key: ConfigKey,
  operator: Operator,
  { casMd5, comment, keepsGray = false }: DeleteOptions = {},
): Command<true> {
  return {
    subject: key.text,
    stamps: (view) => 1 + stampsToEnd(view, key),
    decide(view, { wallMs, stamp }) {
      const deleted = view.config(key)
      checkCas(casMd5, deleted)
      const gray = keepsGray ? undefined : view.record(GRAY, key.text)
      const atMs = gray?.versions.reduce((latest, one) => Math.max(latest, one.modifiedMs), wallMs) ?? wallMs
      const change = { operator, comment, atMs, stamp: stamp + 1 }
      if (deleted === undefined)
        return gray === undefined ? unchanged(true) : synced(grayOnlyDeleted(view, gray, change), true)
      const ended = gray === undefined ? [] : grayEnded(view, gray, change)
      const deletion = { operator, atMs: Math.max(wallMs, deleted.modifiedMs), historyId: historyIdOf(stamp) }
      const value = deletedConfigOf(deleted, deletion)
      return synced(
        [
          { kind: 'config-deleted', key, deleted, ...deletion },
          recordSaved(DELETED_CONFIG, { id: deleted.key.text, value, stamp }),
          ...commentSaved(comment, { historyId: deletion.historyId, stamp }),
          ...ended,
        ],
        true,
      )
    },
  }
}

/** The end of an item that has gray versions only: the bin has it as such. The first version ends with the stamp. */
function grayOnlyDeleted(view: View, gray: GrayItem, change: GrayChange & { stamp: number }): Change[] {
  const { stamp } = change
  const historyIds = gray.versions.map((_version, index) => historyIdOf(stamp + index))
  const value = deletedGrayOf(gray, { ...change, historyIds })
  return [...grayEnded(view, gray, change), recordSaved(DELETED_CONFIG, { id: gray.key.text, value, stamp })]
}
