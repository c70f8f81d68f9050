import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import { CaseTwins } from '../../../archive/case-twins.ts'
import type { ItemMetadata } from '../../../archive/config-metadata.ts'
import {
  areItemNames,
  entryName,
  isMetadataName,
  itemMeant,
  nameOfFile,
  SETS_GROUP,
} from '../../../archive/entry-names.ts'
import { isLitterName } from '../../../archive/litter.ts'
import { UsageError } from '../../../command/command-line.ts'
import { type ItemName, md5Of, nameText } from '../item.ts'
import { type Descriptions, descriptionsIn } from './descriptions.ts'
import { itemFaults } from './item-faults.ts'
import { bytesOfEntry, NamedDirectory } from './named-directory.ts'

/** An item as the directory has it. */
export interface SourceItem extends ItemName {
  readonly content: string
  readonly md5: string
  /** Its metadata in the directory; undefined without a description: then no metadata is changed. */
  readonly metadata: ItemMetadata | undefined
}

/** A name in the directory that is no item. */
export interface NoItem {
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
  readonly leftOut: readonly NoItem[]
  /** The items whose files have their names in another form of Unicode. */
  readonly readAs: readonly ItemName[]
  /** The items that all names in the directory may mean, also names that are left out: see `composedText`. */
  readonly candidates: ReadonlySet<string>
}

/** The name of an item, the same for each form of Unicode. */
export function composedText(name: ItemName): string {
  return nameText(name).normalize('NFC')
}

/**
 * The items of a directory in the layout of an export, by their names: `DIR/GROUP/DATA_ID`, and `DIR/DATA_ID` in the default
 * group. Names with a dot first are items in a group, on top only where metadata describes them. Throws UsageError with all
 * problems.
 */
export async function sourceItems(path: string, defaultGroup: string): Promise<Source> {
  const top = new NamedDirectory(path)
  const folder = folderOnTop(top)
  const directory = folder === undefined ? top : top.inside(folder)
  const candidates = candidatesIn(directory, defaultGroup)
  const descriptions = await descriptionsIn(directory, candidates)
  const files = new FoundFiles(directory, descriptions, new Set(candidates.map(nameText)))
  files.findIn(defaultGroup)
  if (folder !== undefined) files.leaveOutNotUtf8(top)
  files.leaveOutDescribed(await CaseTwins.of(candidates.map(nameText)))
  const { problems, leftOut, found } = files
  const items = found.flatMap((one) => itemOf(one, { descriptions, problems }))
  const seen = new Set<string>()
  for (const name of items.map(nameText)) {
    if (seen.has(name)) problems.push(`${name} is there twice.`)
    seen.add(name)
  }
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  const readAs = found.filter(({ isReadAs }) => isReadAs).map(({ name }) => name)
  return { folder, items, leftOut, readAs, candidates: new Set(candidates.map(composedText)) }
}

/** The item of a file; none for a content that no server stores. Adds to the problems. */
function itemOf(
  { name, file, path }: SourceFile,
  { descriptions, problems }: { readonly descriptions: Descriptions; readonly problems: string[] },
): SourceItem[] {
  problems.push(...itemFaults(name, descriptions))
  const bytes = bytesOfEntry(path)
  const content = bytes.toString()
  if (!isUtf8(bytes)) problems.push(`${file} is not UTF-8: the server stores text only.`)
  else if (!/\S/.test(content)) problems.push(`${file} is blank: the server stores no blank content.`)
  else return [{ ...name, content, md5: md5Of(content), metadata: descriptions.items.get(entryName(name)) }]
  return []
}

/** The only folder of a directory, if it is no group: with metadata on top of it, or with directories alone. */
function folderOnTop(directory: NamedDirectory): string | undefined {
  const top = directory.names()
  const [folder, ...others] = top.filter(isShown)
  if (folder === undefined || others.length > 0 || top.some(isMetadataName)) return undefined
  if (directory.entry(folder).kind !== 'directory') return undefined
  const names = directory.names(folder)
  const isDirectory = (name: string): boolean => directory.entry(join(folder, name)).kind === 'directory'
  const shown = names.filter(isShown)
  if (names.some(isMetadataName)) return shown.some(isDirectory) ? folder : undefined
  return shown.length > 0 && shown.every(isDirectory) ? folder : undefined
}

function isShown(name: string): boolean {
  return !name.startsWith('.') && !isLitterName(name)
}

/** The items that the names in a directory may mean. */
function candidatesIn(directory: NamedDirectory, defaultGroup: string): ItemName[] {
  return directory.names().flatMap((name) => {
    const group = nameOfFile(name)
    if (directory.entry(name).kind !== 'directory') return [{ group: defaultGroup, dataId: group }]
    return namesInside(directory, name).map((inside) => ({ group, dataId: nameOfFile(inside) }))
  })
}

/** A directory that nobody may read, such as `lost+found`, has no item. */
function namesInside(directory: NamedDirectory, name: string): string[] {
  try {
    return directory.names(name)
  } catch {
    return []
  }
}

interface SourceFile {
  readonly name: ItemName
  /** As the user knows it. */
  readonly file: string
  /** Where it is. */
  readonly path: string
  /** Whether its name is in another form of Unicode. */
  readonly isReadAs: boolean
}

/** Looks for the files of items. */
class FoundFiles {
  readonly found: SourceFile[] = []
  readonly problems: string[] = []
  readonly leftOut: NoItem[] = []
  readonly #directory: NamedDirectory
  /** Described items are items whatever they look like. */
  readonly #descriptions: Descriptions
  readonly #describedGroups: ReadonlySet<string>
  readonly #written: ReadonlySet<string>

  constructor(directory: NamedDirectory, descriptions: Descriptions, written: ReadonlySet<string>) {
    this.#directory = directory
    this.#descriptions = descriptions
    this.#written = written
    this.#describedGroups = new Set(
      [...descriptions.items.values()].map(({ group }) => group.normalize('NFC')),
    )
  }

  findIn(defaultGroup: string): void {
    this.leaveOutNotUtf8(this.#directory)
    for (const name of this.#directory.names()) {
      const group = nameOfFile(name).normalize('NFC')
      if (name === this.#descriptions.file) continue
      if (isShown(name) || this.#describedGroups.has(group)) this.#addTop(name, defaultGroup)
      else if (isMetadataName(name)) this.#leaveOut(name, `only ${this.#descriptions.file} is read`)
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
      const names = { group, dataId: nameOfFile(name) }
      const item = this.#meantBy(names)
      const path = join(directory, name)
      const isDescribed = this.#isDescribed(item)
      if (isLitterName(name) && !isDescribed) continue
      if (isMetadataName(name) && !isDescribed) this.#leaveOut(path, 'metadata belongs on top')
      // Another name is a fault, which a visible file shows in time.
      else if (name.startsWith('.') && !areItemNames(item)) this.#leaveOut(path, 'no data id')
      else this.#add(path, names)
    }
  }

  #isDescribed(names: ItemName): boolean {
    return this.#descriptions.items.has(entryName(names))
  }

  #meantBy(names: ItemName): ItemName {
    return itemMeant(names, {
      isDescribed: (one) => this.#isDescribed(one),
      isWritten: (one) => this.#written.has(nameText(one)),
    })
  }

  #add(path: string, names: ItemName): void {
    const file = join(this.#directory.path, path)
    const entry = this.#directory.entry(path)
    const name = this.#meantBy(names)
    const isReadAs = nameText(name) !== nameText(names)
    if (entry.kind === 'refused') this.problems.push(entry.why)
    else if (entry.kind === 'file') this.found.push({ name, file, path: entry.path, isReadAs })
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

  /** Leaves out the descriptions without a file. One that has a twin by case is a problem. */
  leaveOutDescribed(twins: CaseTwins): void {
    const found = new Set(this.found.map(({ name }) => entryName(name)))
    for (const [path, item] of this.#descriptions.items) {
      if (found.has(path) || item.group === SETS_GROUP) continue
      this.#leaveOut(path, 'in the metadata, but not in the directory')
      twins.check(nameText(item))
    }
    if (twins.fault !== undefined) this.problems.push(`${this.#descriptions.file}: ${twins.fault}.`)
  }

  #leaveOut(name: string, why: string): void {
    this.leftOut.push({ name, why })
  }
}
