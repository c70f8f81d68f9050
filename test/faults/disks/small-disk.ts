import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { rmSync, statfsSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { needTool } from '../../support/need-tool.ts'
import type { NeededTools } from '../../support/need-tool.ts'

/** The requirements of a small file system of one's own. */
export function needSmallDisk(): NeededTools {
  if (process.getuid?.() !== 0) return { skip: true, reason: 'to mount a file system needs root' }
  return needTool('mount')
}

/** A file system in memory that is soon full. */
export class SmallDisk {
  readonly directory: string
  /** A test that is cut off leaves no mount behind. */
  readonly #onExit = (): void => this.close()

  /** Mounts it on an empty directory. */
  constructor(directory: string, megabytes: number) {
    this.directory = directory
    process.once('exit', this.#onExit)
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'waypost-test', directory])
  }

  /** Fills the disk except for this number of bytes; `file`: with a file of the caller. */
  fillUpTo(freeBytes: number, file = this.#ballast): void {
    const { bavail, bsize } = statfsSync(this.directory)
    try {
      writeFileSync(file, Buffer.alloc(Math.max(bavail * bsize - freeBytes, 0)))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      // A server has written meanwhile.
      truncateSync(file, Math.max(statSync(file).size - freeBytes, 0))
    }
  }

  /** Frees the space again. */
  free(): void {
    rmSync(this.#ballast)
  }

  setReadOnly(isReadOnly: boolean): void {
    execFileSync('mount', ['-o', `remount,${isReadOnly ? 'ro' : 'rw'}`, this.directory])
  }

  close(): void {
    process.off('exit', this.#onExit)
    execFileSync('umount', ['--lazy', this.directory])
  }

  get #ballast(): string {
    return join(this.directory, 'ballast')
  }
}
