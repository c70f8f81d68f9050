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
import { badZip, shownName, zipTooLarge } from './zip-format.ts'
import type { ZipEntry } from './zip-reader.ts'
import type { ZipFile } from './zip-writer.ts'

/** The two layouts of an export: 1 has only the application of an item, 2 its type and description as well. */
export type ArchiveVersion = 1 | 2

/** The entry that holds the metadata of each layout. */
const METADATA_NAME = { 1: '.meta.yml', 2: '.metadata.yml' } as const

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
    else if (appName) about.push(metaLine({ group, dataId, appName }))
    yield { name: entryName(metadata), content, modifiedMs: itemMs }
  }
  if (about.length === 0) return
  const text = (version === 2 ? METADATA_HEAD : '') + about.join('')
  yield { name: METADATA_NAME[version], content: Buffer.from(text), modifiedMs }
}

/** The name of an item in the zip. */
export function entryName({ group, dataId }: { group: string; dataId: string }): string {
  return `${group}/${dataId}`
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
}

/** An entry or description that is not imported: another name than `group/dataId`, or without its counterpart. */
export interface Unrecognized {
  readonly name: string
  readonly reason: 'bad-name' | 'not-in-metadata' | 'no-entry'
}

/** The content of an entry, which can be published: UTF-8 and not blank. Rejects with Refusal `malformed-request`. */
export async function readContent(entry: ZipEntry): Promise<Buffer> {
  const content = await entry.read()
  if (!isUtf8(content)) throw badZip(`has a content that is not UTF-8 in ${shownName(entry.name)}`)
  if (!/\S/.test(content.toString('utf8'))) throw badZip(`has a blank content in ${shownName(entry.name)}`)
  return content
}

/** Reads the entries of an export. Rejects with MetadataError, or Refusal for a damaged or too large entry. */
export async function readArchive(entries: readonly ZipEntry[]): Promise<ConfigArchive> {
  const ofVersion2 = entries.find(({ name }) => name === METADATA_NAME[2])
  const ofVersion1 = entries.find(({ name }) => name === METADATA_NAME[1])
  const contents = entries.filter((entry) => entry !== ofVersion1 && entry !== ofVersion2)
  if (ofVersion2 !== undefined) {
    // Loaded on demand: a start of the server does not wait for the package `yaml`.
    const { parseMetadata } = await import('./metadata-reader.ts')
    return describedItems(contents, await parseMetadata(await readText(ofVersion2, MAX_METADATA_BYTES[2])))
  }
  return namedItems(contents, ofVersion1)
}

async function readText(entry: ZipEntry, maxBytes: number): Promise<string> {
  if (entry.bytes > maxBytes)
    throw zipTooLarge(`has ${entry.bytes} bytes of metadata`, `at most ${maxBytes} bytes`)
  const bytes = await entry.read()
  if (!isUtf8(bytes)) throw badZip(`has metadata (${entry.name}) that is not UTF-8`)
  return bytes.toString('utf8')
}

/** Layout 2: an item has metadata and an entry. */
function describedItems(entries: readonly ZipEntry[], described: readonly ItemMetadata[]): ConfigArchive {
  const byName = new Map(described.map((metadata) => [entryName(metadata), metadata]))
  if (byName.size < described.length) throw new MetadataError('an item is described twice')
  const items: ArchiveItem[] = []
  const unrecognized: Unrecognized[] = []
  for (const entry of entries) {
    const { name } = entry
    const metadata = byName.get(name)
    if (metadata !== undefined) items.push({ metadata, entry })
    else unrecognized.push({ name, reason: isItemName(name) ? 'not-in-metadata' : 'bad-name' })
    byName.delete(name)
  }
  for (const name of byName.keys()) unrecognized.push({ name, reason: 'no-entry' })
  return { version: 2, items, unrecognized }
}

/** Layout 1: every entry of two parts is an item; another entry may name their applications. */
async function namedItems(
  entries: readonly ZipEntry[],
  metadata: ZipEntry | undefined,
): Promise<ConfigArchive> {
  const items: ArchiveItem[] = []
  const unrecognized: Unrecognized[] = []
  for (const entry of entries) {
    const { name } = entry
    const [group = '', dataId = ''] = name.split('/')
    if (isItemName(name)) items.push({ metadata: { group, dataId }, entry })
    else unrecognized.push({ name, reason: 'bad-name' })
  }
  if (metadata === undefined) return { version: 1, items, unrecognized }
  const wanted = new Set(items.map((item) => metaKey(item.metadata)))
  const apps = await parseMetaLines(await readText(metadata, MAX_METADATA_BYTES[1]), wanted)
  return { version: 1, items: items.map((item) => withApp(item, apps)), unrecognized }
}

function withApp(item: ArchiveItem, apps: ReadonlyMap<string, string>): ArchiveItem {
  const appName = apps.get(metaKey(item.metadata))
  return appName === undefined ? item : { ...item, metadata: { ...item.metadata, appName } }
}

function isItemName(name: string): boolean {
  const parts = name.split('/')
  return parts.length === 2 && parts.every((part) => part !== '')
}
