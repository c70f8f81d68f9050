import { type Command, synced, unchanged } from '../../decisions/decision.ts'
import { HERE_ALREADY, type ImportOutcome, keeping, TAKEN } from '../../decisions/import-outcome.ts'
import type { View } from '../../decisions/view.ts'
import { DELETED_CONFIG } from '../state/deleted-config.ts'
import { GRAY, grayNamed } from '../state/gray-version.ts'
import { type PublishGray, publishGray } from './publish-gray.ts'

/** The comment of imported versions, for people. */
const IMPORTED = 'imported'

/** Imports a gray version of an item elsewhere. Refuses as `publishGray` does. */
export function importGray(
  input: Omit<PublishGray, 'casMd5' | 'comment' | 'imported'>,
  overwrite: boolean,
): Command<ImportOutcome> {
  const { key, name } = input
  const publish = publishGray({ ...input, casMd5: undefined, comment: IMPORTED, imported: true })
  return {
    ...publish,
    decide(view, now) {
      const { changes } = publish.decide(view, now)
      if (changes.length === 0) return unchanged(HERE_ALREADY)
      const problem = overwrite ? undefined : whyKept(view, { key, name })
      return problem === undefined ? synced(changes, TAKEN) : keeping(problem)
    },
  }
}

function whyKept(view: View, { key, name }: Pick<PublishGray, 'key' | 'name'>): string | undefined {
  const current = grayNamed(view.record(GRAY, key.text), name)
  if (current !== undefined && current.imported !== true) return 'the gray version was made or changed here'
  const isDeleted = view.config(key) === undefined && view.record(DELETED_CONFIG, key.text) !== undefined
  return isDeleted ? 'the item was deleted here' : undefined
}
