import type { Change } from '../../decisions/changes.ts'
import { historyIdOf } from '../../decisions/stamps.ts'
import type { View } from '../../decisions/view.ts'
import { recordRemoved, recordSaved } from '../../records/record-kind.ts'
import type { ConfigKey, ConfigType, Operator } from '../state/config-item.ts'
import { historyNote } from '../state/history-note.ts'
import { ownedOperator } from '../state/owned-operator.ts'
import {
  GRAY,
  GRAY_TEXT,
  grayContent,
  grayHistoryKey,
  type GrayItem,
  type GrayVersion,
} from '../state/gray-version.ts'
import type { HistoryOp } from '../state/history-record.ts'

/** The common fields of all records of one change of gray versions. */
export interface GrayChange {
  readonly operator: Operator
  /** Why; undefined or empty: nobody says. */
  readonly comment: string | undefined
  readonly atMs: number
}

/** A record in the history of an item's gray versions, with its own stamp. `version.textId` names the text. */
export interface GrayRecord {
  readonly op: HistoryOp
  readonly version: GrayVersion
  /** An insert has the new text, an update the one before, an end the last one. */
  readonly content: Buffer
  readonly type: ConfigType
  readonly stamp: number
}

/** The changes that make a history record of a gray version. */
export function grayRecorded(key: ConfigKey, record: GrayRecord, change: GrayChange): Change[] {
  const { op, version, content, type, stamp } = record
  const { operator, comment, atMs } = change
  const { name, rule, md5, encryptedDataKey, textId } = version
  const id = historyIdOf(stamp)
  const { ip: srcIp, user: srcUser } = ownedOperator(operator)
  const about = { key: grayHistoryKey(key), op, content, md5, type, encryptedDataKey, appName: '' }
  const note = historyNote(comment, { gray: { name, rule } })
  return [{ kind: 'history-imported', record: { ...about, id, srcIp, srcUser, atMs, note }, textId }]
}

/** How many stamps a change needs that ends gray versions of an item, besides its own. */
export function stampsToEnd(view: View, key: ConfigKey): number {
  return view.record(GRAY, key.text)?.versions.length ?? 0
}

/**
 * The changes that end gray versions of an item, each with its record: by default all. The first record has the stamp,
 * and each further one the next.
 */
export function grayEnded(
  view: View,
  item: GrayItem,
  { ended = item.versions, stamp, ...change }: GrayChange & { ended?: readonly GrayVersion[]; stamp: number },
): Change[] {
  const { key, versions } = item
  const left = versions.filter((version) => !ended.includes(version))
  const changes: Change[] = ended.flatMap((version, index) => {
    const content = grayContent(view, version)
    const type = version.type ?? view.config(key)?.type ?? 'text'
    const record: GrayRecord = { op: 'D', version, content, type, stamp: stamp + index }
    return [recordRemoved(GRAY_TEXT, version.textId, stamp), ...grayRecorded(key, record, change)]
  })
  const saved: Change =
    left.length === 0
      ? recordRemoved(GRAY, key.text, stamp)
      : recordSaved(GRAY, { id: key.text, value: { key, versions: left }, stamp })
  return [saved, ...changes]
}
