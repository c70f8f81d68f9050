import { join } from 'node:path'
import type { ItemMetadata } from '../../../archive/config-metadata.ts'
import {
  areItemNames,
  isMetadataName,
  METADATA_NAME,
  nameOfFile,
  SETS_GROUP,
} from '../../../archive/entry-names.ts'
import { isLitterName } from '../../../archive/litter.ts'
import { parseMetadata } from '../../../archive/metadata-reader.ts'
import { UsageError } from '../../../command/command-line.ts'
import { type ItemName, md5Of, nameText, textOf } from '../item.ts'
import { itemFaults } from './item-faults.ts'
import { bytesOfEntry, NamedDirectory } from './named-directory.ts'

/** An item as the directory has it. */
export interface SourceItem extends ItemName {
  readonly content: string
  readonly md5: string
  /** Its metadata in `.metadata.yml`; undefined without an entry: then no metadata is changed. */
  readonly metadata: ItemMetadata | undefined
}

/** A name in the directory that is no item. */
export interface LeftOut {
  readonly name: string
  readonly why: string
  /** Whether it may be an item that the server has under another name. */
  readonly isUnclear?: boolean
}

/** The content of a directory. Files of operating systems and editors are not in it. */
export interface Source {
  /** The common folder on top, which was taken off; undefined: none was. */
  readonly folder: string | undefined
  readonly items: readonly SourceItem[]
  readonly leftOut: readonly LeftOut[]
}

const METADATA_FILE = METADATA_NAME[2]

/**
 * The items of a directory in the layout of an export, by their names: `DIR/GROUP/DATA_ID`, and `DIR/DATA_ID` in the default
 * group. Names with a dot first are items in a group, on top only where `.metadata.yml` describes them. Throws UsageError
 * with all problems.
 */
export async function sourceItems(path: string, defaultGroup: string): Promise<Source> {
  const top = new NamedDirectory(path)
  const folder = folderOnTop(top)
  const directory = folder === undefined ? top : top.inside(folder)
  const metadata = await metadataIn(directory)
  const files = new FoundFiles(directory, new Set([...metadata.values()].map(nameText)))
  files.findIn(defaultGroup)
  if (folder !== undefined) files.leaveOutNotUtf8(top)
  const { problems, leftOut } = files
  const items = files.found.map(({ name, file, path: end }) => {
    const content = textOf(bytesOfEntry(end), file)
    if (!/\S/.test(content)) problems.push(`${file} is blank: the server stores no blank content.`)
    const described = metadata.get(nameText(name))
    problems.push(...itemFaults(name, described))
    return { ...name, content, md5: md5Of(content), metadata: described }
  })
  const seen = new Set<string>()
  for (const name of items.map(nameText)) {
    if (seen.has(name)) problems.push(`${name} is there twice.`)
    seen.add(name)
  }
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  return { folder, items, leftOut }
}

/** The only folder of a directory, if it is no group: with metadata on top of it, or with directories alone. */
function folderOnTop(directory: NamedDirectory): string | undefined {
  const [folder, ...others] = directory.names().filter(isShown)
  if (folder === undefined || others.length > 0) return undefined
  if (directory.entry(METADATA_FILE).kind !== 'absent' || directory.entry(folder).kind !== 'directory')
    return undefined
  const names = directory.names(folder)
  const isDirectory = (name: string): boolean => directory.entry(join(folder, name)).kind === 'directory'
  const shown = names.filter(isShown)
  if (names.includes(METADATA_FILE)) return shown.some(isDirectory) ? folder : undefined
  return shown.length > 0 && shown.every(isDirectory) ? folder : undefined
}

function isShown(name: string): boolean {
  return !name.startsWith('.') && !isLitterName(name)
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

/** Looks for the files of items. */
class FoundFiles {
  readonly found: SourceFile[] = []
  readonly problems: string[] = []
  readonly leftOut: LeftOut[] = []
  readonly #directory: NamedDirectory
  /** The names of the described items: they are items whatever they look like. */
  readonly #described: ReadonlySet<string>
  readonly #describedGroups: ReadonlySet<string>

  constructor(directory: NamedDirectory, described: ReadonlySet<string>) {
    this.#directory = directory
    this.#described = described
    this.#describedGroups = new Set([...described].map((name) => name.slice(0, name.indexOf('/'))))
  }

  findIn(defaultGroup: string): void {
    this.leaveOutNotUtf8(this.#directory)
    for (const name of this.#directory.names()) {
      const group = nameOfFile(name)
      if (name === METADATA_FILE) continue
      if (isShown(name) || this.#describedGroups.has(group)) this.#addTop(name, defaultGroup)
      else if (name === METADATA_NAME[1]) this.#leaveOut(name, `only ${METADATA_FILE} is read`)
      // A volume of Kubernetes has such names beside its items.
      else if (!name.startsWith('..') && !isLitterName(name)) this.#leaveOut(name, 'hidden')
    }
  }

  #addTop(name: string, defaultGroup: string): void {
    const entry = this.#directory.entry(name)
    if (entry.kind === 'directory') this.#addGroup(name)
    else this.#add(name, { group: defaultGroup, dataId: nameOfFile(name) })
  }

  #addGroup(directory: string): void {
    const group = nameOfFile(directory)
    if (group === SETS_GROUP) return this.#leaveOut(directory, 'records of sets stay in their namespace')
    this.leaveOutNotUtf8(this.#directory, directory)
    for (const name of this.#directory.names(directory)) {
      const item = { group, dataId: nameOfFile(name) }
      const path = join(directory, name)
      const isDescribed = this.#described.has(nameText(item))
      if (isLitterName(name) && !isDescribed) continue
      if (isMetadataName(name) && !isDescribed) this.#leaveOut(path, 'metadata belongs on top')
      // Another name is a fault, which a visible file shows in time.
      else if (name.startsWith('.') && !areItemNames(item)) this.#leaveOut(path, 'no data id')
      else this.#add(path, item)
    }
  }

  #add(path: string, name: ItemName): void {
    const file = join(this.#directory.path, path)
    const entry = this.#directory.entry(path)
    if (entry.kind === 'refused') this.problems.push(entry.why)
    else if (entry.kind === 'file') this.found.push({ name, file, path: entry.path })
    else if (entry.kind === 'directory') this.#addDirectory(path, file, name)
  }

  /** A directory in a group. A hidden one is no item; another one may be a mistake. */
  #addDirectory(path: string, file: string, { dataId }: ItemName): void {
    if (dataId.startsWith('..')) return
    if (dataId.startsWith('.')) this.#leaveOut(path, 'a hidden directory')
    else this.problems.push(`${file} is a directory: items are DIR/GROUP/DATA_ID.`)
  }

  /** Leaves out the names in a directory, or in a directory of it, that are not UTF-8. */
  leaveOutNotUtf8(directory: NamedDirectory, path = ''): void {
    for (const name of directory.namesNotUtf8(path))
      this.leftOut.push({ name: join(path, name), why: 'the name is not UTF-8', isUnclear: true })
  }

  #leaveOut(name: string, why: string): void {
    this.leftOut.push({ name, why })
  }
}
