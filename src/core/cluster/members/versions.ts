import { fieldsOf, numberIn } from '../../records/shape.ts'

/** The versions of something that a server can read and write: all from the first to the last. */
export interface VersionRange {
  readonly from: number
  readonly to: number
}

/** The layout and the messages of the first release. Only development builds have 1 to 3 (docs/decisions/0066). */
export const FIRST_RELEASED = 4

/** The versions that a server understands (docs/decisions/0053). */
export interface MemberVersions {
  /** The layouts of the store. */
  readonly layouts: VersionRange
  /** The messages between servers. */
  readonly messages: VersionRange
}

/** The versions in the JSON of a member. Throws an Error that names the field. */
export function versionsIn(json: unknown): MemberVersions {
  const fields = fieldsOf(json)
  return { layouts: rangeOf(fields['layouts']), messages: rangeOf(fields['messages']) }
}

/** Whether a version is one of the range. */
export function includes({ from, to }: VersionRange, version: number): boolean {
  return version >= from && version <= to
}

/** Whether two servers have a version in common. */
export function overlap(one: VersionRange, other: VersionRange): boolean {
  return one.from <= other.to && other.from <= one.to
}

/** `1`, or `1 to 3`. */
export function rangeText({ from, to }: VersionRange): string {
  return from === to ? String(from) : `${from} to ${to}`
}

function rangeOf(json: unknown): VersionRange {
  const fields = fieldsOf(json)
  return { from: numberIn(fields, 'from'), to: numberIn(fields, 'to') }
}
