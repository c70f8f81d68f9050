import type { HistoryEntry, HistoryRecord } from '../../../../core/config/history-record.ts'
import { toTenant } from '../../../../core/namespace-id.ts'
import { Json, type JsonSchema } from '../../routing/answer-schema.ts'

function schemaOf(text: JsonSchema): JsonSchema {
  const time = Json.string('As 2026-11-21T11:31:18.579+0000.')
  return Json.object({
    id: Json.string(),
    lastId: Json.constant(-1),
    dataId: Json.string(),
    group: Json.string(),
    tenant: Json.string(),
    appName: Json.string(),
    md5: text,
    content: text,
    srcIp: Json.string(),
    srcUser: Json.nullable(Json.string()),
    opType: Json.words(['I ', 'U ', 'D ']),
    createdTime: time,
    lastModifiedTime: time,
  })
}

/** The schema of `entryJson`. */
export const ENTRY_SCHEMA = Json.named('HistoryEntry', schemaOf(Json.constant(null)))
/** The schema of `recordJson`. */
export const RECORD_SCHEMA = Json.named('HistoryRecord', schemaOf(Json.string()))

/** A record in a page: all fields, with md5 and content null. */
export function entryJson(entry: HistoryEntry): object {
  return json(entry, { md5: null, content: null })
}

/** A record in full. */
export function recordJson(record: HistoryRecord): object {
  return json(record, { md5: record.md5, content: record.content.toString('utf8') })
}

/** The fields in the order of interface.md; ids are digits in a string, there is never a `lastId`. */
function json(
  entry: Omit<HistoryEntry, 'size'>,
  text: { md5: string | null; content: string | null },
): object {
  const time = historyTime(entry.atMs)
  return {
    id: String(entry.id),
    lastId: -1,
    dataId: entry.key.dataId,
    group: entry.key.group,
    tenant: toTenant(entry.key.namespaceId),
    appName: entry.appName,
    md5: text.md5,
    content: text.content,
    srcIp: entry.srcIp,
    srcUser: entry.srcUser,
    opType: `${entry.op} `,
    createdTime: time,
    lastModifiedTime: time,
  }
}

/** `2026-11-21T11:31:18.579+0000` */
function historyTime(epochMs: number): string {
  return `${new Date(epochMs).toISOString().slice(0, -1)}+0000`
}
