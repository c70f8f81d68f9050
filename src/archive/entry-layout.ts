import { isMetadataName } from './entry-names.ts'
import { isLitter } from './litter.ts'
import { badZip, shownName } from './zip-format.ts'
import type { ZipEntry } from './zip-reader.ts'

/** An entry, and the parts of its path below the folder that was taken off. */
export interface PlacedEntry {
  readonly entry: ZipEntry
  readonly parts: readonly string[]
}

/** The entries of an archive by their places. */
export interface EntryLayout {
  /** The common folder on top, which was taken off; undefined: none was. */
  readonly folder: string | undefined
  readonly placed: readonly PlacedEntry[]
}

type Paths = readonly (readonly string[])[]

/**
 * Where the entries are. Some programs write `\` in place of `/`; that counts where no name has a `/`. Some write `./` in
 * front of each name. People pack the folder into which they have unpacked an export; it is taken off. Throws Refusal
 * `bad-archive` where it is unclear whether a folder is a group or has the groups in it.
 */
export function layoutOf(entries: readonly ZipEntry[]): EntryLayout {
  const others = entries.filter(({ name }) => !isLitter(name.split(/[/\\]/)))
  const isUsed = (character: string): boolean => others.some(({ name }) => name.includes(character))
  const separator = isUsed('\\') && !isUsed('/') ? '\\' : '/'
  const written = entries
    .filter(({ name }) => !name.endsWith(separator))
    .map((entry) => ({ entry, parts: entry.name.split(separator) }))
  const hasDots = written.every(({ parts }) => parts.length > 1 && parts[0] === '.')
  const placed = hasDots ? written.map((one) => withoutFolder(one, '.')) : written
  const folder = commonFolder(placed.map(({ parts }) => parts))
  if (folder === undefined) return { folder, placed }
  return { folder, placed: placed.map((one) => withoutFolder(one, folder)) }
}

function withoutFolder({ entry, parts }: PlacedEntry, folder: string): PlacedEntry {
  return { entry, parts: parts[0] === folder ? parts.slice(1) : parts }
}

/**
 * The folder of everything but litter, if it is no group. Below it every item has two parts, or metadata and an item are
 * at their places.
 */
function commonFolder(paths: Paths): string | undefined {
  const known = paths.filter((parts) => !isLitter(parts))
  const folder = known[0]?.[0]
  if (folder === undefined || folder === '' || folder === '..') return undefined
  if (!known.every((parts) => parts.length > 1 && parts[0] === folder)) return undefined
  const below = known.map((parts) => parts.slice(1))
  const items = below.filter((parts) => !isMetadataName(parts.at(-1)))
  const all = paths.filter((parts) => parts[0] === folder).map((parts) => parts.slice(1))
  const hasMetadata = below.some((parts) => parts.length === 1 && isMetadataName(parts[0]))
  const isItem = (parts: readonly string[]): boolean => parts.length === 2
  const isOnTop = hasMetadata ? all.some(isItem) : items.length > 0 && items.every(isItem)
  if (isOnTop) return folder
  requireOneMeaning(folder, items)
  return undefined
}

/** As a group the folder would publish its files and lose its folders; as a folder on top it would do the opposite. */
function requireOneMeaning(folder: string, items: Paths): void {
  const file = items.find((parts) => parts.length === 1)
  const inside = items.find((parts) => parts.length > 1 && !parts.includes(''))
  if (file === undefined || inside === undefined) return
  const shown = (parts: readonly string[]): string => shownName([folder, ...parts].join('/'))
  throw badZip(
    `has all in the folder ${shownName(folder)}, with files and folders in it: ${shown(file)} would be an item, and ` +
      `${shown(inside)} would be none. Pack the groups alone`,
  )
}
