import type { ListedConfig } from '../../answers.ts'
import { nameText } from '../item.ts'
import type { SourceItem } from './source-items.ts'

/** An item as the server has it. */
export type PresentItem = Pick<
  ListedConfig,
  'group' | 'dataId' | 'md5' | 'type' | 'appName' | 'desc' | 'configTags'
>

/** The changes of an apply. */
export interface Plan {
  readonly create: readonly SourceItem[]
  readonly change: readonly {
    readonly item: SourceItem
    readonly present: PresentItem
    readonly isDrifted: boolean
  }[]
  readonly delete: readonly { readonly present: PresentItem; readonly isDrifted: boolean }[]
  readonly equal: readonly SourceItem[]
  /** The set has published these, and the directory has them no longer. Without `--prune` they stay. */
  readonly left: readonly PresentItem[]
  /** Items that the set has published before and that neither side has now: the record forgets them. */
  readonly forgotten: readonly string[]
  /** Other sets that have published an item of the plan too, by its name: the sets may overwrite each other. */
  readonly shared: ReadonlyMap<string, readonly string[]>
}

/** The known sets of a namespace. */
interface KnownSets {
  /** The md5s of the items that earlier applies of this set have published. */
  readonly recorded: ReadonlyMap<string, string>
  /** The other sets, by the names of their items. */
  readonly others: ReadonlyMap<string, readonly string[]>
  readonly prune: boolean
}

/** Compares a directory with the items of the server. */
export function planOf(
  source: readonly SourceItem[],
  present: ReadonlyMap<string, PresentItem>,
  { recorded, others, prune }: KnownSets,
): Plan {
  const known = source.map((item) => ({ item, there: present.get(nameText(item)) }))
  const wanted = new Set(source.map(nameText))
  const unwanted = [...recorded.keys()].filter((name) => !wanted.has(name))
  const gone = unwanted.flatMap((name) => present.get(name) ?? [])
  const isDrifted = (there: PresentItem): boolean =>
    recorded.has(nameText(there)) && recorded.get(nameText(there)) !== there.md5
  return {
    create: known.filter(({ there }) => there === undefined).map(({ item }) => item),
    change: known.flatMap(({ item, there }) =>
      there === undefined || isEqual(item, there)
        ? []
        : [{ item, present: there, isDrifted: isDrifted(there) }],
    ),
    delete: prune ? gone.map((there) => ({ present: there, isDrifted: isDrifted(there) })) : [],
    equal: known.flatMap(({ item, there }) => (there !== undefined && isEqual(item, there) ? [item] : [])),
    left: prune ? [] : gone,
    forgotten: unwanted.filter((name) => !present.has(name)),
    shared: new Map(
      [...others].filter(([name]) => wanted.has(name) || (recorded.has(name) && present.has(name))),
    ),
  }
}

/** A field that the directory does not set is not compared. */
function isEqual({ md5, metadata }: SourceItem, present: PresentItem): boolean {
  if (md5 !== present.md5) return false
  const { type, desc, appName, extras } = metadata ?? {}
  const says = (said: string | null | undefined, there: string | null): boolean =>
    said === undefined || said === null || said === (there ?? '')
  return (
    says(type, present.type) &&
    says(desc, present.desc) &&
    says(appName, present.appName) &&
    says(extras?.configTags, present.configTags)
  )
}

/** How many items a plan changes. */
export function sizeOf(plan: Plan): number {
  return plan.create.length + plan.change.length + plan.delete.length
}
