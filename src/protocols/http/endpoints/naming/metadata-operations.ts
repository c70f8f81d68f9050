import { type Properties, Type } from '../../../parameters/schema.ts'
import {
  type MetadataBatch,
  consistencyTypeOf,
  deleteMetadata,
  updateMetadata,
} from '../../../../core/naming/metadata-commands.ts'
import type { Command } from '../../../../core/decision.ts'
import type { KnownInstance } from '../../../../core/view.ts'
import { jsonAnswer } from '../../routing/answers.ts'
import * as fields from '../../../parameters/fields.ts'
import { parseInstanceLocators, parseMetadata } from '../../../parameters/json-fields.ts'
import { type Operation, operation } from '../../routing/operation.ts'
import type { Answer } from '../../routing/route.ts'
import { andThen } from '../../routing/and-then.ts'
import { type NamingParts, serviceKeyOf } from './naming-parts.ts'

/** The batch operations on metadata (interface.md, batch metadata). `namespaceId` is optional on one dialect only. */
export function metadataOperations(parts: NamingParts, namespaceId: Properties[string]) {
  const batchParams = Type.Object({
    namespaceId: namespaceId as typeof fields.namespaceId,
    serviceName: fields.serviceName,
    groupName: fields.groupNameOrDefault,
    consistencyType: Type.Optional(fields.consistencyType),
    instances: Type.Optional(fields.instances),
    metadata: fields.metadata,
  })
  const batchOf = (
    summary: string,
    commandOf: (batch: MetadataBatch) => Command<KnownInstance[]>,
  ): Operation =>
    operation({
      summary,
      permission: { action: 'write', resource: 'naming' },
      params: batchParams,
      handle: ({ params }) => {
        const serviceKey = serviceKeyOf(params)
        const { consistencyType } = params
        const maxBytes = parts.maxInstanceMetadataBytes
        const keys = parseMetadata(params.metadata, 'metadata', maxBytes)
        const instances = locatorsOf(consistencyType === undefined ? params.instances : undefined)
        const command = commandOf({ serviceKey, consistencyType, instances, keys, maxBytes })
        return andThen(parts.engine.execute(command), (meant) => updatedAnswer(meant))
      },
    })
  return {
    update: batchOf('Batch update instance metadata', updateMetadata),
    remove: batchOf('Batch delete instance metadata', deleteMetadata),
  }
}

function locatorsOf(text: string | undefined): MetadataBatch['instances'] {
  if (text === undefined) return []
  return parseInstanceLocators(text).map(({ ip, port, ephemeral, clusterName: cluster }) => {
    return { ip, port, ephemeral, cluster }
  })
}

/** The third part is fixed (http-compat.md section 1, batch metadata). */
function updatedAnswer(meant: readonly KnownInstance[]): Answer {
  return jsonAnswer({
    updated: meant.map(({ record }) => {
      const { ip, port, cluster } = record.address
      return `${ip}:${port}:unknown:${cluster}:${consistencyTypeOf(record)}`
    }),
  })
}
