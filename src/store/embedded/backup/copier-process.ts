import { type BackupFacts, placeError, type PlaceProblem } from '../../local-file.ts'
import { Worker } from 'node:worker_threads'
import type { CopyJob, FromCopierThread, ToCopierThread } from './copier-messages.ts'

/** Receives the progress of a copy. */
export interface CopyListener {
  onProgress(step: string, done: number, total: number): void
  /** The file has been read; resolves with whether it was left alone all that time. */
  onCopied(): Promise<boolean>
}

/** As the store's worker: where this module runs as TypeScript (in tests), the thread is the one in `dist/`. */
function threadUrl(): URL {
  const here = import.meta.url
  return here.endsWith('.ts')
    ? new URL('../../../../dist/copier-thread.js', here)
    : new URL('./copier-thread.js', here)
}

/** One copy, in a process of its own, started by a thread of its own. A failure leaves nothing behind; a kill may. */
export class CopierProcess {
  readonly #thread = new Worker(threadUrl(), { name: 'copier', execArgv: [] })
  /** Done when thread and process are gone. */
  readonly #gone: Promise<unknown>
  /** Rejects when no copy can be made, possibly before one is requested. */
  readonly #failed: Promise<never>
  #fail: (error: Error) => void = () => {}
  #listener: (CopyListener & { onDone(facts: BackupFacts): void }) | undefined

  constructor() {
    this.#failed = new Promise((_, reject) => (this.#fail = reject))
    this.#failed.catch(() => {})
    this.#gone = new Promise((resolve) => this.#thread.once('exit', resolve))
    void this.#gone.then(() => this.abort(ENDED))
    this.#thread.on('error', (error) => this.abort(error.message))
    this.#thread.on('message', (message: FromCopierThread) => this.#receive(message))
  }

  /** Makes the copy and returns the facts of the backup. Throws an Error with the reason of a failure. */
  copy(job: CopyJob, listener: CopyListener): Promise<BackupFacts> {
    const done = new Promise<BackupFacts>((resolve) => {
      this.#listener = { ...listener, onDone: resolve }
    })
    this.#send({ kind: 'copy', job })
    return Promise.race([done, this.#failed])
  }

  /** Has the copy fail, whether or not the process can still be reached. */
  abort(why: string, problem?: PlaceProblem): void {
    this.stop()
    this.#fail(placeError(problem, why))
  }

  /** Ends the process; it removes its unfinished files. */
  stop(): void {
    this.#send({ kind: 'stop' })
  }

  /** Resolves when the process is gone. */
  async ended(): Promise<void> {
    await this.#gone
  }

  #receive(message: FromCopierThread): void {
    switch (message.kind) {
      case 'progress':
        return this.#listener?.onProgress(message.step, message.done, message.total)
      case 'copied':
        void this.#listener?.onCopied().then(
          (sound) => (sound ? this.#send({ kind: 'left-alone' }) : this.abort(CHANGED)),
          (error: Error) => this.abort(error.message),
        )
        return
      case 'done':
        this.stop()
        return this.#listener?.onDone(message.facts)
      case 'failed':
        return this.abort(message.message, message.problem)
      case 'ended':
        return this.abort(`${ENDED}${message.stderr && `: ${message.stderr}`}`)
    }
  }

  #send(message: ToCopierThread): void {
    // Nothing happens where the thread has ended.
    this.#thread.postMessage(message)
  }
}

const ENDED = 'the process that copies has ended'
const CHANGED = 'the store was reopened during the copy, because its disk had an error: try again'
