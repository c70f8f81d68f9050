import { consistencyTypeOf } from '../../../../core/naming/metadata-commands.ts'
import type { KnownInstance } from '../../../../core/view.ts'
import { afterwards } from '../../../../operations/afterwards.ts'
import type { BatchRequest, InstanceOperations } from '../../../../operations/instances.ts'
import * as fields from '../../../parameters/fields.ts'
import { parseInstanceLocators } from '../../../parameters/json-fields.ts'
import { type Properties, Type } from '../../../parameters/schema.ts'
import { jsonAnswer } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/endpoint.ts'
import type { Answer } from '../../routing/route.ts'
import { metadataOf, type NamingEndpointParts, serviceKeyOf } from './naming-requests.ts'

/** The batches of metadata (interface.md, batch metadata). `namespaceId` is optional on one dialect only. */
export function metadataEndpoints(parts: NamingEndpointParts, namespaceId: Properties[string]) {
  const params = Type.Object({
    namespaceId: namespaceId as typeof fields.namespaceId,
    serviceName: fields.serviceName,
    groupName: fields.groupNameOrDefault,
    consistencyType: Type.Optional(fields.consistencyType),
    instances: Type.Optional(fields.instances),
    metadata: fields.metadata,
  })
  const batch = (summary: string, carryOut: InstanceOperations['updateMetadata']): Endpoint =>
    endpoint({
      summary,
      permission: carryOut.permission,
      params,
      handle: ({ params: read, caller }) => {
        const { consistencyType } = read
        const request = {
          serviceKey: serviceKeyOf(read),
          consistencyType,
          keys: metadataOf(parts, read.metadata) ?? {},
          // Not even read where a kind is given.
          instances: locatorsOf(consistencyType === undefined ? read.instances : undefined),
        }
        return afterwards(carryOut(request, caller), updatedAnswer)
      },
    })
  return {
    update: batch('Batch update instance metadata', parts.instances.updateMetadata),
    remove: batch('Batch delete instance metadata', parts.instances.deleteMetadata),
  }
}

function locatorsOf(text: string | undefined): BatchRequest['instances'] {
  if (text === undefined) return []
  return parseInstanceLocators(text).map(({ ip, port, ephemeral, clusterName: cluster }) => {
    return { ip, port, ephemeral, cluster }
  })
}

/** The third part is fixed (http-compat.md section 1, batch metadata). */
function updatedAnswer(updated: readonly KnownInstance[]): Answer {
  return jsonAnswer({
    updated: updated.map(({ record }) => {
      const { ip, port, cluster } = record.address
      return `${ip}:${port}:unknown:${cluster}:${consistencyTypeOf(record)}`
    }),
  })
}
