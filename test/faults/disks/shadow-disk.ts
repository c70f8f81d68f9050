import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { buildLibrary } from '../shims/build-shim.ts'
import type { CuttableDisk } from './cuttable-disk.ts'

/**
 * A layer of our own under the server that keeps aside only what was synced, and of the rest some writes that a disk
 * may have made early, torn at a sector. So it is stricter than a real file system, and needs no root.
 */
export class ShadowDisk implements CuttableDisk {
  readonly #directory: string
  readonly #library = buildLibrary('disk')
  readonly #earlyPercent: number
  #generation = 0
  #left: string | undefined

  /** `directory`: an empty one; of 100 writes `earlyPercent` reach the disk unsynced. */
  constructor(directory: string, earlyPercent: number) {
    this.#directory = directory
    this.#earlyPercent = earlyPercent
    this.#make()
  }

  get dataDir(): string {
    return join(this.#directory, `data-${this.#generation}`)
  }

  get env(): Record<string, string> {
    return {
      LD_PRELOAD: this.#library,
      DISK_WATCH: this.dataDir,
      DISK_SHADOW: this.#shadow,
      DISK_EARLY: String(this.#earlyPercent),
    }
  }

  /** Nothing to do, the server does not notice: a shadow holds at any time what a cut would leave. */
  cut(): void {}

  turnOn(): void {
    this.#left = this.#shadow
    this.#generation++
    this.#make()
  }

  close(): void {}

  get #shadow(): string {
    return join(this.#directory, `synced-${this.#generation}`)
  }

  #make(): void {
    mkdirSync(this.dataDir)
    mkdirSync(this.#shadow)
    if (this.#left === undefined) return
    cpSync(this.#left, this.dataDir, { recursive: true })
    cpSync(this.#left, this.#shadow, { recursive: true })
  }
}
