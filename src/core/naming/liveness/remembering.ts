import type { Change } from '../../decisions/changes.ts'
import { recordRemoved, recordSaved } from '../../records/record-kind.ts'
import { publishersOf } from '../state/claims.ts'
import type { InstanceRecord } from '../state/instance.ts'
import {
  hasOver,
  isAway,
  isBack,
  keysAlone,
  REMEMBERED_METADATA,
  type RememberedMetadata,
  rememberedId,
  settingsInUse,
  withoutUndefined,
} from '../state/remembered-metadata.ts'

/** The change of the remembered facts of a place to these; none where nothing changes. */
export function rememberingChanges(
  before: RememberedMetadata | undefined,
  next: RememberedMetadata,
  stamp: number,
): Change[] {
  const isNothing = Object.keys(next.metadata).length === 0 && !hasOver(next) && !isAway(next)
  const id = rememberedId(next)
  if (isNothing) return before === undefined ? [] : [recordRemoved(REMEMBERED_METADATA, id, stamp)]
  const value = withoutUndefined({ ...next, settings: settingsInUse(next) })
  return [recordSaved(REMEMBERED_METADATA, { id, value, stamp })]
}

/**
 * The remembered facts beside an instance. The registration that silence removed counts while nobody else publishes over HTTP,
 * or while weight or enabled lies over the instance.
 */
export function besides(record: InstanceRecord, over: RememberedMetadata): RememberedMetadata {
  const isNeeded = hasOver(over) || publishersOf(record).every(({ kind }) => kind === 'connection')
  return isNeeded ? over : isBack(over)
}

/** Another registration ends all but the keys of the metadata. */
export function forgetSettings(over: RememberedMetadata | undefined, stamp: number): Change[] {
  if (over === undefined || !(hasOver(over) || isAway(over))) return []
  return rememberingChanges(over, keysAlone(over), stamp)
}
