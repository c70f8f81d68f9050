/**
 * A publish in plain SQLite: one worker thread, all waiting publishes in one transaction, the item and a history row with
 * its index, with fsync. It has no checksums, no ids and no error handling. It runs in its own process.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import Database from 'libsql'
import { answerJob, type CallersJob, driveCallers } from './callers.ts'
import type { LoadResult } from './jobs.ts'
import { configContent } from './request-text.ts'

/** The message to the worker. */
type Publish = readonly [dataId: string, content: string, md5: string, atMs: number]

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = FULL;
  CREATE TABLE item (
    tenant TEXT, grp TEXT, data_id TEXT, content TEXT, md5 TEXT, type TEXT, app_name TEXT, src_ip TEXT,
    created_ms INTEGER, modified_ms INTEGER, PRIMARY KEY (tenant, grp, data_id)
  );
  CREATE TABLE history (
    id INTEGER PRIMARY KEY, tenant TEXT, grp TEXT, data_id TEXT, content TEXT, md5 TEXT, type TEXT, app_name TEXT,
    src_ip TEXT, op TEXT, at_ms INTEGER
  );
  CREATE INDEX history_by_item ON history (tenant, grp, data_id, id);`

const PUT_ITEM = `INSERT INTO item VALUES ('public', 'DEFAULT_GROUP', ?, ?, ?, 'text', '', '127.0.0.1', ?, ?)
  ON CONFLICT DO UPDATE SET content = excluded.content, md5 = excluded.md5, modified_ms = excluded.modified_ms`
const ADD_HISTORY = `INSERT INTO history (tenant, grp, data_id, content, md5, type, app_name, src_ip, op, at_ms)
  VALUES ('public', 'DEFAULT_GROUP', ?, ?, ?, 'text', '', '127.0.0.1', 'U', ?)`

if (isMainThread) answerJob(run)
else write((workerData as { directory: string }).directory)

async function run(job: CallersJob): Promise<LoadResult> {
  const worker = new Worker(new URL(import.meta.url), { workerData: { directory: job.directory } })
  await once(worker, 'message')
  const make = (number: number): Publish => {
    const content = configContent(number)
    const md5 = createHash('md5').update(content).digest('hex')
    return [`plain-${number % job.count}`, content, md5, Date.now()]
  }
  const result = await driveCallers(job, make, async (batch) => {
    worker.postMessage(batch)
    await once(worker, 'message')
  })
  await worker.terminate()
  return result
}

function write(directory: string): void {
  const database = new Database(join(directory, 'plain.db'))
  database.exec(SCHEMA)
  const [putItem, addHistory] = [database.prepare(PUT_ITEM), database.prepare(ADD_HISTORY)]
  parentPort!.on('message', (batch: Publish[]) => {
    database.exec('BEGIN')
    for (const [dataId, content, md5, atMs] of batch) {
      putItem.run([dataId, content, md5, atMs, atMs])
      addHistory.run([dataId, content, md5, atMs])
    }
    database.exec('COMMIT')
    parentPort!.postMessage('written')
  })
  parentPort!.postMessage('open')
}
