import { Type } from '../../../parameters/schema.ts'
import { Refusal } from '../../../../core/refusal.ts'
import * as fields from '../../../parameters/fields.ts'
import { type Operation, operation } from '../../routing/operation.ts'
import type { Answer } from '../../routing/route.ts'
import { KEY_PARAMS, toConfigKey } from './config-key.ts'
import { recordJson } from './history-json.ts'
import { historyDetail, historyPage, type HistoryParts, previousRecord } from './history-queries.ts'

const READ = { action: 'read', resource: 'config' } as const

/** The operations on histories; `json` is how the dialect labels what it answers. */
export function historyOperations(parts: HistoryParts, json: (value: object) => Answer) {
  return {
    read: readHistory(parts, json),
    previous: operation({
      summary: 'Reads the version before a history record, or before the current one',
      permission: READ,
      params: Type.Object({
        ...KEY_PARAMS,
        id: fields.withDescription(fields.historyId, 'The id of a history record, or of the item itself.'),
      }),
      handle: async ({ params }) =>
        json(recordJson(await previousRecord(parts, toConfigKey(params), params.id))),
    }),
  } satisfies Record<string, Operation>
}

/** The list and the detail share a path: `search` asks for the list, `nid` for one record. */
function readHistory(parts: HistoryParts, json: (value: object) => Answer): Operation {
  return operation({
    summary: 'Lists the history of a configuration item, or reads one record of it',
    permission: READ,
    params: Type.Object({
      ...KEY_PARAMS,
      search: Type.Optional(Type.Enum(['accurate'], { description: 'Asks for the list.' })),
      pageNo: fields.withDefault(fields.pageNo, 1),
      pageSize: fields.withDefault(fields.pageSize, 100),
      nid: Type.Optional(fields.historyId),
    }),
    handle: async ({ params }) => {
      const key = toConfigKey(params)
      if (params.search !== undefined) return json(await historyPage(parts, key, params))
      if (params.nid === undefined) throw withoutNid()
      return json(recordJson(await historyDetail(parts, key, params.nid)))
    },
  })
}

function withoutNid(): Refusal {
  const allowed = 'the id of a history record; search=accurate asks for the list instead'
  return new Refusal('missing-parameter', `nid is required: ${allowed}.`, { parameter: 'nid', allowed })
}
