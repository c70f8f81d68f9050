import { extname, join } from 'node:path'
import type { ItemMetadata } from '../../../../archive/config-metadata.ts'
import { parseMetadata } from '../../../../archive/metadata-reader.ts'
import { UsageError } from '../../../command-line.ts'
import { type ItemName, md5Of, nameText, textOf } from '../item.ts'
import { bytesOfEntry, NamedDirectory } from './named-directory.ts'
import { SETS_GROUP } from './set-record.ts'

/** An item as the directory has it. */
export interface SourceItem extends ItemName {
  readonly content: string
  readonly md5: string
  /** Its metadata in `.metadata.yml`; undefined without an entry: then no metadata is changed. */
  readonly metadata: ItemMetadata | undefined
}

const METADATA_FILE = '.metadata.yml'

/**
 * The items of a directory in the layout of an export, by their names: `DIR/GROUP/DATA_ID`, and `DIR/DATA_ID` in the default
 * group. Reads `.metadata.yml`, skips other names with a dot first. Throws UsageError with all problems.
 */
export async function sourceItems(path: string, defaultGroup: string): Promise<SourceItem[]> {
  const directory = new NamedDirectory(path)
  const metadata = await metadataIn(directory)
  const problems: string[] = []
  const items: SourceItem[] = []
  for (const { name, file, path: end } of filesOf(directory, defaultGroup, problems)) {
    const content = textOf(bytesOfEntry(end), file)
    if (!/\S/.test(content)) problems.push(`${file} is blank: the server stores no blank content.`)
    if (name.group === SETS_GROUP)
      problems.push(`${file}: the group ${SETS_GROUP} is for the records of sets.`)
    items.push({ ...name, content, md5: md5Of(content), metadata: metadata.get(nameText(name)) })
  }
  const seen = new Set<string>()
  for (const name of items.map(nameText)) {
    if (seen.has(name)) problems.push(`${name} is there twice.`)
    seen.add(name)
  }
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return items
}

async function metadataIn(directory: NamedDirectory): Promise<ReadonlyMap<string, ItemMetadata>> {
  const file = join(directory.path, METADATA_FILE)
  const entry = directory.entry(METADATA_FILE)
  if (entry.kind === 'absent') return new Map()
  if (entry.kind !== 'file')
    throw new UsageError(entry.kind === 'refused' ? entry.why : `${file} is a directory, and not a file.`)
  const text = bytesOfEntry(entry.path).toString()
  try {
    return new Map((await parseMetadata(text)).map((item) => [nameText(item), item]))
  } catch (cause) {
    throw new UsageError(`${file}: ${(cause as Error).message}`, { cause })
  }
}

interface SourceFile {
  readonly name: ItemName
  /** As the user knows it. */
  readonly file: string
  /** Where it is. */
  readonly path: string
}

function* filesOf(directory: NamedDirectory, group: string, problems: string[]): Generator<SourceFile> {
  for (const name of directory.names()) {
    const entry = directory.entry(name)
    if (entry.kind === 'directory') yield* filesOfGroup(directory, name, problems)
    else if (entry.kind === 'refused') problems.push(entry.why)
    else if (entry.kind === 'file')
      yield { name: { group, dataId: name }, file: join(directory.path, name), path: entry.path }
  }
}

function* filesOfGroup(directory: NamedDirectory, group: string, problems: string[]): Generator<SourceFile> {
  for (const dataId of directory.names(group)) {
    const name = join(group, dataId)
    const file = join(directory.path, name)
    const entry = directory.entry(name)
    if (entry.kind === 'directory') problems.push(`${file} is a directory: items are DIR/GROUP/DATA_ID.`)
    else if (entry.kind === 'refused') problems.push(entry.why)
    else if (entry.kind === 'file') yield { name: { group, dataId }, file, path: entry.path }
  }
}

const TYPES: Readonly<Record<string, string>> = {
  '.yaml': 'yaml',
  '.yml': 'yaml',
  '.json': 'json',
  '.properties': 'properties',
  '.xml': 'xml',
  '.html': 'html',
  '.toml': 'toml',
}

/** The type of a new item without a type, by the end of its name. */
export function typeByName(dataId: string): string {
  return TYPES[extname(dataId).toLowerCase()] ?? 'text'
}
