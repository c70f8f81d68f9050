import { resolve } from 'node:path'
import type { AuditEvent, AuditLimit } from '../../core/audit/audit-event.ts'
import type { HistoryLimits } from '../../core/config/state/history-limits.ts'
import type {
  ChangeGroup,
  CommitResult,
  KeptReads,
  Revision,
  Snapshot,
  Store,
} from '../../core/engine/ports.ts'
import { stampOfChange } from '../../core/decisions/stamps.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Asker } from '../../core/work/fair-queue.ts'
import { readTurns } from '../../core/work/read-turns.ts'
import { type AskWorker, EmbeddedReads } from './embedded-reads.ts'
import { ContentPack } from './rows/content-pack.ts'
import { databasePath, isReadableByEveryone } from './database/data-directory.ts'
import type { LocalFile } from '../local-file.ts'
import { outdatedSaves } from '../outdated-saves.ts'
import type { CommitBatch, Write } from './rows/messages.ts'
import { SnapshotBuilder } from './snapshot.ts'
import { SerialsOnDisk } from './serials-on-disk.ts'
import type { StoreLog } from './worker/store-log.ts'
import { WorkerClient } from './worker/worker-client.ts'
import type { Values } from './rows/table.ts'
import { TABLES } from './rows/tables.ts'
import { writeOfChange } from './rows/writes-of-change.ts'

/**
 * Opens the store in a data directory, or creates it. Throws an Error with advice: another server uses the directory, its
 * database is gone, or it has a newer format.
 */
export async function openEmbeddedStore(options: {
  directory: string
  log: StoreLog
  /** By default history has no limit on its bytes. */
  history?: HistoryLimits
}): Promise<Store & { readonly file: LocalFile }> {
  const directory = resolve(options.directory)
  const client = new WorkerClient({ ...options, directory })
  const store = new EmbeddedStore(client, await client.open())
  if (isReadableByEveryone(directory)) warnOfReaders(directory, options.log)
  return store
}

function warnOfReaders(directory: string, log: StoreLog): void {
  const file = databasePath(directory)
  log.warn(
    { file },
    'Every user of this machine may read the database with its keys and hashes of passwords: chmod 600 it',
  )
}

const IN_DOUBT =
  'The thread of the store ended in the middle of a commit, and memory cannot know what of it is on the disk. ' +
  'Reads still work; restart the server, which reads what is there, to write again.'

/** The store on the main thread: makes messages of changes and waits for answers, and so blocks nothing. */
class EmbeddedStore implements Store {
  readonly file: LocalFile
  readonly #client: WorkerClient
  readonly #serials = new SerialsOnDisk()
  /** One read is in the worker at a time. So a commit waits for one slice of it at most. */
  readonly #turns = readTurns(1)
  #lastRevision: Revision
  #closing: Promise<void> | undefined

  constructor(client: WorkerClient, lastRevision: Revision) {
    this.#client = client
    this.#lastRevision = lastRevision
    this.file = {
      hold: async () => {
        this.#refuseWhenClosed()
        return client.call('holdFile', [])
      },
      release: async () => {
        this.#refuseWhenClosed()
        return client.call('releaseFile', [])
      },
    }
  }

  async load(): Promise<Snapshot> {
    this.#refuseWhenClosed()
    const builder = new SnapshotBuilder()
    await this.#client.load((batch) => builder.add(batch))
    const snapshot = builder.snapshot(this.#lastRevision)
    this.#serials.loaded(snapshot)
    return snapshot
  }

  mayHave(serial: number): boolean {
    return this.#serials.mayHave(serial)
  }

  surelyHas(serial: number): boolean {
    return this.#serials.surelyHas(serial)
  }

  async commit(groups: readonly ChangeGroup[], events: readonly AuditEvent[] = []): Promise<CommitResult> {
    this.#refuseWhenClosed()
    // Stamps rise over restarts, and so does a revision that follows them: it needs no counter on disk.
    this.#lastRevision = Math.max(this.#lastRevision + 1, largestStampOf(groups))
    const made = batchOf(groups, events, this.#lastRevision)
    if ('kind' in made) return made
    if (this.#client.commitInDoubt) throw new Refusal('store-unavailable', IN_DOUBT)
    const sent = this.#serials.sent(groups)
    try {
      const result = await this.#write(made)
      if (result.kind === 'committed') this.#serials.written(sent, groups)
      else this.#serials.failed(sent)
      return result
    } catch (error) {
      this.#serials.failed(sent)
      throw error
    }
  }

  reads(reader: string | Asker): KeptReads {
    return new EmbeddedReads({ ask: this.#ask, turns: this.#turns, reader })
  }

  async cleanHistory(limit: { beforeMs: number; keep: number; most: number }) {
    this.#refuseWhenClosed()
    return this.#client.call('cleanHistory', [limit])
  }

  async saveAudit(events: readonly AuditEvent[]): Promise<void> {
    this.#refuseWhenClosed()
    await this.#client.call('saveAudit', [rowsOf(events)])
  }

  async cleanAudit(limit: AuditLimit) {
    this.#refuseWhenClosed()
    return this.#client.call('cleanAudit', [limit])
  }

  async remember(name: string, value: string): Promise<void> {
    this.#refuseWhenClosed()
    await this.#client.call('remember', [name, value])
  }

  async recall(name: string): Promise<string | undefined> {
    this.#refuseWhenClosed()
    return this.#client.call('recall', [name])
  }

  async close(): Promise<void> {
    this.#closing ??= this.#client.close()
    await this.#closing
  }

  async #write(batch: CommitBatch): Promise<CommitResult> {
    const outcome = await this.#client.call('commit', [batch], [batch.contents])
    if (outcome === undefined) return { kind: 'committed', revision: batch.revision }
    return { kind: 'failed', group: outcome.failedGroup, error: new Error(outcome.error) }
  }

  /** Asks the worker for a slice of a read. A read that waits must not open a closed store again. */
  readonly #ask: AskWorker = (method, args) => {
    this.#refuseWhenClosed()
    return this.#client.call(method, args)
  }

  #refuseWhenClosed(): void {
    if (this.#closing === undefined) return
    throw new Refusal('stopping', 'The store is closed: the server is stopping')
  }
}

function largestStampOf(groups: readonly ChangeGroup[]): number {
  let largest = 0
  for (const changes of groups)
    for (const change of changes) largest = Math.max(largest, stampOfChange(change))
  return largest
}

/** The message of a commit; or a failed result for the group whose changes cannot be put into a message. */
function batchOf(
  groups: readonly ChangeGroup[],
  events: readonly AuditEvent[],
  revision: Revision,
): CommitBatch | CommitResult {
  const pack = new ContentPack()
  const writes: Write[] = []
  const ends: number[] = []
  const outdated = outdatedSaves(groups.flat())
  for (const [group, changes] of groups.entries()) {
    try {
      for (const change of changes) {
        if (outdated.has(change)) continue
        const write = writeOfChange(change, pack)
        if (write !== undefined) writes.push(write)
      }
    } catch (error) {
      return { kind: 'failed', group, error: error instanceof Error ? error : new Error(String(error)) }
    }
    ends.push(writes.length)
  }
  return { writes, ends, contents: pack.pack(), events: rowsOf(events), revision }
}

function rowsOf(events: readonly AuditEvent[]): Values[] {
  return events.map((event) => TABLES.audit.encode(event))
}
