import { GRAY } from '../core/config/state/gray-version.ts'
import type { Change } from '../core/decisions/changes.ts'

/** The key text of the item that a change is about, if its visible version may have changed. */
export function changedItem(change: Change): string | undefined {
  if (change.kind === 'config-published') return change.item.key.text
  if (change.kind === 'config-deleted') return change.key.text
  const isGray =
    (change.kind === 'record-saved' || change.kind === 'record-removed') && change.recordKind === GRAY.name
  return isGray ? change.id : undefined
}
