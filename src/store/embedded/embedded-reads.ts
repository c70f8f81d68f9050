import type { AuditSearch, FoundEvents } from '../../core/audit/audit-event.ts'
import { configKey, type ConfigKey } from '../../core/config/state/config-item.ts'
import type { HistoryEntry, HistoryPage, HistoryRecord } from '../../core/config/state/history-record.ts'
import type { KeptReads, VersionId } from '../../core/engine/ports.ts'
import { type Asker, type FairQueue, refuseGone } from '../../core/work/fair-queue.ts'
import { inParts } from '../../core/work/in-parts.ts'
import type { CrossingRecord, Methods, NameText } from './rows/messages.ts'
import { nameText } from './rows/writes-of-change.ts'

/** How many ids one slice skips in the index: about a millisecond. */
const SKIPPED_AT_ONCE = 20_000
/** How many rows one slice reads. */
const ROWS_AT_ONCE = 150

/** Asks the worker. */
export type AskWorker = <M extends keyof Methods>(
  method: M,
  args: Parameters<Methods[M]>,
) => Promise<ReturnType<Methods[M]>>

/** The dependencies of {@link EmbeddedReads}. */
interface ReadParts {
  readonly ask: AskWorker
  readonly turns: FairQueue
  readonly reader: string | Asker
}

/**
 * The reads of one reader. A read has its turn, and asks the worker for one slice after the other: of a few milliseconds each. Commits
 * do not wait for turns, so they come between the slices (decision 0069).
 */
export class EmbeddedReads implements KeptReads {
  readonly #parts: ReadParts

  constructor(parts: ReadParts) {
    this.#parts = parts
  }

  history(keys: readonly ConfigKey[], page: { pageNo: number; pageSize: number }): Promise<HistoryPage> {
    return this.#inTurn((ask) => readPage(ask, keys, page))
  }

  historyRecord(id: number, expected?: ConfigKey): Promise<HistoryRecord | undefined> {
    const name = expected === undefined ? undefined : nameText(expected)
    return this.#inTurn(async (ask) => arrivedRecord(await ask('historyRecord', [id, name])))
  }

  historyThere(ids: readonly number[]): Promise<readonly number[]> {
    return this.#inTurn((ask) => inSlices(ids, (some) => ask('historyThere', [some])))
  }

  historyBefore(key: ConfigKey, id: number): Promise<HistoryRecord | undefined> {
    return this.#inTurn(async (ask) => arrivedRecord(await ask('historyBefore', [nameText(key), id])))
  }

  historyAfter(key: ConfigKey, id: number): Promise<HistoryEntry | undefined> {
    return this.#inTurn(async (ask) => {
      const entry = await ask('historyAfter', [nameText(key), id])
      return entry && { ...entry, key }
    })
  }

  lastUpdate(key: ConfigKey, itemId: number): Promise<HistoryRecord | undefined> {
    return this.#inTurn(async (ask) => arrivedRecord(await ask('lastUpdate', [nameText(key), itemId])))
  }

  authors(versions: readonly VersionId[]): Promise<ReadonlyMap<number, string | null>> {
    const ids = versions.map(({ historyId }) => historyId)
    return this.#inTurn(async (ask) => new Map(await inSlices(ids, (some) => ask('authors', [some]))))
  }

  findAudit(search: AuditSearch, most: number): Promise<FoundEvents> {
    return this.#inTurn((ask) => ask('findAudit', [search, Math.min(most, ROWS_AT_ONCE)]))
  }

  #inTurn<T>(read: (ask: AskWorker) => Promise<T>): Promise<T> {
    const { ask, turns, reader } = this.#parts
    const slice: AskWorker = (method, args) => {
      refuseGone(reader)
      return ask(method, args)
    }
    return turns.run(reader, () => read(slice))
  }
}

/** A record that is added meanwhile is newer than the beginning of the page: it moves nothing. */
async function readPage(
  ask: AskWorker,
  keys: readonly ConfigKey[],
  { pageNo, pageSize }: { pageNo: number; pageSize: number },
): Promise<HistoryPage> {
  const names = keys.map(nameText)
  let totalCount = 0
  for (const name of names) totalCount += await totalOf(ask, name)
  const skipped = (pageNo - 1) * pageSize
  const begin = skipped < totalCount ? await skip(ask, names, skipped) : undefined
  if (begin === undefined) return { totalCount, entries: [] }
  const entries: HistoryEntry[] = []
  for (let before = begin; entries.length < pageSize;) {
    const most = Math.min(ROWS_AT_ONCE, pageSize - entries.length)
    const slice = await ask('historyEntries', [names, before, most])
    for (const { of, entry } of slice) entries.push({ ...entry, key: keys[of]! })
    if (slice.length < most) break
    before = slice.at(-1)!.entry.id
  }
  return { totalCount, entries }
}

async function totalOf(ask: AskWorker, name: NameText): Promise<number> {
  for (;;) {
    const total = await ask('historyTotal', [name])
    if (total !== undefined) return total
  }
}

/** The id before which the page begins; undefined: there are not as many records. */
async function skip(
  ask: AskWorker,
  names: readonly NameText[],
  skipped: number,
): Promise<number | undefined> {
  let before: number | undefined = Number.MAX_SAFE_INTEGER
  for (let left = skipped; left > 0 && before !== undefined; left -= SKIPPED_AT_ONCE)
    before = await ask('historySkip', [names, before, Math.min(left, SKIPPED_AT_ONCE)])
  return before
}

async function inSlices<T>(
  ids: readonly number[],
  ask: (some: readonly number[]) => Promise<readonly T[]>,
): Promise<T[]> {
  const found: T[] = []
  for (const some of inParts(ids, ROWS_AT_ONCE)) found.push(...(await ask(some)))
  return found
}

/** A record as the port has it, with its content as a Buffer again. */
function arrivedRecord(record: CrossingRecord | undefined): HistoryRecord | undefined {
  if (record === undefined) return undefined
  const { name, entry, content } = record
  const { size: _size, ...about } = entry
  const { buffer, byteOffset, byteLength } = content
  return { ...about, key: configKey(...name), content: Buffer.from(buffer, byteOffset, byteLength) }
}
