import type { ImportNote } from '../../../../operations/config/config-history.ts'
import type { HistoryEntry, HistoryRecord } from '../../../../core/config/state/history-record.ts'
import { toTenant } from '../../../../core/namespaces/namespace-id.ts'
import { Json, type JsonSchema } from '../../routing/answer-schema.ts'

function schemaOf(text: JsonSchema, more: Readonly<Record<string, JsonSchema>> = {}): JsonSchema {
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
    ...more,
  })
}

const IMPORT_NOTE = {
  importedId: Json.optional(
    Json.string('An import wrote the record: its id there, or empty where it had none.'),
  ),
}

/** The schema of `entryJson`. */
export const ENTRY_SCHEMA = Json.named('HistoryEntry', schemaOf(Json.constant(null), IMPORT_NOTE))
/** The schema of `recordJson`. */
export const RECORD_SCHEMA = Json.named('HistoryRecord', schemaOf(Json.string(), IMPORT_NOTE))

const JAVA_FIELDS = {
  publishType: Json.constant('formal'),
  grayName: Json.constant(''),
  extInfo: Json.string('JSON: type, src_user.'),
}
/** The schema of `javaEntryJson`. */
export const JAVA_ENTRY_SCHEMA = Json.named(
  'JavaHistoryEntry',
  schemaOf(Json.constant(null), { ...JAVA_FIELDS, encryptedDataKey: Json.constant(null) }),
)
/** The schema of `javaRecordJson`. */
export const JAVA_RECORD_SCHEMA = Json.named(
  'JavaHistoryRecord',
  schemaOf(Json.string(), { ...JAVA_FIELDS, encryptedDataKey: Json.string() }),
)

/** A record in a page: all fields, with md5 and content null. */
export function entryJson(entry: HistoryEntry & ImportNote): object {
  return { ...plainEntry(entry), ...noteJson(entry) }
}

/** A record in full. */
export function recordJson(record: HistoryRecord & ImportNote): object {
  return { ...plainRecord(record), ...noteJson(record) }
}

/** The same two for `/nacos`, with what 2.x has besides. */
export function javaEntryJson(entry: HistoryEntry): object {
  return { ...plainEntry(entry), ...javaFields(entry, null) }
}

/** See {@link javaEntryJson}. */
export function javaRecordJson(record: HistoryRecord): object {
  return { ...plainRecord(record), ...javaFields(record, record.encryptedDataKey) }
}

function plainEntry(entry: HistoryEntry): object {
  return json(entry, { md5: null, content: null })
}

function plainRecord(record: HistoryRecord): object {
  return json(record, { md5: record.md5, content: record.content.toString('utf8') })
}

function noteJson({ importedId }: ImportNote): object {
  return importedId === undefined ? {} : { importedId }
}

/** There are no versions for a part of the clients yet, so all are formal. */
function javaFields({ type, srcUser }: Pick<HistoryEntry, 'type' | 'srcUser'>, key: string | null): object {
  const extInfo = JSON.stringify({ type, ...(srcUser === null ? {} : { src_user: srcUser }) })
  return { publishType: 'formal', grayName: '', extInfo, encryptedDataKey: key }
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
