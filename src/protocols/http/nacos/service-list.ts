import { Type } from '../../parameters/schema.ts'
import { serviceNameOf } from '../../../core/naming/service.ts'
import { conditionsOfExpression, meetsConditions } from '../../../core/naming/service-filter.ts'
import { toNamespaceId } from '../../../core/namespace-id.ts'
import type { NamingParts } from '../endpoints/naming/naming-parts.ts'
import { jsonAnswer } from '../routing/answers.ts'
import * as fields from '../../parameters/fields.ts'
import { parseServiceFilter } from '../../parameters/json-fields.ts'
import { type Operation, operation } from '../routing/operation.ts'

const EVERY_GROUP = '*'

/**
 * `GET …/service/list` with what 1.4 adds: `groupName=*` lists grouped names of every group, `selector` filters by
 * metadata, and a page of size 0 is empty (http-compat.md section 1, Services).
 */
export function serviceListOperation({ state }: NamingParts): Operation {
  return operation({
    summary: 'Query service list',
    permission: { action: 'read', resource: 'naming' },
    params: Type.Object({
      pageNo: fields.pageNoOrZero,
      pageSize: fields.pageSizeOrZero,
      groupName: fields.withDefault(fields.groupNameOrAll, fields.DEFAULT_GROUP),
      namespaceId: Type.Optional(fields.namespaceId),
      selector: Type.Optional(fields.selector),
    }),
    handle: ({ params }) => {
      const { pageNo, pageSize, groupName } = params
      const namespaceId = toNamespaceId(params.namespaceId)
      const isEveryGroup = groupName === EVERY_GROUP
      const inGroup = state.services.names(namespaceId, isEveryGroup ? undefined : groupName)
      const names = filtered({ state }, { namespaceId, names: inGroup, selector: params.selector })
      const first = (Math.max(pageNo, 1) - 1) * pageSize
      const page = names.slice(first, first + pageSize)
      return jsonAnswer({ doms: isEveryGroup ? page : page.map(serviceNameOf), count: names.length })
    },
  })
}

interface Unfiltered {
  readonly namespaceId: string
  readonly names: readonly string[]
  readonly selector: string | undefined
}

function filtered({ state }: Pick<NamingParts, 'state'>, { namespaceId, names, selector }: Unfiltered) {
  const conditions = conditionsOfExpression(parseServiceFilter(selector))
  if (conditions.length === 0) return names
  return names.filter((groupedName) => {
    const entry = state.services.get({ namespaceId, groupedName })
    return entry !== undefined && meetsConditions(entry, conditions)
  })
}
