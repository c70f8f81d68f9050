import { isUtf8 } from 'node:buffer'
import {
  type ItemMetadata,
  METADATA_HEAD,
  metadataText,
  MetadataError,
  metaKey,
  metaLine,
  parseMetaLines,
} from './config-metadata.ts'
import { layoutOf, type PlacedEntry } from './entry-layout.ts'
import {
  areItemNames,
  entryName,
  EXPECTED_LAYOUT,
  isMetadataName,
  METADATA_NAME,
  namesOfParts,
  SETS_GROUP,
} from './entry-names.ts'
import { isLitter } from './litter.ts'
import { badZip, shownName, zipTooLarge } from './zip-format.ts'
import type { ZipEntry } from './zip-reader.ts'
import type { ZipFile } from './zip-writer.ts'

/** The two layouts of an export: 1 has only the application of an item, 2 its type and description as well. */
export type ArchiveVersion = 1 | 2

/** The most bytes of metadata of each layout: a hundred, or a few hundred, for each item of the largest archive. */
const MAX_METADATA_BYTES = { 1: 8 * 1024 * 1024, 2: 32 * 1024 * 1024 } as const

/** An item to export. */
export interface ArchivedConfig {
  readonly metadata: ItemMetadata
  readonly content: Buffer
  readonly modifiedMs: number
}

/** The files of an export: `<group>/<dataId>` for each item, then their metadata. */
export function* archiveFiles(items: Iterable<ArchivedConfig>, version: ArchiveVersion): Generator<ZipFile> {
  const about: string[] = []
  let modifiedMs = 0
  for (const { metadata, content, modifiedMs: itemMs } of items) {
    modifiedMs = Math.max(modifiedMs, itemMs)
    const { group, dataId, appName } = metadata
    if (version === 2) about.push(metadataText(metadata))
    else if (appName || isLitter([group, dataId]))
      // The Java servers refuse a line with nothing behind its sign; a blank is no application.
      about.push(metaLine({ group, dataId, appName: appName || ' ' }))
    yield { name: entryName(metadata), content, modifiedMs: itemMs }
  }
  if (about.length === 0) return
  const text = (version === 2 ? METADATA_HEAD : '') + about.join('')
  yield { name: METADATA_NAME[version], content: Buffer.from(text), modifiedMs }
}

/** An item of an archive, not unpacked yet. */
export interface ArchiveItem {
  readonly metadata: ItemMetadata
  readonly entry: ZipEntry
}

/** The content of an archive: items, and entries or descriptions without an item. */
export interface ConfigArchive {
  readonly version: ArchiveVersion
  readonly items: readonly ArchiveItem[]
  readonly unrecognized: readonly Unrecognized[]
  /** The common folder on top, which was taken off; undefined: none was. */
  readonly folder: string | undefined
}

/** Why an entry or a description is not imported. */
export const UNRECOGNIZED_REASONS = [
  // Another name than `group/dataId`, or one that no item has.
  'bad-name',
  'not-in-metadata',
  'no-entry',
  // Left by an operating system or an editor.
  'litter',
  // Metadata that is not on top.
  'metadata-elsewhere',
  // Only the path to which a link leads.
  'link',
  // The record of a set of `config apply`: it is true in its own namespace only.
  'set-record',
] as const

/** An entry or description that is not imported. */
export interface Unrecognized {
  readonly name: string
  readonly reason: (typeof UNRECOGNIZED_REASONS)[number]
}

/** A sentence about the common folder that was taken off. */
export function folderText(folder: string): string {
  return `The folder ${shownName(folder)} on top counts for nothing: the groups are inside it.`
}

/** The most names in a sentence. */
const MOST_NAMED = 5

/** A sentence about an archive or a directory without an item: its content, and the layout that is expected. */
export function nothingInIt(where: string, names: readonly string[]): string {
  return emptyText(where, names.length === 0 ? [] : [`it has ${namedIn(names)}`])
}

/** The sentence about a zip file without an item. Records of sets, and descriptions without a file, look like items. */
export function nothingInZip(
  unrecognized: readonly { readonly name: string; readonly reason?: Unrecognized['reason'] }[],
): string {
  const content = new Map<string, string[]>()
  for (const { name, reason } of unrecognized) {
    const words = LOOKS_RIGHT[reason ?? 'bad-name'] ?? 'it has'
    const names = content.get(words) ?? []
    names.push(name)
    content.set(words, names)
  }
  return emptyText(
    'The zip file',
    [...content].map(([words, names]) => `${words} ${namedIn(names)}`),
  )
}

const LOOKS_RIGHT: Partial<Record<Unrecognized['reason'], string>> = {
  'no-entry': 'its metadata describes files that are not there:',
  'set-record': 'it has records of sets, which stay in their namespace:',
}

function emptyText(where: string, content: readonly string[]): string {
  const all = content.join('; ') || 'it is empty'
  return `${where} has no configuration: ${all}. Expected is ${EXPECTED_LAYOUT}, at the top or in one folder.`
}

function namedIn(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''
  return names.slice(0, MOST_NAMED).map(shownName).join(', ') + more
}

/** The content of an entry, which can be published: UTF-8 and not blank. Rejects with Refusal `bad-archive`. */
export async function readContent(entry: ZipEntry): Promise<Buffer> {
  const content = await entry.read()
  if (!isUtf8(content)) throw badZip(`has a content that is not UTF-8 in ${shownName(entry.name)}`)
  if (!/\S/.test(content.toString('utf8'))) throw badZip(`has a blank content in ${shownName(entry.name)}`)
  return content
}

/** Reads the entries of an export. Rejects with MetadataError, or Refusal for a damaged or too large entry. */
export async function readArchive(entries: readonly ZipEntry[]): Promise<ConfigArchive> {
  const { folder, placed } = layoutOf(entries)
  const onTop = (wanted: string): ZipEntry | undefined =>
    placed.find(({ parts }) => parts.length === 1 && parts[0]!.toLowerCase() === wanted)?.entry
  const [ofVersion1, ofVersion2] = [onTop(METADATA_NAME[1]), onTop(METADATA_NAME[2])]
  const contents = placed.filter(({ entry }) => entry !== ofVersion1 && entry !== ofVersion2)
  if (ofVersion2 !== undefined) {
    // Loaded on demand: a start of the server does not wait for the package `yaml`.
    const { parseMetadata } = await import('./metadata-reader.ts')
    const described = await parseMetadata(await readText(ofVersion2, MAX_METADATA_BYTES[2]))
    return { version: 2, ...describedItems(contents, described), folder }
  }
  return { version: 1, ...(await namedItems(contents, ofVersion1)), folder }
}

async function readText(entry: ZipEntry, maxBytes: number): Promise<string> {
  if (entry.bytes > maxBytes)
    throw zipTooLarge(`has ${entry.bytes} bytes of metadata`, `at most ${maxBytes} bytes`)
  const bytes = await entry.read()
  if (!isUtf8(bytes)) throw badZip(`has metadata (${entry.name}) that is not UTF-8`)
  return bytes.toString('utf8')
}

type Found = Pick<ConfigArchive, 'items' | 'unrecognized'>

/** Layout 2: an item has metadata and an entry. */
function describedItems(entries: readonly PlacedEntry[], described: readonly ItemMetadata[]): Found {
  const byName = new Map(described.map((metadata) => [entryName(metadata), metadata]))
  if (byName.size < described.length) throw new MetadataError('an item is described twice')
  const items: ArchiveItem[] = []
  const unrecognized: Unrecognized[] = []
  const exact = namesWritten(entries)
  for (const { entry, parts } of entries) {
    const names = namesMeant(parts, exact)
    const key = names === undefined ? '' : entryName(names)
    const metadata = byName.get(key)
    const wrong = metadata === undefined ? reasonAgainst(parts) : reasonAgainstNames(metadata)
    const reason = wrong ?? (entry.isLink ? 'link' : undefined)
    if (metadata !== undefined && reason === undefined) items.push({ metadata, entry })
    else unrecognized.push({ name: entry.name, reason: reason ?? 'not-in-metadata' })
    byName.delete(key)
  }
  for (const name of byName.keys()) unrecognized.push({ name, reason: 'no-entry' })
  return { items, unrecognized }
}

/** Layout 1: every entry of two parts is an item; another entry may name their applications, and items like litter. */
async function namedItems(entries: readonly PlacedEntry[], metadata: ZipEntry | undefined): Promise<Found> {
  const items: ArchiveItem[] = []
  const unrecognized: Unrecognized[] = []
  const seen = new Set<string>()
  const apps = await appsOf(entries, metadata)
  const exact = namesWritten(entries)
  for (const { entry, parts } of entries) {
    const names = namesMeant(parts, exact)
    const isNamed = names !== undefined && apps.has(metaKey(names))
    const wrong = isNamed ? reasonAgainstNames(names) : reasonAgainst(parts)
    const reason = wrong ?? (entry.isLink ? 'link' : undefined)
    const key = names === undefined ? '' : entryName(names)
    // Two spellings of one name.
    const isAgain = seen.has(key)
    if (names !== undefined && reason === undefined && !isAgain) items.push({ metadata: names, entry })
    else unrecognized.push({ name: entry.name, reason: reason ?? 'bad-name' })
    seen.add(key)
  }
  return { items: items.map((item) => withApp(item, apps)), unrecognized }
}

/** The names of entries as they are written. */
function namesWritten(entries: readonly PlacedEntry[]): ReadonlySet<string> {
  return new Set(entries.map(({ parts }) => parts.join('/')))
}

/** The names of an entry; undefined too where another entry is the one that an export writes for them. */
function namesMeant(parts: readonly string[], exact: ReadonlySet<string>): ReturnType<typeof namesOfParts> {
  const names = namesOfParts(parts)
  if (names === undefined) return undefined
  const written = entryName(names)
  return written !== parts.join('/') && exact.has(written) ? undefined : names
}

/** The applications of entries by their `metaKey`, as far as the metadata names them. */
async function appsOf(
  entries: readonly PlacedEntry[],
  metadata: ZipEntry | undefined,
): Promise<ReadonlyMap<string, string>> {
  if (metadata === undefined) return new Map()
  const names = entries.map(({ parts }) => namesOfParts(parts)).filter((one) => one !== undefined)
  return parseMetaLines(await readText(metadata, MAX_METADATA_BYTES[1]), new Set(names.map(metaKey)))
}

function withApp(item: ArchiveItem, apps: ReadonlyMap<string, string>): ArchiveItem {
  const appName = apps.get(metaKey(item.metadata))
  return !appName ? item : { ...item, metadata: { ...item.metadata, appName } }
}

/** Why an entry that no metadata describes is no item; undefined: by its name it could be an item. */
function reasonAgainst(parts: readonly string[]): Unrecognized['reason'] | undefined {
  if (isLitter(parts)) return 'litter'
  if (isMetadataName(parts.at(-1))) return 'metadata-elsewhere'
  const names = namesOfParts(parts)
  return names === undefined ? 'bad-name' : reasonAgainstNames(names)
}

function reasonAgainstNames(
  names: Parameters<typeof areItemNames>[0],
): 'set-record' | 'bad-name' | undefined {
  if (names.group === SETS_GROUP) return 'set-record'
  return areItemNames(names) ? undefined : 'bad-name'
}
