import { parentPort, workerData } from 'node:worker_threads'
import type { HistoryLimits } from '../../../core/config/state/history-limits.ts'
import { EmbeddedDatabase } from './embedded-database.ts'
import type { CrossingError, FromWorker, LoadBatch, WorkerRequest } from '../rows/messages.ts'
import { problemOfStore, storeFailureOf, type StoreFailure } from '../database/store-errors.ts'

// The thread that owns the database: takes a request, answers it, takes the next. See `worker-client.ts`.

const port = parentPort
if (port === null) throw new Error('This module is the store’s worker thread and does not run by itself')

/** After damage nothing is trusted any more: all waiting requests get the same answer. */
let broken: StoreFailure | undefined
/**
 * A failed write may be in the log as if it were committed. So its place is overwritten before any other write or
 * answer.
 */
let inDoubt = false
const WRITING: readonly WorkerRequest['method'][] = [
  'commit',
  'cleanHistory',
  'saveAudit',
  'cleanAudit',
  'remember',
]

const { directory, history } = workerData as { directory: string; history: HistoryLimits }
const database = open(directory)
if (database !== undefined) {
  send({ kind: 'opened', lastRevision: database.lastRevision })
  port.on('message', (request: WorkerRequest) => answer(database, request))
}

function open(directory: string): EmbeddedDatabase | undefined {
  try {
    return new EmbeddedDatabase(directory, history)
  } catch (error) {
    // The driver's own message has no advice.
    const message = messageOf(storeFailureOf(error) ?? error)
    send({ kind: 'unopened', message, problem: problemOfStore(error) })
    return undefined
  }
}

function answer(database: EmbeddedDatabase, request: WorkerRequest): void {
  try {
    if (broken !== undefined) throw broken
    if (inDoubt && WRITING.includes(request.method)) database.overwriteFailed()
    const value = request.method === 'load' ? load(database, request.id) : call(database, request)
    if (WRITING.includes(request.method)) inDoubt = false
    send({ kind: 'answer', id: request.id, value }, ownedMemory(value))
  } catch (error) {
    const failure = storeFailureOf(error)
    if (failure?.reopen === true) broken = failure
    if (failure !== undefined && WRITING.includes(request.method)) inDoubt = true
    send({ kind: 'error', id: request.id, error: crossing(error, failure) })
  }
  // Without a listener the thread ends, and with it the driver lets the files go.
  if (request.method === 'close') port?.close()
}

function call(database: EmbeddedDatabase, { method, args }: WorkerRequest): unknown {
  const handler = database[method as Exclude<WorkerRequest['method'], 'load'>] as (
    ...values: readonly unknown[]
  ) => unknown
  return handler.apply(database, [...args])
}

function load(database: EmbeddedDatabase, id: number): undefined {
  for (const batch of database.load()) {
    if (batch.kind === 'settled') warnOfOrphans(batch.orphans)
    send({ kind: 'batch', id, batch }, memoryOf(batch))
  }
}

function warnOfOrphans(orphans: number): void {
  if (orphans === 0) return
  send({ kind: 'warning', facts: { orphans }, text: 'Removed stored instances of services that are gone' })
}

function memoryOf(batch: LoadBatch): ArrayBuffer[] {
  return batch.kind === 'configs' ? [batch.contents] : []
}

/** The content of a record is handed over when nothing else lies in its memory. */
function ownedMemory(value: unknown): ArrayBuffer[] {
  const content =
    typeof value === 'object' && value !== null && 'content' in value ? value.content : undefined
  if (!Buffer.isBuffer(content) || content.byteLength !== content.buffer.byteLength) return []
  return content.buffer instanceof ArrayBuffer && content.byteLength > 0 ? [content.buffer] : []
}

function crossing(error: unknown, failure: StoreFailure | undefined): CrossingError {
  return {
    message: messageOf(failure ?? error),
    storeWide: failure !== undefined,
    reopen: failure?.reopen === true,
    problem: problemOfStore(failure ?? error),
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function send(message: FromWorker, memory: ArrayBuffer[] = []): void {
  port?.postMessage(message, memory)
}
