import type { ConfigItem } from '../../core/config/state/config-item.ts'
import type { ContentFilter } from './content-search.ts'

/** Which items are looked for; an empty text finds all. Texts are parts, in any case. */
export interface ConfigFilter extends ContentFilter {
  /** A part of the name, the group, the description, the application or a tag. */
  readonly text: string
  /** The whole group. */
  readonly group: string
  readonly types: readonly string[]
  /** Tags, separated by commas: an item must have every tag. */
  readonly configTags: string
}

/** Whether an item is looked for. Its content is not searched: that takes longer. */
export function aboutFilter(filter: ConfigFilter): (item: ConfigItem) => boolean {
  const text = filter.text.toLowerCase()
  const tags = filter.configTags.split(',').filter((tag) => tag !== '')
  const types = new Set(filter.types)
  return ({ key, notes, type }) => {
    if (filter.group !== '' && key.group !== filter.group) return false
    if (types.size > 0 && !types.has(type)) return false
    const carried = tags.length === 0 ? [] : (notes.configTags?.split(',') ?? [])
    if (!tags.every((tag) => carried.includes(tag))) return false
    if (text === '') return true
    return [key.dataId, key.group, notes.desc, notes.appName, notes.configTags].some(
      (part) => part !== null && part.toLowerCase().includes(text),
    )
  }
}
