import type { ConfigItem, ConfigKey } from '../../../../core/config/config-item.ts'
import type { HistoryRecord } from '../../../../core/config/history-record.ts'
import type { Store } from '../../../../core/ports.ts'
import { Refusal } from '../../../../core/refusal.ts'
import { isItemId } from '../../../../core/stamps.ts'
import { entryJson } from './history-json.ts'
import { pageJson, toPage, type PageWish } from './page-json.ts'

/** Where records are read, and items by their own ids. */
export interface HistoryParts {
  readonly store: Pick<Store, 'history' | 'historyRecord' | 'historyBefore' | 'lastUpdate'>
  readonly state: { readonly configs: { getById(id: number): ConfigItem | undefined } }
}

/** One page of an item's records, newest first. */
export async function historyPage({ store }: HistoryParts, key: ConfigKey, wish: PageWish): Promise<object> {
  const page = toPage(wish)
  const { totalCount, entries } = await store.history(key, page)
  return pageJson(page, totalCount, entries.map(entryJson))
}

/** The record `nid` of the named item; Refusal `history-not-found`, or `history-not-yours` for another item's. */
export async function historyDetail(
  { store }: HistoryParts,
  key: ConfigKey,
  nid: number,
): Promise<HistoryRecord> {
  const record = isItemId(nid) ? undefined : await store.historyRecord(nid)
  if (record === undefined) throw notFound(`There is no history record ${nid}.`)
  if (!sameKey(record.key, key)) throw notYours(nid)
  return record
}

/**
 * The previous version of the named item: for the id of a history record, the record before it; for the
 * item's own id, the version before the current one. Refusals as those of `historyDetail`.
 */
export async function previousRecord(
  parts: HistoryParts,
  key: ConfigKey,
  id: number,
): Promise<HistoryRecord> {
  const previous = isItemId(id) ? await beforeItem(parts, key, id) : await beforeRecord(parts, key, id)
  if (previous === undefined) throw notFound(`There is no version before ${id}.`)
  return previous
}

function beforeItem({ state, store }: HistoryParts, key: ConfigKey, id: number) {
  const item = state.configs.getById(id)
  if (item === undefined) throw notFound(`There is no configuration with the id ${id}.`)
  if (!sameKey(item.key, key)) throw notYours(id)
  return store.lastUpdate(key, id)
}

async function beforeRecord(parts: HistoryParts, key: ConfigKey, id: number) {
  await historyDetail(parts, key, id)
  return parts.store.historyBefore(key, id)
}

function sameKey(a: ConfigKey, b: ConfigKey): boolean {
  return a.dataId === b.dataId && a.group === b.group && a.namespaceId === b.namespaceId
}

function notFound(message: string): Refusal {
  return new Refusal('history-not-found', message)
}

function notYours(id: number): Refusal {
  const message = `The id ${id} belongs to another item: check tenant, dataId and group.`
  return new Refusal('history-not-yours', message)
}
