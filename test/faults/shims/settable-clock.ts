import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryDirectory } from '../../support/waypost.ts'
import { buildLibrary } from './build-shim.ts'

/** The time of day of a server, by a library that is preloaded into it. It needs gcc. */
export class SettableClock {
  /** The environment of the server. */
  readonly env: Record<string, string>
  readonly #fd: number

  constructor(offsetMs = 0) {
    const file = join(temporaryDirectory('clock-'), 'offset')
    this.#fd = openSync(file, 'w')
    this.env = { LD_PRELOAD: buildLibrary('clock'), CLOCK_OFFSET_FILE: file }
    this.set(offsetMs)
  }

  /** How far it is ahead of the true time, from now on. */
  set(offsetMs: number): void {
    const bytes = Buffer.alloc(8)
    bytes.writeBigInt64LE(BigInt(offsetMs) * 1_000_000n)
    writeSync(this.#fd, bytes, 0, bytes.length, 0)
  }

  close(): void {
    closeSync(this.#fd)
  }
}
