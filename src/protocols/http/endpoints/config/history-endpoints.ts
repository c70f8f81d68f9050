import { type ContentInJson, contentInJson } from '../../../answers/json-content.ts'
import type { Operations } from '../../../../operations/operations.ts'
import { Refusal } from '../../../../core/refusal.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { type Endpoint, endpoint, type Answer, type JsonSchema } from '../../routing/route.ts'
import { KEY_PARAMS, toConfigKey } from '../../../parameters/publish-params.ts'
import { pageJson, pageSchema, answersJson, Json } from '../../routing/answers.ts'
import type { GrayNote } from '../../../../core/config/state/history-note.ts'
import type { HistoryEntry, HistoryRecord } from '../../../../core/config/state/history-record.ts'
import { toTenant } from '../../../../core/namespaces/namespace.ts'

/** How a dialect shows histories. */
export interface HistoryDialect {
  readonly hasJavaKeys: boolean
  /** Labels answers as the dialect does. */
  readonly json: (value: object) => Answer
}

/** The endpoints of histories. */
export function historyEndpoints(history: Operations['history'], dialect: HistoryDialect) {
  const { hasJavaKeys, json } = dialect
  const shown = hasJavaKeys ? javaRecordJson : recordJson
  return {
    read: readHistory(history, dialect),
    previous: endpoint({
      summary: 'Reads the version before a history record, or before the current one',
      permission: history.previous.permission,
      answers: answersJson(hasJavaKeys ? JAVA_RECORD_SCHEMA : RECORD_SCHEMA),
      params: Type.Object({
        ...KEY_PARAMS,
        id: fields.withDescription(fields.historyId, 'The id of a history record, or of the item itself.'),
      }),
      handle: async ({ params, caller }) => {
        const request = { key: toConfigKey(params), id: params.id }
        return json(shown(await history.previous(request, caller)))
      },
    }),
  } satisfies Record<string, Endpoint>
}

/** The list and the detail share a path: `search` asks for the list, `nid` for one record. */
function readHistory(history: Operations['history'], { hasJavaKeys, json }: HistoryDialect): Endpoint {
  const shownEntry = hasJavaKeys ? javaEntryJson : entryJson
  const shownRecord = hasJavaKeys ? javaRecordJson : recordJson
  return endpoint({
    summary: 'Lists the history of a configuration item, or reads one record of it',
    permission: history.list.permission,
    answers: answersJson(
      hasJavaKeys
        ? Json.anyOf(pageSchema('JavaHistoryPage', JAVA_ENTRY_SCHEMA), JAVA_RECORD_SCHEMA)
        : Json.anyOf(pageSchema('HistoryPage', ENTRY_SCHEMA), RECORD_SCHEMA),
    ),
    params: Type.Object({
      ...KEY_PARAMS,
      search: Type.Optional(Type.Enum(['accurate'], { description: 'Asks for the list.' })),
      ...fields.page(100),
      nid: Type.Optional(fields.historyId),
    }),
    handle: async ({ params, caller }) => {
      const key = toConfigKey(params)
      if (params.search !== undefined) {
        const { page, totalCount, entries } = await history.list({ key, page: params }, caller)
        return json(pageJson(page, totalCount, entries.map(shownEntry)))
      }
      if (params.nid === undefined) throw withoutNid()
      return json(shownRecord(await history.record({ key, id: params.nid }, caller)))
    },
  })
}

function withoutNid(): Refusal {
  const allowed = 'the id of a history record; search=accurate asks for the list instead'
  return new Refusal('missing-parameter', `nid is required: ${allowed}.`, { parameter: 'nid', allowed })
}

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
  publishType: Json.optional(Json.constant('gray')),
  grayName: Json.optional(Json.string('The record is of the gray version of this name.')),
  grayRule: Json.optional(Json.string('JSON: for whom the version was.')),
  importedId: Json.optional(
    Json.string('An import wrote the record: its id there, or empty where it had none.'),
  ),
}

/** The schema of `entryJson`. */
const ENTRY_SCHEMA = Json.named('HistoryEntry', schemaOf(Json.constant(null), IMPORT_NOTE))
/** The schema of `recordJson`. */
const RECORD_SCHEMA = Json.named('HistoryRecord', schemaOf(Json.string(), IMPORT_NOTE))

const JAVA_FIELDS = {
  publishType: Json.words(['formal', 'gray']),
  grayName: Json.string('The name of the gray version; empty: the record is of what is for all.'),
  extInfo: Json.string('JSON: type, src_user; of a gray version gray_name, gray_rule, src_user.'),
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
function entryJson(entry: HistoryEntry): object {
  return { ...plainEntry(entry), ...noteJson(entry) }
}

/** A record in full. */
function recordJson(record: HistoryRecord): object {
  return { ...plainRecord(record), ...noteJson(record) }
}

/** The same two for `/nacos`, with the further fields of 2.x. */
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
  return json(record, { md5: record.md5, content: contentInJson(record.content) })
}

function noteJson({ note: { importedId, gray } = {} }: HistoryEntry | HistoryRecord): object {
  return {
    ...(importedId === undefined ? {} : { importedId }),
    ...(gray === undefined ? {} : { publishType: 'gray', grayName: gray.name, grayRule: ruleText(gray) }),
  }
}

function javaFields({ type, srcUser, note }: HistoryEntry | HistoryRecord, key: string | null): object {
  const gray = note?.gray
  const by = srcUser === null ? {} : { src_user: srcUser }
  const about = gray === undefined ? { type } : { gray_name: gray.name, gray_rule: ruleText(gray) }
  const extInfo = JSON.stringify({ ...about, ...by })
  const publishType = gray === undefined ? 'formal' : 'gray'
  return { publishType, grayName: gray?.name ?? '', extInfo, encryptedDataKey: key }
}

/** A rule as 2.5 writes it: JSON, with the priority as a text. */
function ruleText({ rule: { type, expr, version, priority } }: GrayNote): string {
  return JSON.stringify({ type, expr, version, priority: String(priority) })
}

/** The fields in the order of interface.md; ids are digits in a string, there is never a `lastId`. */
function json(
  entry: Omit<HistoryEntry, 'size'>,
  text: { md5: string | null; content: ContentInJson | null },
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
