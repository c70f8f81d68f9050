import type { ConfigItem } from '../core/config/config-item.ts'
import { keyPathReader } from './key-paths.ts'

/** Which items are looked for; an empty text finds all. Texts are parts, in any case. */
export interface ConfigFilter {
  /** A part of the name, the group, the description, the application or a tag. */
  readonly text: string
  /** The whole group. */
  readonly group: string
  /** A part of the content. */
  readonly content: string
  /** A part of the path of a key in the content, such as `server.port`. */
  readonly key: string
  readonly types: readonly string[]
  /** Tags, separated by commas: an item must have all of them. */
  readonly configTags: string
}

/** A line of a content that was looked for. */
export interface Hit {
  /** Counted from 1. */
  readonly line: number
  readonly text: string
  /** The key that the line belongs to, where it has none itself, such as a line of a long value; else empty. */
  readonly under: string
}

const MOST_HITS = 3
const MOST_HIT_CHARACTERS = 200

/** Whether an item is looked for; without its content, which takes longer. */
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

/** Whether a content is looked for: as {@link hitsIn}, but without the lines where that is cheaper. */
export function isInContent(content: Buffer, filter: Pick<ConfigFilter, 'content' | 'key'>): boolean {
  if (filter.key !== '') return hitsIn(content, filter) !== undefined
  return (
    filter.content === '' || content.toString('utf8').toLowerCase().includes(filter.content.toLowerCase())
  )
}

/** The first lines of a content that are looked for; undefined where it has none of them. */
export function hitsIn(content: Buffer, filter: Pick<ConfigFilter, 'content' | 'key'>): Hit[] | undefined {
  if (filter.content === '' && filter.key === '') return []
  const [inText, inKey] = [filter.content.toLowerCase(), filter.key.toLowerCase()]
  const text = content.toString('utf8')
  const lower = text.toLowerCase()
  // Most contents have neither: they are not cut into lines.
  if (!lower.includes(inText) || !lower.includes(lastNameOf(inKey))) return undefined
  return linesWith(text, inText, inKey)
}

function linesWith(text: string, inText: string, inKey: string): Hit[] | undefined {
  const hits: Hit[] = []
  const reader = keyPathReader()
  for (const [at, line] of text.split('\n').entries()) {
    const path = reader.pathOf(line)
    const isNamed = inKey === '' || path?.toLowerCase().includes(inKey) === true
    if (isNamed && line.toLowerCase().includes(inText))
      hits.push({ line: at + 1, text: shortened(line), under: path === undefined ? reader.above(line) : '' })
    if (hits.length === MOST_HITS) break
  }
  if (hits.length > 0) return hits
  // A text over several lines is in the content, but in no line.
  return inKey === '' ? [] : undefined
}

/** `port` of `server.port`: it is on the line itself. */
function lastNameOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1)
}

function shortened(line: string): string {
  return line.length > MOST_HIT_CHARACTERS ? `${line.slice(0, MOST_HIT_CHARACTERS)}…` : line.trimEnd()
}
