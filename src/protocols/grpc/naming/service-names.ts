import { toNamespaceId } from '../../../core/namespaces/namespace.ts'
import type { ServiceKey } from '../../../core/naming/state/service.ts'
import * as fields from '../../parameters/fields.ts'
import { toGroupedName } from '../../parameters/grouped-name.ts'
import { Type } from '../../parameters/schema.ts'

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
