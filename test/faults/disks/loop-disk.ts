import { execFileSync } from 'node:child_process'
import { copyFileSync, constants, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { needTool } from '../../support/need-tool.ts'
import type { NeededTools } from '../../support/need-tool.ts'
import { buildProgram } from '../shims/build-shim.ts'
import type { CuttableDisk } from './cuttable-disk.ts'

const SIZE = '192M'
const STOP_LIMIT_MS = 10_000

/** The requirements of a loop device: its tools, root, and a kernel that gives one. */
export function needLoopDevice(): NeededTools {
  if (process.getuid?.() !== 0) return { skip: true, reason: 'a loop device needs root' }
  const tools = needTool('gcc', 'mkfs.ext4', 'losetup', 'mount')
  if (tools.skip) return tools
  try {
    run('losetup', '--find')
    return tools
  } catch {
    return { skip: true, reason: 'this machine gives no loop device' }
  }
}

/**
 * A real file system in an image of its own. The cut is the same as in the file system test suites: from one moment to
 * the next nothing reaches the image any more. A copy of the image is opened then: its journal is replayed
 * as after a real power cut.
 */
export class LoopDisk implements CuttableDisk {
  readonly env = {}
  readonly #directory: string
  readonly #cutPower = buildProgram('cut-power')
  #image: string
  #generation = 0
  #device: string | undefined
  /** A test that is cut off leaves no mount behind; its server may hold it for a moment still. */
  readonly #onExit = (): void => this.#unmount('--lazy')

  /** `directory`: an empty one for images and mount points. */
  constructor(directory: string) {
    this.#directory = directory
    mkdirSync(this.#mountPoint)
    this.#image = join(directory, 'disk-0')
    run('truncate', '-s', SIZE, this.#image)
    run('mkfs.ext4', '-q', '-m', '0', this.#image)
    process.once('exit', this.#onExit)
    this.#mount()
  }

  get dataDir(): string {
    return join(this.#mountPoint, 'data')
  }

  /**
   * The process is paused meanwhile: Linux may report success for an fsync that runs at that moment although its data is
   * lost (seen with a program of ten lines, once in forty cuts). After a real power cut no process sees that.
   */
  cut(pid: number): void {
    process.kill(pid, 'SIGSTOP')
    try {
      waitUntilStopped(pid)
      run(this.#cutPower, this.#mountPoint)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
  }

  turnOn(): void {
    this.#unmount()
    const copy = join(this.#directory, `disk-${++this.#generation}`)
    copyFileSync(this.#image, copy, constants.COPYFILE_FICLONE)
    rmSync(this.#image)
    this.#image = copy
    this.#mount()
  }

  close(): void {
    process.off('exit', this.#onExit)
    this.#unmount()
    rmSync(this.#image, { force: true })
  }

  get #mountPoint(): string {
    return join(this.#directory, 'mounted')
  }

  #mount(): void {
    this.#device = run('losetup', '--find', '--show', this.#image).trim()
    run('mount', '-t', 'ext4', this.#device, this.#mountPoint)
  }

  #unmount(...flags: string[]): void {
    if (this.#device === undefined) return
    try {
      run('umount', ...flags, this.#mountPoint)
    } finally {
      run('losetup', '--detach', this.#device)
      this.#device = undefined
    }
  }
}

/** Waits until no thread of the process is at work any more, not even within the kernel. */
function waitUntilStopped(pid: number): void {
  const end = performance.now() + STOP_LIMIT_MS
  const isStopped = (thread: string): boolean =>
    /\) [tT] /.test(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8'))
  while (!readdirSync(`/proc/${pid}/task`).every(isStopped))
    if (performance.now() > end) throw new Error(`process ${pid} does not stop`)
}

/** The tools stand where the path of a plain process may not look. */
function run(command: string, ...args: string[]): string {
  const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` }
  return execFileSync(command, args, { encoding: 'utf8', env, stdio: ['ignore', 'pipe', 'pipe'] })
}
