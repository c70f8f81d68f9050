import type { ConfigItem, ConfigKey } from '../../core/config/state/config-item.ts'
import { grayHistoryKey, itemOfHistoryKey } from '../../core/config/state/gray-version.ts'
import type { HistoryEntry, HistoryRecord } from '../../core/config/state/history-record.ts'
import type { ReadsOf } from '../../core/engine/ports.ts'
import { Refusal } from '../../core/refusal.ts'
import { isItemId } from '../../core/decisions/stamps.ts'
import { configResource, READ_CONFIG } from './configs.ts'
import type { Guard } from '../guard.ts'
import { askerOf, type Caller } from '../authorisation.ts'
import { cutPage, type PageRequest } from '../page.ts'

/** Where records are read, and items by their own ids. */
export interface HistoryParts {
  readonly guard: Guard
  readonly store: ReadsOf<'history' | 'historyRecord' | 'historyBefore' | 'lastUpdate'>
  readonly state: { readonly configs: { getById(id: number): ConfigItem | undefined } }
}

/** A page of the records of an item, newest first. */
export interface FoundHistory {
  readonly page: PageRequest
  readonly totalCount: number
  readonly entries: readonly HistoryEntry[]
}

/** A record, or an item, by its id; `key` is the item that it must belong to. */
export interface RecordRequest {
  readonly key: ConfigKey
  readonly id: number
}

/**
 * Makes the operations on histories. A caller gets a record only if it names the record's own item and may
 * read it: an id alone gives nothing.
 */
export function historyOperations(parts: HistoryParts) {
  const { guard, store } = parts
  const resources = ({ key }: { key: ConfigKey }) => [configResource(key)]
  return {
    /** A page of an item's records. */
    list: guard.operation({
      permission: READ_CONFIG,
      resources,
      inPlace: true,
      run: async (
        { key, page }: { key: ConfigKey; page: PageRequest },
        caller: Caller,
      ): Promise<FoundHistory> => {
        const cut = cutPage(page)
        const keys = [key, grayHistoryKey(key)]
        const { totalCount, entries } = await store.reads(askerOf(caller)).history(keys, cut)
        return { page: cut, totalCount, entries: entries.map((entry) => ofItem(key, entry)) }
      },
    }),
    /** One record. Refusals `history-not-found`, and `history-not-yours` for another item's. */
    record: guard.operation({
      permission: READ_CONFIG,
      resources,
      inPlace: true,
      run: async (request: RecordRequest, caller) =>
        ofItem(request.key, await recordOfItem(parts, request, caller)),
    }),
    /**
     * The previous version: for the id of a record, the record before it; for the item's own id, the version before
     * the current one. Refuses as `record` does.
     */
    previous: guard.operation({
      permission: READ_CONFIG,
      resources,
      inPlace: true,
      run: async (request: RecordRequest, caller): Promise<HistoryRecord> => {
        const { id } = request
        const previous = await (isItemId(id)
          ? beforeItem(parts, request, caller)
          : beforeRecord(parts, request, caller))
        if (previous === undefined) throw notFound(`There is no version before ${id}.`)
        return ofItem(request.key, previous)
      },
    }),
  }
}

/**
 * The record of this id, if it belongs to the item: of a formal or a gray version. Refusals `history-not-found`, and
 * `history-not-yours` for another item's. A caller who may not read that other item gets the refusal for an id that does not exist.
 */
export async function recordOfItem(
  { guard, store }: { readonly guard: Guard; readonly store: ReadsOf<'historyRecord'> },
  { key, id }: RecordRequest,
  caller: Caller,
): Promise<HistoryRecord> {
  const record = isItemId(id) ? undefined : await store.reads(askerOf(caller)).historyRecord(id, key)
  if (record !== undefined && itemOfHistoryKey(record.key).text === key.text) return record
  if (record !== undefined && mayKnow(guard, record, caller)) throw notYours(id)
  throw notFound(`There is no history record ${id}.`)
}

/** Whether a record is of a gray version. */
export function isOfGray({ key }: Pick<HistoryRecord, 'key'>): boolean {
  return key.text !== itemOfHistoryKey(key).text
}

function mayKnow(guard: Guard, { key }: { readonly key: ConfigKey }, caller: Caller): boolean {
  return guard.shows(caller, 'read', configResource(itemOfHistoryKey(key)))
}

async function beforeItem({ guard, state, store }: HistoryParts, { key, id }: RecordRequest, caller: Caller) {
  const item = state.configs.getById(id)
  if (item?.key.text === key.text) return store.reads(askerOf(caller)).lastUpdate(key, id)
  if (item !== undefined && mayKnow(guard, item, caller)) throw notYours(id)
  throw notFound(`There is no configuration with the id ${id}.`)
}

async function beforeRecord(parts: HistoryParts, request: RecordRequest, caller: Caller) {
  const { key } = await recordOfItem(parts, request, caller)
  return parts.store.reads(askerOf(caller)).historyBefore(key, request.id)
}

function notFound(message: string): Refusal {
  return new Refusal('history-not-found', message)
}

function notYours(id: number): Refusal {
  const message = `The id ${id} belongs to another item: check tenant, dataId and group.`
  return new Refusal('history-not-yours', message)
}

/** A record as a part of the item's history, also one of a gray version. */
function ofItem<R extends { readonly key: ConfigKey }>(key: ConfigKey, record: R): R {
  if (record.key.text === key.text) return record
  const { namespaceId, group, dataId, text } = key
  return { ...record, key: { namespaceId, group, dataId, text } }
}
