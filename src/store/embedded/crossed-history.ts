import { configKey, type ConfigKey } from '../../core/config/config-item.ts'
import type { HistoryPage, HistoryRecord } from '../../core/config/history-record.ts'
import type { CrossingPage, CrossingRecord } from './messages.ts'

/** A page of history as the port has it, of what came from the worker; `key` is whose it is. */
export function arrivedPage(key: ConfigKey, { totalCount, entries }: CrossingPage): HistoryPage {
  return { totalCount, entries: entries.map((entry) => ({ ...entry, key })) }
}

/** A record as the port has it, with its content as a Buffer again. */
export function arrivedRecord(record: CrossingRecord | undefined): HistoryRecord | undefined {
  if (record === undefined) return undefined
  const { name, entry, md5, content } = record
  const { buffer, byteOffset, byteLength } = content
  return { ...entry, key: configKey(...name), md5, content: Buffer.from(buffer, byteOffset, byteLength) }
}
