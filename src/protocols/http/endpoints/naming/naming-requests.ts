import { toNamespaceId } from '../../../../core/namespaces/namespace.ts'
import type { Metadata } from '../../../../core/naming/state/instance.ts'
import type { ServiceKey } from '../../../../core/naming/state/service.ts'
import type { Operations } from '../../../../operations/operations.ts'
import * as fields from '../../../parameters/fields.ts'
import { toGroupedName } from '../../../parameters/grouped-name.ts'
import { parseMetadata } from '../../../parameters/json-fields.ts'
import { Type } from '../../../parameters/schema.ts'

/** Dependencies of the naming endpoints, and the most metadata of an instance, in bytes. */
export interface NamingEndpointParts extends Pick<
  Operations,
  'instances' | 'beats' | 'lists' | 'services' | 'catalog'
> {
  readonly maxInstanceMetadataBytes: number
}

/** How a request names a service. */
export const SERVICE_PARAMS = {
  namespaceId: Type.Optional(fields.namespaceId),
  serviceName: fields.serviceName,
  groupName: fields.groupNameOrDefault,
}

/** The service that a request names. */
export function serviceKeyOf(params: {
  readonly namespaceId?: string
  readonly serviceName: string
  readonly groupName: string
}): ServiceKey {
  return {
    namespaceId: toNamespaceId(params.namespaceId),
    groupedName: toGroupedName(params.serviceName, params.groupName),
  }
}

/** The metadata in a request, if any. */
export function metadataOf(
  { maxInstanceMetadataBytes }: Pick<NamingEndpointParts, 'maxInstanceMetadataBytes'>,
  text: string | undefined,
): Metadata | undefined {
  return text === undefined ? undefined : parseMetadata(text, 'metadata', maxInstanceMetadataBytes)
}
