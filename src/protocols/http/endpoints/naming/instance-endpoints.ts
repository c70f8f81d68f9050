import { instanceIdOf } from '../../../../core/naming/state/instance.ts'
import type { Instance } from '../../../../core/naming/state/service-entry.ts'
import { afterwards } from '../../../../operations/afterwards.ts'
import type { InstanceRequest } from '../../../../operations/naming/instance-targets.ts'
import * as fields from '../../../parameters/fields.ts'
import { type Static, Type } from '../../../parameters/schema.ts'
import { OK_TEXT, ANSWERS_OK, answersJson, Json } from '../../routing/answers.ts'
import { type Endpoint, endpoint, type HttpCaller, type Answer } from '../../routing/route.ts'
import {
  JAVA_DIALECT,
  type NamingDialect,
  metadataOf,
  type NamingEndpointParts,
  SERVICE_PARAMS,
  serviceKeyOf,
} from './naming-requests.ts'

/** How a request names an instance. */
export const INSTANCE_PARAMS = {
  ...SERVICE_PARAMS,
  ip: fields.ip,
  port: fields.port,
  clusterName: Type.Optional(fields.withAliases(fields.clusterName, 'cluster')),
  ephemeral: Type.Optional(fields.ephemeral),
}

const enabled = fields.withAliases(fields.enabled, 'enable')
const healthy = fields.withAliases(fields.healthy, 'valid')

const DETAIL = Json.named(
  'InstanceDetail',
  Json.object({
    service: Json.string('As <group>@@<service>.'),
    ip: Json.string(),
    port: Json.integer(),
    clusterName: Json.string(),
    weight: Json.number(),
    healthy: Json.boolean(),
    instanceId: Json.string(),
    metadata: Json.map(Json.string()),
  }),
)

type InstanceParams = Static<ReturnType<typeof Type.Object<typeof INSTANCE_PARAMS>>>

/** The endpoints of single instances (interface.md, Service discovery: instances). */
export function instanceEndpoints(parts: NamingEndpointParts, dialect: NamingDialect) {
  return {
    register: register(parts, dialect),
    deregister: deregisterEndpoint(parts, false),
    modify: modifyEndpoint(parts, () => false, dialect),
    updateHealth: updateHealth(parts, dialect),
    detail: detail(parts, dialect),
  } satisfies Record<string, Endpoint>
}

function register(parts: NamingEndpointParts, dialect: NamingDialect): Endpoint {
  const { instances } = parts
  return endpoint({
    summary: 'Register instance',
    permission: instances.register.permission,
    answers: ANSWERS_OK,
    params: Type.Object({
      ...INSTANCE_PARAMS,
      weight: fields.withDefault(fields.weight, 1),
      enabled: fields.withDefault(enabled, true),
      healthy: Type.Optional(healthy),
      metadata: Type.Optional(fields.metadata),
      app: Type.Optional(fields.app),
    }),
    handle: ({ params, caller }) => {
      const request = {
        serviceKey: serviceKeyOf(params),
        ip: params.ip,
        port: params.port,
        cluster: params.clusterName,
        ephemeral: params.ephemeral,
        weight: params.weight,
        enabled: params.enabled,
        healthy: params.healthy,
        metadata: metadataOf(parts, params.metadata) ?? {},
        app: params.app ?? '',
        isStrict: isStrict(dialect),
      }
      return afterwards(instances.register(request, caller), okAnswer)
    },
  })
}

/** Removes an instance. `sparesConnections`: see `DeregisterRequest`. */
export function deregisterEndpoint({ instances }: NamingEndpointParts, sparesConnections: boolean): Endpoint {
  return endpoint({
    summary: 'Deregister instance',
    permission: instances.deregister.permission,
    answers: ANSWERS_OK,
    params: Type.Object(INSTANCE_PARAMS),
    handle: ({ params, caller }) =>
      afterwards(
        instances.deregister({ ...instanceRequestOf(params, !sparesConnections), sparesConnections }, caller),
        okAnswer,
      ),
  })
}

/**
 * Changes an instance. An unknown instance is refused, or registered if `registersUnknown` is true for the caller
 * (docs/decisions/0021).
 */
export function modifyEndpoint(
  parts: NamingEndpointParts,
  registersUnknown: (caller: HttpCaller) => boolean,
  dialect: NamingDialect = JAVA_DIALECT,
): Endpoint {
  const { modify } = parts.instances
  return endpoint({
    summary: 'Modify instance',
    permission: modify.permission,
    answers: ANSWERS_OK,
    params: Type.Object({
      ...INSTANCE_PARAMS,
      weight: Type.Optional(fields.weight),
      enabled: Type.Optional(enabled),
      metadata: Type.Optional(fields.metadata),
    }),
    handle: ({ params, caller }) => {
      const request = {
        ...instanceRequestOf(params, isStrict(dialect)),
        weight: params.weight,
        enabled: params.enabled,
        metadata: metadataOf(parts, params.metadata),
        registersUnknown: registersUnknown(caller),
      }
      return afterwards(modify(request, caller), okAnswer)
    },
  })
}

function updateHealth({ instances }: NamingEndpointParts, dialect: NamingDialect): Endpoint {
  return endpoint({
    summary: 'Update instance health status',
    permission: instances.setHealth.permission,
    answers: ANSWERS_OK,
    params: Type.Object({ ...INSTANCE_PARAMS, healthy }),
    handle: ({ params, caller }) => {
      const request = { ...instanceRequestOf(params, isStrict(dialect)), healthy: params.healthy }
      return afterwards(instances.setHealth(request, caller), okAnswer)
    },
  })
}

function detail({ instances }: NamingEndpointParts, dialect: NamingDialect): Endpoint {
  return endpoint({
    summary: 'Query instance detail',
    permission: instances.read.permission,
    answers: answersJson(DETAIL),
    params: Type.Object(INSTANCE_PARAMS),
    handle: ({ params, caller }) =>
      dialect.json(detailJson(instances.read(instanceRequestOf(params, isStrict(dialect)), caller))),
  })
}

function okAnswer(): Answer {
  return OK_TEXT
}

/** `/nacos` never refuses a request that names too little. */
function isStrict({ hasJavaKeys }: NamingDialect): boolean {
  return !hasJavaKeys
}

function instanceRequestOf(params: InstanceParams, isStrict: boolean): InstanceRequest {
  const { ip, port, clusterName: cluster, ephemeral } = params
  return { serviceKey: serviceKeyOf(params), ip, port, cluster, ephemeral, isStrict }
}

function detailJson({ record, healthy: isHealthy, metadata, entry }: Instance): object {
  const { address, weight } = record
  const { groupedName } = entry.service.key
  return {
    service: groupedName,
    ip: address.ip,
    port: address.port,
    clusterName: address.cluster,
    weight,
    healthy: isHealthy,
    instanceId: instanceIdOf(address, groupedName),
    metadata,
  }
}
