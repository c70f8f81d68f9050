import { configKey, type ConfigKey, type ConfigType } from '../../core/config/config-item.ts'
import type { HistoryEntry, HistoryOp, HistoryPage, HistoryRecord } from '../../core/config/history-record.ts'
import type { CrossingPage, CrossingRecord, RecordFacts } from './messages.ts'

/** A page of history as the port has it, of what came from the worker; `key` is whose it is. */
export function arrivedPage(key: ConfigKey, { totalCount, rows }: CrossingPage): HistoryPage {
  return { totalCount, entries: rows.map((facts) => entryOf(key, facts)) }
}

/** A record as the port has it, with its content as a Buffer again. */
export function arrivedRecord(record: CrossingRecord | undefined): HistoryRecord | undefined {
  if (record === undefined) return undefined
  const { name, facts, md5, content } = record
  const { buffer, byteOffset, byteLength } = content
  const whole = { md5, content: Buffer.from(buffer, byteOffset, byteLength) }
  return Object.assign(entryOf(configKey(...name), facts), whole)
}

/** The columns of its row without content are NULL where another row is missing that they come from. */
function entryOf(key: ConfigKey, facts: RecordFacts): HistoryEntry {
  const [id, atMs, op, srcIp, srcUser, type, appName, encryptedDataKey] = facts
  return {
    id: Number(id),
    key,
    op: op as HistoryOp,
    type: type as ConfigType,
    appName: String(appName ?? ''),
    encryptedDataKey: String(encryptedDataKey ?? ''),
    srcIp: String(srcIp),
    srcUser: srcUser as string | null,
    atMs: Number(atMs),
  }
}
