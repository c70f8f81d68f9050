import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { BackupFacts } from './backup-facts.ts'
import type { CopyJob, FromCopier, ToCopier } from './copier-messages.ts'

/** Who hears of a copy. */
export interface CopyListener {
  onProgress(step: string, done: number, total: number): void
  /** The file has been read; resolves with whether it was left alone all that time. */
  onCopied(): Promise<boolean>
}

/** As the store's worker: where this module runs as TypeScript (in tests), the process is the one in `dist/`. */
function copierPath(): string {
  const here = import.meta.url
  return fileURLToPath(
    here.endsWith('.ts')
      ? new URL('../../../../dist/store/embedded/backup/copier.js', here)
      : new URL('./copier.js', here),
  )
}

/** One copy, in a process of its own. Nothing is left behind where it fails. */
export class CopierProcess {
  readonly #child: ChildProcess
  #stderr = ''
  #abort: (why: string) => void = () => {}

  constructor() {
    this.#child = fork(copierPath(), [], { execArgv: [], stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-2_000)
    })
  }

  /** Does the copy; gives the facts of the backup. Throws an Error that says why there is none. */
  copy(job: CopyJob, listener: CopyListener): Promise<BackupFacts> {
    return new Promise((resolve, reject) => {
      const fail = (why: string) => {
        this.stop()
        reject(new Error(why))
      }
      this.#abort = fail
      this.#child.on('message', (message: FromCopier) => {
        if (message.kind === 'progress') listener.onProgress(message.step, message.done, message.total)
        else if (message.kind === 'done') {
          this.stop()
          resolve(message.facts)
        } else if (message.kind === 'failed') fail(message.message)
        else
          listener
            .onCopied()
            .then((sound) => (sound ? this.#send({ kind: 'left-alone' }) : fail(CHANGED)), fail)
      })
      this.#child.once('error', (error) => fail(error.message))
      this.#child.once('exit', () =>
        fail(`the process that copies has ended${this.#stderr && `: ${this.#stderr}`}`),
      )
      this.#send({ kind: 'copy', job })
    })
  }

  /** Has the copy fail, whether or not the process can still be reached. */
  abort(why: string): void {
    this.#abort(why)
  }

  /** Ends the process; it takes what it has not finished away. */
  stop(): void {
    if (this.#child.connected) this.#child.disconnect()
  }

  /** Resolves when the process is gone. */
  async ended(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null || this.#child.pid === undefined)
      return
    await new Promise((resolve) => this.#child.once('exit', resolve))
  }

  #send(message: ToCopier): void {
    if (this.#child.connected) this.#child.send(message, () => {})
  }
}

const CHANGED = 'the store was opened anew while it was copied (its disk had an error): try again'
