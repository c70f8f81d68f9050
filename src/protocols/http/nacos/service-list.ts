import { Type } from '../../parameters/schema.ts'
import { serviceNameOf } from '../../../core/naming/state/service.ts'
import { toNamespaceId } from '../../../core/namespaces/namespace.ts'
import type { NamingEndpointParts } from '../endpoints/naming/naming-requests.ts'
import { jsonAnswer } from '../routing/answers.ts'
import * as fields from '../../parameters/fields.ts'
import { parseServiceFilter } from '../../parameters/json-fields.ts'
import { type Endpoint, endpoint } from '../routing/endpoint.ts'

const EVERY_GROUP = '*'

/**
 * `GET …/service/list` with the additions of 1.4 (http-compat.md section 1, Services). `groupName=*` lists
 * grouped names of every group, `selector` filters by metadata, and a page of size 0 is empty.
 */
export function serviceListEndpoint({ services }: NamingEndpointParts): Endpoint {
  return endpoint({
    summary: 'Query service list',
    permission: services.list.permission,
    params: Type.Object({
      pageNo: fields.pageNoOrZero,
      pageSize: fields.pageSizeOrZero,
      groupName: fields.withDefault(fields.groupNameOrAll, fields.DEFAULT_GROUP),
      namespaceId: Type.Optional(fields.namespaceId),
      selector: Type.Optional(fields.selector),
    }),
    handle: ({ params, caller }) => {
      const { pageNo, pageSize, groupName } = params
      const namespaceId = toNamespaceId(params.namespaceId)
      const isEveryGroup = groupName === EVERY_GROUP
      const group = isEveryGroup ? undefined : groupName
      const filter = parseServiceFilter(params.selector)
      const page = { pageNo: Math.max(pageNo, 1), pageSize }
      const { entries, totalCount } = services.list({ namespaceId, group, filter, page }, caller)
      return jsonAnswer({ doms: isEveryGroup ? entries : entries.map(serviceNameOf), count: totalCount })
    },
  })
}
