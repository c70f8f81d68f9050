import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs'
import { readWalFrames, type WalFrames } from './wal-frames.ts'

/** The size of a page in every file that we make. */
export const PAGE_BYTES = 8192
const FILE_HEADER = 'SQLite format 3\0'
/** Where the header keeps `user_version`, which is the format of the store. */
const FORMAT_AT = 60

/**
 * The pages of a database as the last commit left them, from the file and its log, read without SQLite: so a page can
 * be read when those around it are damaged. Nothing is written. The file stays open until `close`, because closing any
 * file descriptor lets go of the locks that this process has on the file.
 */
export class DatabaseFile {
  readonly #file: number
  readonly #walFile: number | undefined
  /** Bytes of the file itself. */
  readonly bytes: number
  readonly wal: WalFrames | undefined
  /** Whether the first page begins as a database of ours does. */
  readonly hasHeader: boolean
  /** The format that the file says it has; undefined where it has lost its header. */
  readonly format: number | undefined
  /** How many pages there should be. */
  readonly pageCount: number

  /** Opens the database at a path and the log beside it. Throws errors of the file system. */
  constructor(path: string) {
    this.#file = openSync(path, 'r')
    this.bytes = fstatSync(this.#file).size
    const walPath = `${path}-wal`
    this.#walFile = existsSync(walPath) ? openSync(walPath, 'r') : undefined
    this.wal = this.#walFile === undefined ? undefined : readWalFrames(this.#walFile, PAGE_BYTES)
    const first = this.page(1)
    this.hasHeader = first?.toString('latin1', 0, 16) === FILE_HEADER && first.readUInt16BE(16) === PAGE_BYTES
    this.format = this.hasHeader ? first?.readUInt32BE(FORMAT_AT) : undefined
    const pagesThere = Math.ceil(this.bytes / PAGE_BYTES)
    this.pageCount = this.wal?.pageCount ?? (this.hasHeader ? (first?.readUInt32BE(28) ?? 0) : pagesThere)
  }

  /** The bytes of a page, counted from 1; undefined where the file does not have all of it. */
  page(number: number): Buffer | undefined {
    const page = Buffer.allocUnsafe(PAGE_BYTES)
    const inLog = this.wal?.pages.get(number)
    if (inLog !== undefined && this.#walFile !== undefined) {
      return readSync(this.#walFile, page, 0, PAGE_BYTES, inLog) === PAGE_BYTES ? page : undefined
    }
    const at = (number - 1) * PAGE_BYTES
    return readSync(this.#file, page, 0, PAGE_BYTES, at) === PAGE_BYTES ? page : undefined
  }

  /** Lets the files go, and with them every lock of this process on them. */
  close(): void {
    closeSync(this.#file)
    if (this.#walFile !== undefined) closeSync(this.#walFile)
  }
}
