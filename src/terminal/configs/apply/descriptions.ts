import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import { byPath, type ItemMetadata, namedIn } from '../../../archive/config-metadata.ts'
import { METADATA_NAME } from '../../../archive/entry-names.ts'
import { parseMetadata } from '../../../archive/metadata-reader.ts'
import { UsageError } from '../../../command/command-line.ts'
import type { ItemName } from '../item.ts'
import { bytesOfEntry, type NamedDirectory } from './named-directory.ts'

/** The metadata of items by their `entryName`, and the name of its file; undefined: there is none. */
export interface Descriptions {
  readonly file: string | undefined
  readonly items: ReadonlyMap<string, ItemMetadata>
}

/**
 * The descriptions of items in a directory, of either layout. The first layout has no list of its items: a line counts if
 * it names one of `candidates`. Throws UsageError for metadata with a fault.
 */
export async function descriptionsIn(
  directory: NamedDirectory,
  candidates: readonly ItemName[],
): Promise<Descriptions> {
  const [first, second] = [fileCalled(directory, METADATA_NAME[1]), fileCalled(directory, METADATA_NAME[2])]
  const file = second ?? first
  if (file === undefined) return { file, items: new Map() }
  const text = textOf(directory, file)
  try {
    const described = second === undefined ? await namedIn(text, candidates) : await parseMetadata(text)
    return { file, items: byPath(described) }
  } catch (cause) {
    throw new UsageError(`${join(directory.path, file)}: ${(cause as Error).message}`, { cause })
  }
}

/** The file on top with this name, in any case. */
function fileCalled(directory: NamedDirectory, wanted: string): string | undefined {
  const names = directory.names().filter((name) => name.toLowerCase() === wanted)
  return names.includes(wanted) ? wanted : names[0]
}

function textOf(directory: NamedDirectory, name: string): string {
  const file = join(directory.path, name)
  const entry = directory.entry(name)
  if (entry.kind === 'refused') throw new UsageError(entry.why)
  if (entry.kind !== 'file') throw new UsageError(`${file} is a directory, and not a file.`)
  const bytes = bytesOfEntry(entry.path)
  if (!isUtf8(bytes)) throw new UsageError(`${file} is not UTF-8.`)
  return bytes.toString()
}
