import { toNamespaceId } from '../../../core/namespaces/namespace.ts'
import type { ServiceKey } from '../../../core/naming/state/service.ts'
import * as fields from '../../parameters/fields.ts'
import { toGroupedName } from '../../parameters/grouped-name.ts'
import {
  Type,
  type ObjectSchema,
  type Properties,
  type Static,
  NACOS_NAMING_RULES,
} from '../../parameters/schema.ts'
import { JsonValues } from '../../parameters/json-values.ts'
import { compileReader } from '../../parameters/parameter-reader.ts'
import type { JsonObject } from '../wire/json.ts'

/** How a request names a service. */
export const SERVICE_KEYS = {
  namespace: Type.Optional(fields.namespaceId),
  serviceName: fields.serviceName,
  groupName: fields.groupNameOrDefault,
}

/** The service that a request names. */
export function serviceKeyOf(named: {
  readonly namespace?: string
  readonly serviceName: string
  readonly groupName: string
}): ServiceKey {
  return {
    namespaceId: toNamespaceId(named.namespace),
    groupedName: toGroupedName(named.serviceName, named.groupName),
  }
}

/** Reads keys of a body as parameters are read: absent, `null` and `''` are the same. Refusals name the key. */
export function bodyReader<T extends ObjectSchema<Properties>>(schema: T): (body: JsonObject) => Static<T> {
  const read = compileReader(schema, NACOS_NAMING_RULES)
  return (body) => read(new JsonValues(body)) as Static<T>
}
