import { type Command, commandOn, synced, unchanged } from '../../decisions/decision.ts'
import type { Change } from '../../decisions/changes.ts'
import type { Now } from '../../decisions/stamps.ts'
import type { View } from '../../decisions/view.ts'
import type { ConfigKey, Operator } from '../state/config-item.ts'
import { GRAY, grayContent, grayNamed, type GrayVersion } from '../state/gray-version.ts'
import { checkCas, publishConfig } from './publish-config.ts'
import { grayEnded, stampsToEnd } from './gray-records.ts'
import { grayNotFound } from './publish-gray.ts'

/** Which gray version ends, and who says so. */
export interface EndGray {
  readonly key: ConfigKey
  readonly name: string
  /** Only if this is the md5 of the version that is written; undefined: whatever it is. */
  readonly casMd5?: string | undefined
  readonly operator: Operator
  readonly comment?: string | undefined
}

/** Ends a gray version: its clients get the version of the others. False without one. Refusal `config-changed`. */
export function stopGray({ key, name, casMd5, operator, comment }: EndGray): Command<boolean> {
  return commandOn(key.text, (view, { wallMs, stamp }) => {
    const item = view.record(GRAY, key.text)
    const version = grayNamed(item, name)
    checkCas(casMd5, version)
    if (item === undefined || version === undefined) return unchanged(false)
    const atMs = Math.max(wallMs, version.modifiedMs)
    return synced(grayEnded(view, item, { ended: [version], operator, comment, atMs, stamp }), true)
  })
}

/**
 * Makes a gray version the formal one, and ends all gray versions of the item, in one commit. So clients of the gray
 * version keep its text. `casMd5` is about the formal version. Refusals `gray-not-found`, `config-changed`.
 */
export function promoteGray(input: EndGray): Command<true> {
  const { key, name, operator, comment } = input
  return {
    subject: key.text,
    stamps: (view) => 1 + stampsToEnd(view, key),
    decide(view, now) {
      const item = view.record(GRAY, key.text)
      const version = grayNamed(item, name)
      if (item === undefined || version === undefined) throw grayNotFound(name)
      checkCas(input.casMd5, view.config(key))
      const atMs = item.versions.reduce((latest, one) => Math.max(latest, one.modifiedMs), now.wallMs)
      const ended = grayEnded(view, item, { operator, comment, atMs, stamp: now.stamp + 1 })
      return synced([...formalOf(view, { input, version }, now), ...ended], true)
    },
  }
}

/** The publish of the text to all; nothing where it is there already. */
function formalOf(
  view: View,
  { input, version }: { input: EndGray; version: GrayVersion },
  now: Now,
): readonly Change[] {
  const { key, casMd5, operator, comment } = input
  const { md5, encryptedDataKey, name: promotedFrom } = version
  const type = view.config(key) === undefined ? version.type : undefined
  const notes = { encryptedDataKey }
  const content = grayContent(view, version)
  const publication = { key, content, md5, type, notes, casMd5, operator, comment, promotedFrom }
  return publishConfig(publication).decide(view, now).changes
}
