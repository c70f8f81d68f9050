import type { Operations } from '../../../../operations/operations.ts'
import { Refusal } from '../../../../core/refusal.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { type Endpoint, endpoint } from '../../routing/endpoint.ts'
import type { Answer } from '../../routing/answer.ts'
import { KEY_PARAMS, toConfigKey } from '../../../parameters/config-key.ts'
import {
  ENTRY_SCHEMA,
  entryJson,
  JAVA_ENTRY_SCHEMA,
  JAVA_RECORD_SCHEMA,
  javaEntryJson,
  javaRecordJson,
  RECORD_SCHEMA,
  recordJson,
} from './history-json.ts'
import { pageJson, pageSchema } from './page-json.ts'
import { answersJson, Json } from '../../routing/answer-schema.ts'

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
      pageNo: fields.withDefault(fields.pageNo, 1),
      pageSize: fields.withDefault(fields.pageSize, 100),
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
