import type { ConfigName } from '../server/configs.ts'
import type { GrayItem, GrayVersion } from '../server/gray.ts'

/** A gray version that is out, and the item that it is of. */
export interface OutVersion {
  readonly item: ConfigName
  readonly version: GrayVersion
  /** How many versions its item has. */
  readonly count: number
}

/** After this time somebody may have forgotten a gray version. */
const LONG_MS = 86_400_000

/** The versions of all items, the oldest first. */
export const outVersions = (items: readonly GrayItem[]): OutVersion[] =>
  items
    .flatMap(({ tenant, group, dataId, versions }) =>
      versions.map((version) => ({ item: { tenant, group, dataId }, version, count: versions.length })),
    )
    .toSorted((one, other) => one.version.createTime - other.version.createTime)

/** Whether a version has been out for more than a day. */
export const isLongOut = ({ createTime }: GrayVersion, nowMs: number): boolean => nowMs - createTime > LONG_MS
