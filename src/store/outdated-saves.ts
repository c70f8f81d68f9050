import type { Change } from '../core/decisions/changes.ts'

/**
 * The changes that save records which later changes of the same commit save or remove once more. A commit is written as a whole
 * or not at all, so the store needs none of these changes. An import saves all gray versions of an item up to ten times in
 * a commit.
 */
export function outdatedSaves(changes: readonly Change[]): ReadonlySet<Change> {
  const outdated = new Set<Change>()
  const later = new Set<string>()
  for (let at = changes.length - 1; at >= 0; at--) {
    const change = changes[at]!
    if (change.kind !== 'record-saved' && change.kind !== 'record-removed') continue
    const name = `${change.recordKind} ${change.id}`
    if (change.kind === 'record-saved' && later.has(name)) outdated.add(change)
    later.add(name)
  }
  return outdated
}
