import { readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import type { ItemMetadata } from '../../../../archive/config-metadata.ts'
import { parseMetadata } from '../../../../archive/metadata-reader.ts'
import { UsageError } from '../../../command-line.ts'
import { type ItemName, md5Of, nameText, textOf } from '../item.ts'
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
export async function sourceItems(directory: string, defaultGroup: string): Promise<SourceItem[]> {
  const metadata = await metadataIn(directory)
  const problems: string[] = []
  const items: SourceItem[] = []
  for (const { name, file } of filesOf(directory, defaultGroup, problems)) {
    const content = textOf(readFileSync(file), file)
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

async function metadataIn(directory: string): Promise<ReadonlyMap<string, ItemMetadata>> {
  let text: string
  try {
    text = readFileSync(join(directory, METADATA_FILE), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
    throw error
  }
  try {
    return new Map((await parseMetadata(text)).map((item) => [nameText(item), item]))
  } catch (cause) {
    throw new UsageError(`${join(directory, METADATA_FILE)}: ${(cause as Error).message}`, { cause })
  }
}

interface SourceFile {
  readonly name: ItemName
  readonly file: string
}

function* filesOf(directory: string, group: string, problems: string[]): Generator<SourceFile> {
  for (const entry of namesIn(directory)) {
    const path = join(directory, entry)
    if (!statSync(path).isDirectory()) {
      yield { name: { group, dataId: entry }, file: path }
      continue
    }
    for (const dataId of namesIn(path)) {
      const file = join(path, dataId)
      if (statSync(file).isDirectory()) problems.push(`${file} is a directory: items are DIR/GROUP/DATA_ID.`)
      else yield { name: { group: entry, dataId }, file }
    }
  }
}

function namesIn(directory: string): string[] {
  return readdirSync(directory)
    .filter((name) => !name.startsWith('.'))
    .sort()
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
