import {
  FIRST_RELEASED,
  includes,
  rangeText,
  type VersionRange,
} from '../../../core/cluster/members/versions.ts'
import type { Revision } from '../../../core/engine/ports.ts'
import { fieldsOf, numberIn, textIn } from '../../../core/records/shape.ts'
import { NotExaminable } from '../../local-file.ts'
import { readingOf } from '../failures/unreadable.ts'

/**
 * The layouts of keys and values that this version of Waypost reads and writes. A record that older servers cannot read,
 * or must not lose, needs a new layout: docs/recipes/add-a-layout.md.
 */
export const LAYOUTS: VersionRange = { from: FIRST_RELEASED, to: FIRST_RELEASED }

/** The data in etcd has a layout that this server cannot use. */
export class UnknownLayout extends NotExaminable {
  override readonly name = 'UnknownLayout'
}

/** The key of the layout while a copy fills the store: no server can use the store then, also no older one. */
export interface UnderCopy {
  /** The place that is copied, and its revision. */
  readonly source: string
  readonly revision: Revision
}

/** The copy that the text of the layout's key names; undefined without a copy. Throws `UnreadableValue`. */
export function copyIn(key: string, text: string): UnderCopy | undefined {
  return readingOf(key, () => readCopy(text))
}

/** Whether the text of the layout's key marks a copy, perhaps a damaged mark. */
export function isCopy(text: string): boolean {
  return text.startsWith('{"copy":')
}

function readCopy(text: string): UnderCopy | undefined {
  if (!isCopy(text)) return undefined
  const { copy } = JSON.parse(text) as { copy: UnderCopy }
  const fields = fieldsOf(copy)
  textIn(fields, 'source')
  numberIn(fields, 'revision')
  fieldsOf(fields['sums'])
  return copy
}

/** A layout as text. No version has one with more digits. */
const LAYOUT = /^[1-9]\d{0,3}$/

/** Whether servers that use these layouts can find this text: layouts only rise. */
export function canFollow(text: string, { from }: VersionRange): boolean {
  return LAYOUT.test(text) && Number(text) >= from
}

/** The number in the text of a layout. Throws {@link UnknownLayout} if it is not understood. */
export function readLayout(key: string, text: string, understood: VersionRange): number {
  const copy = copyIn(key, text)
  if (copy !== undefined)
    throw new UnknownLayout(
      `The keys of etcd under this prefix are half filled by a copy of ${copy.source} (key ${key}). Continue the copy with ` +
        '`waypost copy-store`, or remove the keys.',
    )
  if (!LAYOUT.test(text))
    throw new UnknownLayout(
      `The key ${key} of etcd has no layout: no server has written its value. If servers have used this prefix, put their ` +
        `layout back with \`etcdctl put ${key} ${understood.to}\`; otherwise choose another prefix.`,
    )
  const layout = Number(text)
  if (includes(understood, layout)) return layout
  throw new UnknownLayout(
    `The data in etcd has the layout ${text} (key ${key}); this version of Waypost knows layout ` +
      `${rangeText(understood)}. ${remedyFor(layout, understood)}`,
  )
}

function remedyFor(layout: number, understood: VersionRange): string {
  if (layout > understood.to) return 'Use the version that wrote it, or a later one.'
  if (layout >= FIRST_RELEASED)
    return 'Start a version between the two first, which reads the old layout and writes a later one.'
  return (
    'A development build from before Waypost 0.1.0 wrote it. Either choose another prefix, or keep the configurations: start that ' +
    'build, run `waypost export` there, and `waypost import` against a server of this version with another prefix.'
  )
}
