import type { HistoryRecord } from '../../core/config/history-record.ts'
import { HistoryCleaner } from './clean-history.ts'
import { CommitWriter } from './commit.ts'
import { ConfigNames } from './config-names.ts'
import type { Connection } from './connection.ts'
import { historyPage, lastUpdateOf, recordBefore, recordById } from './history.ts'
import { loadBatches, removeOrphans } from './load.ts'
import type {
  CleanLimit,
  CommitBatch,
  CommitOutcome,
  CrossingPage,
  LoadBatch,
  Methods,
  NameText,
} from './messages.ts'
import { readMeta, writeMeta } from './meta.ts'
import { openDatabase } from './open-database.ts'

/** The store's database: all that the worker can be asked, synchronous, on the one connection. */
export class EmbeddedDatabase implements Methods {
  readonly #connection: Connection
  readonly #names: ConfigNames
  readonly #commits: CommitWriter
  readonly #cleaner: HistoryCleaner
  /** The revision that the next change may have: no id that was ever answered comes from it or a later one. */
  readonly nextRevision: number
  #lastRevision: number

  /** Opens the database of a data directory; throws as `openDatabase` does. */
  constructor(directory: string) {
    this.#connection = openDatabase(directory)
    this.#names = new ConfigNames(this.#connection)
    this.#commits = new CommitWriter(this.#connection, this.#names)
    this.#cleaner = new HistoryCleaner(this.#connection, this.#names)
    this.nextRevision = nextRevisionOf(this.#connection)
    this.#lastRevision = this.nextRevision - 1
  }

  /** Everything but history, in batches; `orphans` is how many instances were removed with their service. */
  load(): { orphans: number; batches: Generator<LoadBatch> } {
    return { orphans: removeOrphans(this.#connection), batches: loadBatches(this.#connection) }
  }

  commit(batch: CommitBatch): CommitOutcome {
    this.#lastRevision = Math.max(this.#lastRevision, batch.lastRevision)
    return this.#commits.commit(batch)
  }

  history(name: NameText, pageNo: number, pageSize: number): CrossingPage {
    const nameId = this.#names.find(name)
    if (nameId === undefined) return { totalCount: 0, entries: [] }
    return historyPage(this.#connection, nameId, { name, pageNo, pageSize })
  }

  historyRecord(id: number): HistoryRecord | undefined {
    return recordById(this.#connection, id)
  }

  historyBefore(name: NameText, id: number): HistoryRecord | undefined {
    const nameId = this.#names.find(name)
    return nameId === undefined ? undefined : recordBefore(this.#connection, nameId, id)
  }

  lastUpdate(name: NameText, itemId: number): HistoryRecord | undefined {
    const nameId = this.#names.find(name)
    return nameId === undefined ? undefined : lastUpdateOf(this.#connection, nameId, itemId)
  }

  cleanHistory(limit: CleanLimit): { removed: number; more: boolean } {
    return this.#cleaner.step(limit, this.#lastRevision)
  }

  remember(name: string, value: string): void {
    this.#connection.transaction(() => writeMeta(this.#connection, `server:${name}`, value))
  }

  recall(name: string): string | undefined {
    return readMeta(this.#connection, `server:${name}`)
  }

  /** Brings everything into the one file and ends the connection. */
  close(): void {
    try {
      this.#connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } finally {
      this.#connection.close()
    }
  }
}

/**
 * Ids come from revisions (`revision.ts`), and the records keep the highest ones; cleaning, the only way
 * that records go, leaves `revision_floor` behind. So no commit has a counter of its own to write.
 */
function nextRevisionOf(connection: Connection): number {
  const highestId = connection.number('SELECT max(id) FROM config_revision')
  const floor = Number(readMeta(connection, 'revision_floor') ?? 0)
  return Math.max(Math.floor(highestId / 2), floor) + 1
}
