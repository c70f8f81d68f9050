import { hostPort } from '../../../../core/text/ip-address.ts'
import type { Operations } from '../../../../operations/operations.ts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { consistencyTypeOf } from '../../../../core/naming/commands/metadata-commands.ts'
import { instanceIdOf, type InstanceAddress } from '../../../../core/naming/state/instance.ts'
import type { KnownInstance } from '../../../../core/decisions/view.ts'
import type { BatchRequest } from '../../../../operations/naming/instances.ts'
import * as fields from '../../../parameters/fields.ts'
import { parseInstanceLocators } from '../../../parameters/json-fields.ts'
import { type Properties, Type } from '../../../parameters/schema.ts'
import { jsonAnswer, jsonTextAnswer, answersJson, Json } from '../../routing/answers.ts'
import { type Endpoint, endpoint, type Answer } from '../../routing/route.ts'
import {
  metadataOf,
  type NamingDialect,
  type NamingEndpointParts,
  SERVICE_PARAMS,
  serviceKeyOf,
} from './naming-requests.ts'

const UPDATED = Json.named(
  'UpdatedInstances',
  Json.object({
    updated: Json.list(Json.string('<ip>:<port>:unknown:<cluster>:<ephemeral or persist>')),
  }),
)

const NAMES_IN_SLICE = 1_000

/** The batches of metadata (interface.md, batch metadata). `namespaceId` is optional on one dialect only. */
export function metadataEndpoints(
  parts: NamingEndpointParts,
  namespaceId: Properties[string],
  { hasJavaKeys }: NamingDialect,
) {
  const params = Type.Object({
    namespaceId: namespaceId as typeof fields.namespaceId,
    serviceName: fields.serviceName,
    groupName: fields.groupNameOrDefault,
    consistencyType: Type.Optional(fields.consistencyType),
    instances: Type.Optional(fields.instances),
    metadata: fields.metadata,
  })
  const batch = (summary: string, carryOut: Operations['instances']['updateMetadata']): Endpoint =>
    endpoint({
      summary,
      permission: carryOut.permission,
      answers: answersJson(UPDATED),
      params,
      handle: async ({ params: read, caller }) => {
        const { consistencyType } = read
        const request = {
          serviceKey: serviceKeyOf(read),
          consistencyType,
          keys: metadataOf(parts, read.metadata) ?? {},
          // Not even read where a kind is given.
          instances: locatorsOf(consistencyType === undefined ? read.instances : undefined, !hasJavaKeys),
        }
        return updatedAnswer(await carryOut(request, caller))
      },
    })
  return {
    update: batch('Batch update instance metadata', parts.instances.updateMetadata),
    remove: batch('Batch delete instance metadata', parts.instances.deleteMetadata),
  }
}

const MODIFIED = Json.named(
  'ChangedInstances',
  Json.object({
    updated: Json.list(Json.string('The id of an instance.')),
    notFound: Json.list(Json.string('The id that an instance there would have.')),
  }),
)

/** `PUT …/instance/batch`: weight and enabled of several instances. */
export function modifyManyEndpoint({ instances }: NamingEndpointParts): Endpoint {
  return endpoint({
    summary:
      'Changes the weight of several instances, or whether they take calls, or lifts what operators have set',
    permission: instances.modifyMany.permission,
    answers: answersJson(MODIFIED),
    params: Type.Object({
      ...SERVICE_PARAMS,
      instances: fields.instances,
      weight: Type.Optional(fields.weight),
      enabled: Type.Optional(fields.enabled),
      lift: fields.withDefault(fields.lift, false),
    }),
    handle: async ({ params, caller }) => {
      const serviceKey = serviceKeyOf(params)
      const { weight, enabled, lift: lifts } = params
      const instancesMeant = locatorsOf(params.instances, true)
      const request = { serviceKey, instances: instancesMeant, weight, enabled, lifts }
      const { updated, notFound } = await instances.modifyMany(request, caller)
      const idOf = (address: InstanceAddress): string => instanceIdOf(address, serviceKey.groupedName)
      return jsonAnswer({ updated: updated.map(idOf), notFound: notFound.map(idOf) })
    },
  })
}

function locatorsOf(text: string | undefined, isStrict: boolean): BatchRequest['instances'] {
  if (text === undefined) return []
  return parseInstanceLocators(text).map(({ ip, port, ephemeral, clusterName: cluster }) => {
    return { ip, port, ephemeral, cluster, isStrict }
  })
}

/** The answer names all instances. It is built in slices, so that other requests are answered meanwhile. */
async function updatedAnswer(updated: readonly KnownInstance[]): Promise<Answer> {
  const slices = [namesOf(updated.slice(0, NAMES_IN_SLICE))]
  for (let from = NAMES_IN_SLICE; from < updated.length; from += NAMES_IN_SLICE) {
    await nextTurn()
    slices.push(namesOf(updated.slice(from, from + NAMES_IN_SLICE)))
  }
  return jsonTextAnswer(`{"updated":[${slices.join(',')}]}`)
}

/** The elements of a JSON array, without its brackets. The third part is fixed (http-compat.md section 1, batch metadata). */
function namesOf(instances: readonly KnownInstance[]): string {
  const names = instances.map(({ record }) => {
    const { ip, port, cluster } = record.address
    return `${hostPort(ip, port)}:unknown:${cluster}:${consistencyTypeOf(record)}`
  })
  return JSON.stringify(names).slice(1, -1)
}
