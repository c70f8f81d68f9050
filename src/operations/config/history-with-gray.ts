import { type GrayNote, grayNoteOf } from '../../core/config/state/config-comment.ts'
import type { ConfigKey } from '../../core/config/state/config-item.ts'
import { grayHistoryKey } from '../../core/config/state/gray-version.ts'
import type { HistoryEntry, HistoryPage } from '../../core/config/state/history-record.ts'
import type { KeptRecords } from '../../core/engine/ports.ts'
import type { State } from '../../core/engine/state.ts'
import type { PageRequest } from '../page.ts'

/** The gray version that a record is about; absent: it is of the formal version. */
export interface GrayOfRecord {
  readonly gray?: GrayNote | undefined
}

/** How many entries of each list are read at a time. */
const AT_ONCE = 500

/** An entry and its place in the list of both. */
interface Merged {
  readonly entry: HistoryEntry
  readonly place: number
}

/**
 * A page of the history of an item: of its formal versions and of its gray ones, newest first. The store has two lists.
 * The list of the gray versions is short: all of it is read. The other list is read around the page.
 */
export async function historyWithGray(
  store: Pick<KeptRecords, 'history'>,
  key: ConfigKey,
  page: PageRequest,
): Promise<HistoryPage> {
  const gray = await allGray(store, key)
  if (gray.length === 0) return store.history(key, page)
  const start = (page.pageNo - 1) * page.pageSize
  const end = start + page.pageSize
  const firstPage = Math.floor(Math.max(0, start - gray.length) / AT_ONCE)
  const lastPage = Math.floor((end - 1) / AT_ONCE)
  const formal: HistoryEntry[] = []
  let totalCount = 0
  for (let at = firstPage; at <= lastPage; at++) {
    const { totalCount: count, entries } = await store.history(key, { pageNo: at + 1, pageSize: AT_ONCE })
    totalCount = count
    formal.push(...entries)
    if (entries.length < AT_ONCE) break
  }
  const placed = placesOf(gray, formal, firstPage * AT_ONCE)
    .filter(({ place }) => place >= start && place < end)
    .toSorted((one, other) => one.place - other.place)
  return { totalCount: totalCount + gray.length, entries: placed.map(({ entry }) => entry) }
}

/** An entry as a part of the item's history, with the gray version that it is about. */
export function ofItem<R extends { readonly id: number; readonly key: ConfigKey }>(
  state: Pick<State, 'record'>,
  key: ConfigKey,
  record: R,
): R & GrayOfRecord {
  if (record.key.text === key.text) return record
  const { namespaceId, group, dataId, text } = key
  return { ...record, key: { namespaceId, group, dataId, text }, gray: grayNoteOf(state, record.id) }
}

async function allGray(store: Pick<KeptRecords, 'history'>, key: ConfigKey): Promise<HistoryEntry[]> {
  const found: HistoryEntry[] = []
  for (let pageNo = 1; ; pageNo++) {
    const { entries } = await store.history(grayHistoryKey(key), { pageNo, pageSize: AT_ONCE })
    found.push(...entries)
    if (entries.length < AT_ONCE) return found
  }
}

/** `before`: how many formal entries precede `formal`. A gray entry among these gets a place before the page. */
function placesOf(gray: readonly HistoryEntry[], formal: readonly HistoryEntry[], before: number): Merged[] {
  const newerThan = (id: number, entries: readonly HistoryEntry[]): number => {
    const at = entries.findIndex((entry) => entry.id < id)
    return at === -1 ? entries.length : at
  }
  return [
    ...formal.map((entry, at) => ({ entry, place: before + at + newerThan(entry.id, gray) })),
    ...gray.map((entry, at) => ({ entry, place: before + at + newerThan(entry.id, formal) })),
  ]
}
