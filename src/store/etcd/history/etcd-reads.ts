import type { AuditSearch, FoundEvents } from '../../../core/audit/audit-event.ts'
import type { ConfigKey } from '../../../core/config/state/config-item.ts'
import type { HistoryEntry, HistoryPage, HistoryRecord } from '../../../core/config/state/history-record.ts'
import type { KeptReads, VersionId } from '../../../core/engine/ports.ts'
import type { Asker, FairQueue } from '../../../core/work/fair-queue.ts'
import { asRefusal } from '../failures/refusals.ts'
import type { AuditKeys } from './audit-keys.ts'
import type { HistoryKeys } from './history-keys.ts'

/** The dependencies of {@link EtcdReads}. */
interface ReadParts {
  readonly history: HistoryKeys
  readonly audit: Pick<AuditKeys, 'find'>
  readonly turns: FairQueue
  readonly reader: string | Asker
  /** Throws while the data of etcd cannot be believed. */
  readonly refuse: () => void
}

/** The reads of one reader, each in its turn. Commits do not wait for turns (decision 0069). */
export class EtcdReads implements KeptReads {
  readonly #parts: ReadParts

  constructor(parts: ReadParts) {
    this.#parts = parts
  }

  history(keys: readonly ConfigKey[], page: { pageNo: number; pageSize: number }): Promise<HistoryPage> {
    return this.#inTurn(({ history }) => history.page(keys, page))
  }

  historyRecord(id: number): Promise<HistoryRecord | undefined> {
    return this.#inTurn(({ history }) => history.record(id))
  }

  historyThere(ids: readonly number[]): Promise<readonly number[]> {
    return this.#inTurn(({ history }) => history.there(ids))
  }

  historyBefore(key: ConfigKey, id: number): Promise<HistoryRecord | undefined> {
    return this.#inTurn(({ history }) => history.before(key, id))
  }

  historyAfter(key: ConfigKey, id: number): Promise<HistoryEntry | undefined> {
    return this.#inTurn(({ history }) => history.after(key, id))
  }

  lastUpdate(key: ConfigKey, itemId: number): Promise<HistoryRecord | undefined> {
    return this.#inTurn(({ history }) => history.lastUpdate(key, itemId))
  }

  authors(versions: readonly VersionId[]): Promise<ReadonlyMap<number, string | null>> {
    return this.#inTurn(({ history }) => history.authors(versions))
  }

  findAudit(search: AuditSearch, most: number): Promise<FoundEvents> {
    return this.#inTurn(({ audit }) => audit.find(search, most))
  }

  #inTurn<T>(read: (parts: ReadParts) => Promise<T>): Promise<T> {
    const { turns, reader, refuse } = this.#parts
    const believed = async (): Promise<T> => {
      refuse()
      const found = await read(this.#parts)
      refuse()
      return found
    }
    return turns.run(reader, () => asRefusal(believed()))
  }
}
