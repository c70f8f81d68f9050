import { isUtf8 } from 'node:buffer'
import {
  type ItemMetadata,
  METADATA_HEAD,
  metadataText,
  MetadataError,
  metaKey,
  metaLine,
  parseMetadata,
  parseMetaLines,
} from './config-metadata.ts'
import { badZip, shownName, zipTooLarge } from './zip-format.ts'
import type { ZipEntry } from './zip-reader.ts'
import type { ZipFile } from './zip-writer.ts'

/** The two layouts of an export: 1 tells of an item only its application, 2 its type and description as well. */
export type ArchiveVersion = 1 | 2

/** The entry that holds the metadata of each layout. */
const METADATA_NAME = { 1: '.meta.yml', 2: '.metadata.yml' } as const

/** The most bytes of metadata: a few hundred for each item of the largest archive. */
const MAX_METADATA_BYTES = 32 * 1024 * 1024

/** An item to export. */
export interface ArchivedConfig {
  readonly metadata: ItemMetadata
  readonly content: Buffer
  readonly modifiedMs: number
}

/** The files of an export: `<group>/<dataId>` for each item, and what is said about them last. */
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

/** How an item is called in the zip. */
export function entryName({ group, dataId }: { group: string; dataId: string }): string {
  return `${group}/${dataId}`
}

/** An item of an archive, not unpacked yet. */
export interface ArchiveItem {
  readonly metadata: ItemMetadata
  readonly entry: ZipEntry
}

/** What an archive holds: items, and the names of what is none or has no content. */
export interface ConfigArchive {
  readonly version: ArchiveVersion
  readonly items: readonly ArchiveItem[]
  readonly unrecognized: readonly string[]
}

/** The content of an entry, which can be published: UTF-8 and not blank. Rejects with Refusal `malformed-request`. */
export async function readContent(entry: ZipEntry): Promise<Buffer> {
  const content = await entry.read()
  if (!isUtf8(content)) throw badZip(`has a content that is not UTF-8 in ${shownName(entry.name)}`)
  if (!/\S/.test(content.toString('utf8'))) throw badZip(`has a blank content in ${shownName(entry.name)}`)
  return content
}

/** Takes apart the entries of an export. Rejects with MetadataError, or Refusal for a damaged or too large entry. */
export async function readArchive(entries: readonly ZipEntry[]): Promise<ConfigArchive> {
  const ofVersion2 = entries.find(({ name }) => name === METADATA_NAME[2])
  const ofVersion1 = entries.find(({ name }) => name === METADATA_NAME[1])
  const contents = entries.filter((entry) => entry !== ofVersion1 && entry !== ofVersion2)
  if (ofVersion2 !== undefined)
    return describedItems(contents, await parseMetadata(await readText(ofVersion2)))
  const apps =
    ofVersion1 === undefined ? new Map<string, string>() : parseMetaLines(await readText(ofVersion1))
  return namedItems(contents, apps)
}

async function readText(entry: ZipEntry): Promise<string> {
  if (entry.bytes > MAX_METADATA_BYTES)
    throw zipTooLarge(`has ${entry.bytes} bytes of metadata`, `at most ${MAX_METADATA_BYTES} bytes`)
  const bytes = await entry.read()
  if (!isUtf8(bytes)) throw badZip(`has metadata (${entry.name}) that is not UTF-8`)
  return bytes.toString('utf8')
}

/** Layout 2: what has metadata and a content. */
function describedItems(entries: readonly ZipEntry[], described: readonly ItemMetadata[]): ConfigArchive {
  const byName = new Map(described.map((metadata) => [entryName(metadata), metadata]))
  if (byName.size < described.length) throw new MetadataError('an item is described twice')
  const items: ArchiveItem[] = []
  const unrecognized: string[] = []
  for (const entry of entries) {
    const metadata = byName.get(entry.name)
    if (metadata === undefined) unrecognized.push(entry.name)
    else items.push({ metadata, entry })
    byName.delete(entry.name)
  }
  return { version: 2, items, unrecognized: [...unrecognized, ...byName.keys()] }
}

/** Layout 1: every entry of two parts is an item. */
function namedItems(entries: readonly ZipEntry[], apps: ReadonlyMap<string, string>): ConfigArchive {
  const items: ArchiveItem[] = []
  const unrecognized: string[] = []
  for (const entry of entries) {
    const [group, dataId, ...more] = entry.name.split('/')
    if (!group || !dataId || more.length > 0) unrecognized.push(entry.name)
    else items.push({ metadata: withApp({ group, dataId }, apps), entry })
  }
  return { version: 1, items, unrecognized }
}

function withApp(key: { group: string; dataId: string }, apps: ReadonlyMap<string, string>): ItemMetadata {
  const appName = apps.get(metaKey(key))
  return appName === undefined ? key : { ...key, appName }
}
