import { configKey, type ConfigItem, type ConfigKey } from './config-item.ts'
import type { ConfigTable } from './config-table.ts'

/** A search among the items of a namespace. An empty text matches every item. */
export interface ConfigSearch {
  readonly namespaceId: string
  /** In a blur search `*` matches any run of characters; without it the match is exact. */
  readonly mode: 'accurate' | 'blur'
  readonly dataId: string
  readonly group: string
  readonly appName: string
  /** Comma-separated; an item must carry all these tags. */
  readonly configTags: string
  /** Only items of these types; empty: all. */
  readonly types: readonly string[]
}

/** The items that match, oldest first (http-compat.md section 3, search). */
export function matchingConfigs(configs: ConfigTable, search: ConfigSearch): ConfigItem[] {
  const matches = matcherOf(search)
  const found: ConfigItem[] = []
  for (const item of candidatesOf(configs, search)) if (matches(item)) found.push(item)
  return found
}

/** A search with both names in full is a lookup; any other visits all items. */
function candidatesOf(
  configs: ConfigTable,
  { namespaceId, mode, dataId, group }: ConfigSearch,
): Iterable<ConfigItem> {
  const isName = (text: string): boolean => text !== '' && (mode === 'accurate' || !text.includes('*'))
  if (!isName(dataId) || !isName(group)) return configs.inNamespace(namespaceId)
  const item = configs.get(configKey(namespaceId, group, dataId))
  return item === undefined ? [] : [item]
}

/** Whether the names of an item match, whatever else is searched for. */
export function nameMatcher({ mode, ...search }: ConfigSearch): (key: ConfigKey) => boolean {
  const text = mode === 'blur' ? wildcard : exact
  const dataId = text(search.dataId)
  const group = text(search.group)
  return (key) => dataId(key.dataId) && group(key.group)
}

/** Whether an item of the namespace matches. */
export function matcherOf(search: ConfigSearch): (item: ConfigItem) => boolean {
  const text = search.mode === 'blur' ? wildcard : exact
  const hasName = nameMatcher(search)
  const appName = text(search.appName)
  const tags = search.configTags.split(',').filter((tag) => tag !== '')
  const types = new Set(search.types)
  return (item) =>
    hasName(item.key) &&
    appName(item.notes.appName) &&
    hasTags(item, tags) &&
    (types.size === 0 || types.has(item.type))
}

function hasTags(item: ConfigItem, wanted: readonly string[]): boolean {
  if (wanted.length === 0) return true
  const carried = item.notes.configTags?.split(',') ?? []
  return wanted.every((tag) => carried.includes(tag))
}

function exact(wanted: string): (text: string) => boolean {
  return wanted === '' ? () => true : (text) => text === wanted
}

/** Matches piece by piece, in linear time. A client's pattern never becomes a regular expression. */
function wildcard(pattern: string): (text: string) => boolean {
  if (!pattern.includes('*')) return exact(pattern)
  const pieces = pattern.split('*')
  const head = pieces[0] ?? ''
  const tail = pieces.at(-1) ?? ''
  const middle = pieces.slice(1, -1)
  return (text) => {
    if (text.length < head.length + tail.length || !text.startsWith(head) || !text.endsWith(tail))
      return false
    let at = head.length
    for (const piece of middle) {
      const found = text.indexOf(piece, at)
      if (found === -1) return false
      at = found + piece.length
    }
    return at <= text.length - tail.length
  }
}
