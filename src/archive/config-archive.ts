import { isUtf8 } from 'node:buffer'
import { CaseTwins } from './case-twins.ts'
import {
  byPath,
  type ItemMetadata,
  METADATA_HEAD,
  MetadataError,
  metadataText,
  metaLine,
  namedIn,
} from './config-metadata.ts'
import { layoutOf, type PlacedEntry } from './entry-layout.ts'
import {
  areItemNames,
  entryName,
  EXPECTED_LAYOUT,
  formsOf,
  isMetadataName,
  itemMeant,
  METADATA_NAME,
  type Named,
  namesOfParts,
  SETS_GROUP,
} from './entry-names.ts'
import { isLitter } from './litter.ts'
import { inTurns } from './turns.ts'
import { badZip, shownName, shownNames, zipTooLarge } from './zip-format.ts'
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
    else if (appName || !isPlain(metadata))
      // The Java servers refuse a line with nothing behind its sign; a blank is no application.
      about.push(metaLine({ group, dataId, appName: appName || ' ' }))
    yield { name: entryName(metadata), content, modifiedMs: itemMs }
  }
  if (about.length === 0) return
  const text = (version === 2 ? METADATA_HEAD : '') + about.join('')
  yield { name: METADATA_NAME[version], content: Buffer.from(text), modifiedMs }
}

/** Whether every reader takes a file of these names for this very item, whatever metadata there is. */
function isPlain({ group, dataId }: Named): boolean {
  const composed = formsOf({ group, dataId })[2]
  const isInForm = group === composed.group && dataId === composed.dataId
  return isInForm && !group.startsWith('.') && !isLitter([group, dataId])
}

/** An item of an archive, not unpacked yet. */
export interface ArchiveItem {
  readonly metadata: ItemMetadata
  readonly entry: ZipEntry
  /** Whether the name of the entry is in another form of Unicode. */
  readonly isReadAs: boolean
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
  // Metadata that is not on top, or of the first layout beside the second one.
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

/** The reasons for which nobody misses an item. */
const EXPECTED: readonly Unrecognized['reason'][] = ['litter', 'metadata-elsewhere', 'set-record']

/** Whether somebody may miss an item: an entry or description looks like one. Other servers give no reason. */
export function isMissing({ reason }: { readonly reason: Unrecognized['reason'] | undefined }): boolean {
  return reason === undefined || !EXPECTED.includes(reason)
}

/** A sentence about the common folder that was taken off. */
export function folderText(folder: string): string {
  return `The folder ${shownName(folder)} on top counts for nothing: the groups are inside it.`
}

/** A sentence about an archive or a directory without an item: its content, and the layout that is expected. */
export function nothingInIt(where: string, names: readonly string[]): string {
  return emptyText(where, names.length === 0 ? [] : [`it has ${shownNames(names)}`])
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
    [...content].map(([words, names]) => `${words} ${shownNames(names)}`),
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

/** Unpacks every content once. Rejects with Refusal `bad-archive` that names each one that no server stores. */
export async function checkContents(items: readonly ArchiveItem[]): Promise<void> {
  const binary: string[] = []
  const blank: string[] = []
  for (const { entry } of items) {
    const content = await entry.read()
    if (!isUtf8(content)) binary.push(entry.name)
    else if (!/\S/.test(content.toString('utf8'))) blank.push(entry.name)
  }
  const faults = [
    ...(binary.length > 0 ? [`contents that are not UTF-8: ${shownNames(binary)}`] : []),
    ...(blank.length > 0 ? [`blank contents: ${shownNames(blank)}`] : []),
  ]
  if (faults.length > 0) throw badZip(`has ${faults.join('; ')}`)
}

/** Reads the entries of an export. Rejects with MetadataError, or Refusal for a damaged or too large entry. */
export async function readArchive(entries: readonly ZipEntry[]): Promise<ConfigArchive> {
  const { folder, placed } = layoutOf(entries)
  const onTop = (wanted: string): ZipEntry | undefined => {
    const alike = placed.filter(({ parts }) => parts.length === 1 && parts[0]!.toLowerCase() === wanted)
    return (alike.find(({ parts }) => parts[0] === wanted) ?? alike[0])?.entry
  }
  const [ofVersion1, ofVersion2] = [onTop(METADATA_NAME[1]), onTop(METADATA_NAME[2])]
  const contents = placed.filter(({ entry }) => entry !== (ofVersion2 ?? ofVersion1))
  if (ofVersion2 !== undefined) {
    // Loaded on demand: a start of the server does not wait for the package `yaml`.
    const { parseMetadata } = await import('./metadata-reader.ts')
    const described = await parseMetadata(await readText(ofVersion2, MAX_METADATA_BYTES[2]))
    return { version: 2, ...(await describedItems(contents, described)), folder }
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

/** An entry with the names of the item that it means; undefined: it means none. */
interface MeantEntry extends PlacedEntry {
  readonly names: Named | undefined
  readonly isReadAs: boolean
}

/** Layout 2: an item has metadata and an entry. */
async function describedItems(
  entries: readonly PlacedEntry[],
  described: readonly ItemMetadata[],
): Promise<Found> {
  const found = byPath(described)
  const left = new Set(found.keys())
  const items: ArchiveItem[] = []
  const unrecognized: Unrecognized[] = []
  const isDescribed = (names: Named): boolean => found.has(entryName(names))
  for (const { entry, parts, names, isReadAs } of await meantBy(entries, isDescribed)) {
    const path = names === undefined ? '' : entryName(names)
    const metadata = left.has(path) ? found.get(path) : undefined
    const wrong = metadata === undefined ? reasonAgainst(parts, names) : reasonAgainstNames(metadata)
    const reason = wrong ?? (entry.isLink ? 'link' : undefined)
    if (metadata !== undefined && reason === undefined) items.push({ metadata, entry, isReadAs })
    else unrecognized.push({ name: entry.name, reason: reason ?? 'not-in-metadata' })
    left.delete(path)
  }
  const missing = [...left]
  await requireNoTwins(
    missing.map((path) => found.get(path)!),
    entries,
  )
  unrecognized.push(...missing.map((name) => ({ name, reason: 'no-entry' as const })))
  return { items, unrecognized }
}

/** Rejects with MetadataError for missing items from which an entry differs by case only. */
async function requireNoTwins(missing: readonly Named[], entries: readonly PlacedEntry[]): Promise<void> {
  if (missing.length === 0) return
  const twins = await CaseTwins.of(namesIn(entries).map(nameText))
  for await (const one of inTurns(missing)) twins.check(nameText(one))
  if (twins.fault !== undefined) throw new MetadataError(twins.fault)
}

function nameText({ group, dataId }: Named): string {
  return `${group}/${dataId}`
}

/** Layout 1: every entry of two parts is an item; another entry may name their applications, and items like litter. */
async function namedItems(entries: readonly PlacedEntry[], metadata: ZipEntry | undefined): Promise<Found> {
  const items: ArchiveItem[] = []
  const unrecognized: Unrecognized[] = []
  const seen = new Set<string>()
  const named = await namedBy(metadata, entries)
  const isNamed = (names: Named): boolean => named.has(entryName(names))
  for (const { entry, parts, names, isReadAs } of await meantBy(entries, isNamed)) {
    const wrong =
      names !== undefined && isNamed(names) ? reasonAgainstNames(names) : reasonAgainst(parts, names)
    const reason = wrong ?? (entry.isLink ? 'link' : undefined)
    const path = names === undefined ? '' : entryName(names)
    // Two spellings of one name.
    const isAgain = seen.has(path)
    if (names !== undefined && reason === undefined && !isAgain)
      items.push({ metadata: named.get(path) ?? names, entry, isReadAs })
    else unrecognized.push({ name: entry.name, reason: reason ?? 'bad-name' })
    seen.add(path)
  }
  return { items, unrecognized }
}

/** Entries with the items that they mean. None means the one that another entry has by the very name that an export writes. */
async function meantBy(
  entries: readonly PlacedEntry[],
  isDescribed: (names: Named) => boolean,
): Promise<readonly MeantEntry[]> {
  const written = new Set(entries.map(({ parts }) => parts.join('/')))
  const isWritten = (names: Named): boolean => written.has(entryName(names))
  const all: MeantEntry[] = []
  for await (const { entry, parts } of inTurns(entries)) {
    const names = namesOfParts(parts)
    const meant = names === undefined ? undefined : itemMeant(names, { isDescribed, isWritten })
    const path = meant === undefined ? '' : entryName(meant)
    const isOfAnother = path !== parts.join('/') && written.has(path)
    const isReadAs = names !== undefined && path !== entryName(names)
    all.push({ entry, parts, names: isOfAnother ? undefined : meant, isReadAs })
  }
  return all
}

/** The items that the metadata of the first layout names, by their `entryName`. */
async function namedBy(
  metadata: ZipEntry | undefined,
  entries: readonly PlacedEntry[],
): Promise<ReadonlyMap<string, ItemMetadata>> {
  if (metadata === undefined) return new Map()
  const text = await readText(metadata, MAX_METADATA_BYTES[1])
  return byPath(await namedIn(text, namesIn(entries)))
}

function namesIn(entries: readonly PlacedEntry[]): Named[] {
  return entries.flatMap(({ parts }) => namesOfParts(parts) ?? [])
}

/** Why an entry that no metadata describes is no item; undefined: by its name it could be an item. */
function reasonAgainst(
  parts: readonly string[],
  names: Named | undefined,
): Unrecognized['reason'] | undefined {
  if (isLitter(parts)) return 'litter'
  if (isMetadataName(parts.at(-1))) return 'metadata-elsewhere'
  return names === undefined ? 'bad-name' : reasonAgainstNames(names)
}

function reasonAgainstNames(names: Named): 'set-record' | 'bad-name' | undefined {
  if (names.group === SETS_GROUP) return 'set-record'
  return areItemNames(names) ? undefined : 'bad-name'
}
