import { Type } from '../../parameters/schema.ts'
import { listOperation } from '../endpoints/naming/list-operation.ts'
import type { NamingParts } from '../endpoints/naming/naming-parts.ts'
import type { Operation } from '../routing/operation.ts'
import { nacosListFormat } from './java-clients.ts'
import * as fields from '../../parameters/fields.ts'

/** The list as DNS front ends ask for it: the service is called `dom` (http-compat.md section 8). */
export function srvIPXTOperation(parts: NamingParts): Operation {
  const list = listOperation(parts, nacosListFormat)
  const params = Type.Object({
    ...list.params.properties,
    serviceName: fields.withAliases(fields.serviceName, 'dom'),
  })
  return { ...list, params }
}
