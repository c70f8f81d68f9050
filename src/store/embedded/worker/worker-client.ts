import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { type HistoryLimits, UNLIMITED_HISTORY } from '../../../core/config/state/history-limits.ts'
import { Refusal } from '../../../core/refusal.ts'
import { fatal } from '../../../core/unexpected.ts'
import { placeError } from '../../local-file.ts'
import type { FromWorker, LoadBatch, Methods, WorkerRequest } from '../rows/messages.ts'
import type { StoreLog } from './store-log.ts'

/** A request that the worker has not answered yet. */
interface PendingRequest {
  readonly isCommit: boolean
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
  readonly onBatch: ((batch: LoadBatch) => void) | undefined
}

/** A running worker and its unanswered requests. */
interface Running {
  readonly worker: Worker
  readonly waiting: Map<number, PendingRequest>
  readonly lastRevision: number
}

/** The built worker, also when this module runs as TypeScript in tests: a worker thread cannot load TypeScript. */
function workerUrl(): URL {
  const here = import.meta.url
  return here.endsWith('.ts') ? new URL('../../../../dist/worker.js', here) : new URL('./worker.js', here)
}

/**
 * The connection to the worker thread. Requests are answered in order. A worker with a broken connection is replaced at
 * the next request; its waiting requests are refused with `store-unavailable`. A worker that dies ends the process (decision
 * 0045).
 */
export class WorkerClient {
  readonly #directory: string
  readonly #history: HistoryLimits
  readonly #log: StoreLog
  readonly #url: URL
  #running: Promise<Running> | undefined
  /** The worker that `running` came to. */
  #worker: Worker | undefined
  /** Done when the last worker has let the directory go. */
  #gone: Promise<unknown> = Promise.resolve()
  #commitInDoubt = false
  #lastRequest = 0
  #isClosing = false

  /** `url` is another worker to start, for tests. */
  constructor(options: { directory: string; log: StoreLog; history?: HistoryLimits; url?: URL }) {
    this.#directory = options.directory
    this.#history = options.history ?? UNLIMITED_HISTORY
    this.#log = options.log
    this.#url = options.url ?? workerUrl()
  }

  /** Starts a worker if none is running; returns the last revision of its database. Throws the reason of a failure. */
  async open(): Promise<number> {
    this.#running ??= this.#start()
    return (await this.#running).lastRevision
  }

  /** Asks the worker. `memory` is handed over to it. */
  async call<M extends keyof Methods>(
    method: M,
    args: Parameters<Methods[M]>,
    memory: ArrayBuffer[] = [],
  ): Promise<ReturnType<Methods[M]>> {
    return (await this.#ask({ method, args }, { memory })) as ReturnType<Methods[M]>
  }

  /**
   * Whether a connection was lost during a commit. The next connection may have found that commit whole in the log, and
   * memory lacks it: only a restart, which reads everything again, shows it.
   */
  get commitInDoubt(): boolean {
    return this.#commitInDoubt
  }

  /** Asks for everything, batch by batch. */
  async load(onBatch: (batch: LoadBatch) => void): Promise<void> {
    await this.#ask({ method: 'load', args: [] }, { onBatch })
  }

  /** Has the worker close the database, and waits until it has ended and the directory is free. */
  async close(): Promise<void> {
    this.#isClosing = true
    try {
      if (this.#running !== undefined) await this.call('close', [])
    } catch (error) {
      // Nothing is lost: acknowledged changes are in the log beside the database.
      this.#log.warn({ directory: this.#directory, err: error }, 'The store could not tidy up as it closed')
    }
    await this.#gone
  }

  async #ask(
    { method, args }: Omit<WorkerRequest, 'id'>,
    { memory = [], onBatch }: { memory?: ArrayBuffer[]; onBatch?: (batch: LoadBatch) => void },
  ): Promise<unknown> {
    this.#running ??= this.#start()
    const { worker, waiting } = await this.#running.catch((cause: unknown) => {
      throw unavailable(cause instanceof Error ? cause.message : String(cause))
    })
    const id = ++this.#lastRequest
    return new Promise((resolve, reject) => {
      // Post first: this throws on a value that cannot cross. No answer comes before this function ends.
      worker.postMessage({ id, method, args }, memory)
      waiting.set(id, { isCommit: method === 'commit', resolve, reject, onBatch })
    })
  }

  async #start(): Promise<Running> {
    try {
      await this.#gone
      return await this.#startWorker()
    } catch (error) {
      this.#running = undefined
      throw error
    }
  }

  async #startWorker(): Promise<Running> {
    const worker = new Worker(this.#url, {
      workerData: { directory: this.#directory, history: this.#history },
      name: 'store',
    })
    const waiting = new Map<number, PendingRequest>()
    // Not events.once, which an 'error' before the exit would end.
    const exited = new Promise((resolve) => worker.once('exit', resolve))
    this.#gone = exited
    let cause: unknown = new Error('The thread of the store has ended by itself')
    worker.on('error', (error) => (cause = error))
    const lastRevision = await opened(worker, exited)
    this.#worker = worker
    worker.on('message', (message: FromWorker) => this.#receive({ worker, waiting }, message))
    void exited.then(() => this.#lost({ worker, waiting }, cause))
    return { worker, waiting, lastRevision }
  }

  #receive({ worker, waiting }: Omit<Running, 'lastRevision'>, message: FromWorker): void {
    switch (message.kind) {
      case 'answer':
        waiting.get(message.id)?.resolve(message.value)
        waiting.delete(message.id)
        return
      case 'batch': {
        const asked = waiting.get(message.id)
        try {
          asked?.onBatch?.(message.batch)
        } catch (error) {
          // A row that cannot be read: the batches after it are of no use.
          waiting.delete(message.id)
          asked?.reject(error as Error)
        }
        return
      }
      case 'error': {
        const { storeWide, reopen, message: text, problem } = message.error
        const asked = waiting.get(message.id)
        waiting.delete(message.id)
        const error = placeError(problem, text)
        asked?.reject(storeWide ? unavailable(text, error) : error)
        if (!reopen) return
        this.#commitInDoubt ||= asked?.isCommit === true
        this.#retire(worker)
        return
      }
      case 'warning':
        this.#log.warn(message.facts, message.text)
        return
      case 'opened':
      case 'unopened':
        // Came before; see `opened`.
        return
    }
  }

  /** Ends a worker whose connection must not be used again; the next request starts a new worker. */
  #retire(worker: Worker): void {
    this.#forget(worker)
    void worker.terminate()
  }

  #forget(worker: Worker): void {
    // Another may have been started already.
    if (this.#worker !== worker) return
    this.#worker = undefined
    this.#running = undefined
  }

  #lost({ worker, waiting }: Omit<Running, 'lastRevision'>, cause: unknown): void {
    // It ended by itself.
    const isDead = this.#worker === worker && !this.#isClosing
    this.#forget(worker)
    if (isDead) fatal(cause, 'the thread of the store has died')
    for (const { isCommit, reject } of waiting.values()) {
      this.#commitInDoubt ||= isCommit
      reject(
        unavailable('The store is not available: its thread has ended; nobody knows whether this was kept'),
      )
    }
    waiting.clear()
  }
}

/** Waits for the first word of a worker: the last revision, or why it cannot open the database. */
async function opened(worker: Worker, exited: Promise<unknown>): Promise<number> {
  const [first] = await Promise.race([
    once(worker, 'message') as Promise<[FromWorker]>,
    exited.then(() => {
      throw new Error('The thread of the store ended before it could open the database')
    }),
  ])
  if (first.kind === 'opened') return first.lastRevision
  await exited
  if (first.kind === 'unopened') throw placeError(first.problem, first.message)
  throw new Error('The thread of the store speaks out of turn')
}

function unavailable(message: string, cause?: Error): Refusal {
  return new Refusal('store-unavailable', message, { cause })
}
