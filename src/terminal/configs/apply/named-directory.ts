import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { isUtf8 } from 'node:buffer'
import { basename, join, relative, sep } from 'node:path'
import { nameOfBytes } from '../../../archive/entry-names.ts'
import { DiffersError, UsageError } from '../../../command/command-line.ts'

/** An entry of a directory, or the reason why nothing is read there. */
export type Entry =
  | { readonly kind: 'file' | 'directory'; readonly path: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'refused'; readonly why: string }

/**
 * A directory that the user names. Others may have written its entries, such as the branch of a repository. So only plain
 * files and directories inside it are read, and nothing is waited for. The name itself may be a link.
 */
export class NamedDirectory {
  readonly path: string
  readonly #root: string

  /** Throws DiffersError where there is no directory. */
  constructor(path: string, end = path) {
    this.path = path
    const facts = statSync(end, { throwIfNoEntry: false })
    if (facts === undefined) throw new DiffersError(`${path} does not exist. Check the name.`)
    if (!facts.isDirectory()) throw new DiffersError(`${path} is no directory: items are DIR/GROUP/DATA_ID.`)
    this.#root = realpathSync(end)
  }

  /** A directory of it by its name, as a place of its own: nothing outside of that is read. */
  inside(name: string): NamedDirectory {
    const entry = this.entry(name)
    if (entry.kind !== 'directory') throw new UsageError(`${join(this.path, name)} is no directory any more.`)
    return new NamedDirectory(join(this.path, name), entry.path)
  }

  /** The names in it, or in a directory of it, in order. Those names that are not UTF-8 are apart. */
  names(directory = ''): string[] {
    return this.#bytesOfNames(directory)
      .filter((name) => isUtf8(name))
      .map(String)
      .sort()
  }

  /** The names that are not UTF-8, as text. They may mean an item that the server has. */
  namesNotUtf8(directory = ''): string[] {
    return this.#bytesOfNames(directory)
      .filter((name) => !isUtf8(name))
      .map(nameOfBytes)
      .sort()
  }

  #bytesOfNames(directory: string): Buffer[] {
    return readdirSync(join(this.#root, directory), 'buffer')
  }

  /** The entry with this name: a link counts as its end, if its end is inside. */
  entry(name: string): Entry {
    const path = join(this.#root, name)
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { kind: 'absent' }
    const end = endOf(path)
    if (end === undefined) return this.#refused(name, 'is a link to nothing')
    if (end !== path && !this.#isReadable(end, basename(name)))
      return this.#refused(
        name,
        `leads to ${end}: a link counts only if it ends in ${this.path}, and not in a hidden directory`,
      )
    const facts = statSync(end)
    if (facts.isFile()) return { kind: 'file', path: end }
    if (facts.isDirectory()) return { kind: 'directory', path: end }
    return this.#refused(name, 'is neither a file nor a directory')
  }

  /** Kubernetes keeps the files of a volume in a directory with two dots first, and links to it. */
  #isReadable(end: string, wanted: string): boolean {
    const names = relative(this.#root, end).split(sep)
    const isShown = (name: string): boolean => !isHidden(name) || /^\.\.[^.]/.test(name) || name === wanted
    return names[0] !== '..' && names.every(isShown)
  }

  #refused(name: string, why: string): Entry {
    return { kind: 'refused', why: `${join(this.path, name)} ${why}.` }
  }
}

function isHidden(name: string): boolean {
  return name.startsWith('.')
}

function endOf(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}

const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants

/** The bytes of an entry that is a file. Throws UsageError where something else is there meanwhile. */
export function bytesOfEntry(path: string): Buffer {
  const file = openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
  try {
    if (!fstatSync(file).isFile()) throw new UsageError(`${path} is no plain file any more.`)
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}
