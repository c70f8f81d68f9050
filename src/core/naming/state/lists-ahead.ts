import { defineRecordKind } from '../../records/record-kind.ts'
import type { RecordView } from '../../records/record-tables.ts'

/**
 * By how much lists are stamped (`lastRefTime`) ahead of the clock, in ms. It is at least as much as at the server from which this
 * one has taken over. Clients of that server drop lists that are not newer. There is one record, and its value only rises.
 */
export const LISTS_AHEAD = defineRecordKind<number>('lists-ahead', aheadMs)

/** The id of the only record. */
export const OF_ALL_LISTS = 'all'

/** By how much lists are stamped ahead of the clock, ms. */
export function listsAheadMs(records: Pick<RecordView, 'record'>): number {
  return records.record(LISTS_AHEAD, OF_ALL_LISTS) ?? 0
}

function aheadMs(json: unknown): number {
  if (Number.isSafeInteger(json) && (json as number) >= 0) return json as number
  throw new Error('it is not a whole number of milliseconds')
}
