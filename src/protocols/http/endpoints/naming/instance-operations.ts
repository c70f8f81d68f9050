import { type Static, Type } from '../../../parameters/schema.ts'
import { DEFAULT_CLUSTER, type InstanceAddress, type Metadata } from '../../../../core/naming/instance.ts'
import {
  deregisterInstance,
  type InstanceTarget,
  modifyInstance,
  modifyOrRegister,
  setHealth,
} from '../../../../core/naming/instance-commands.ts'
import { beat } from '../../../../core/naming/beat.ts'
import { type RegisterInstance, registerInstance } from '../../../../core/naming/register-instance.ts'
import { OK_TEXT } from '../../routing/answers.ts'
import * as fields from '../../../parameters/fields.ts'
import { parseMetadata } from '../../../parameters/json-fields.ts'
import { type Operation, operation } from '../../routing/operation.ts'
import type { Answer, Caller } from '../../routing/route.ts'
import { detailAnswer } from './instance-detail.ts'
import { andThen } from '../../routing/and-then.ts'
import { type NamingParts, serviceKeyOf } from './naming-parts.ts'

const READ = { action: 'read', resource: 'naming' } as const
const WRITE = { action: 'write', resource: 'naming' } as const

/** How a request names a service. */
export const SERVICE_PARAMS = {
  namespaceId: Type.Optional(fields.namespaceId),
  serviceName: fields.serviceName,
  groupName: fields.groupNameOrDefault,
}

const INSTANCE_PARAMS = {
  ...SERVICE_PARAMS,
  ip: fields.ip,
  port: fields.port,
  clusterName: Type.Optional(fields.withAliases(fields.clusterName, 'cluster')),
  ephemeral: Type.Optional(fields.ephemeral),
}

const enabled = fields.withAliases(fields.enabled, 'enable')
const healthy = fields.withAliases(fields.healthy, 'valid')

type Named = Static<ReturnType<typeof Type.Object<typeof INSTANCE_PARAMS>>>

/** The operations on single instances (interface.md, Service discovery: instances). */
export function instanceOperations(parts: NamingParts) {
  return {
    register: register(parts),
    deregister: deregister(parts),
    modify: modifyOperation(parts, () => false),
    updateHealth: updateHealth(parts),
    detail: detail(parts),
  } satisfies Record<string, Operation>
}

function register(parts: NamingParts): Operation {
  return operation({
    summary: 'Register instance',
    permission: WRITE,
    params: Type.Object({
      ...INSTANCE_PARAMS,
      weight: fields.withDefault(fields.weight, 1),
      enabled: fields.withDefault(enabled, true),
      healthy: Type.Optional(healthy),
      metadata: Type.Optional(fields.metadata),
      app: Type.Optional(fields.app),
    }),
    handle: ({ params }) =>
      registered(parts, {
        serviceKey: serviceKeyOf(params),
        address: addressOf(params),
        ephemeral: params.ephemeral,
        weight: params.weight,
        enabled: params.enabled,
        healthy: params.healthy,
        metadata: metadataOf(parts, params.metadata) ?? {},
        app: params.app ?? '',
      }),
  })
}

/** Registers; where the instance is there just like this, that counts as a beat. */
function registered(parts: NamingParts, wish: RegisterInstance): Answer | Promise<Answer> {
  return andThen(parts.engine.execute(registerInstance(wish)), (registration) => {
    if (registration === 'known') beat(parts, { serviceKey: wish.serviceKey, ...wish.address }, parts.clock())
    return OK_TEXT
  })
}

function deregister(parts: NamingParts): Operation {
  return operation({
    summary: 'Deregister instance',
    permission: WRITE,
    params: Type.Object(INSTANCE_PARAMS),
    handle: ({ params }) =>
      andThen(parts.engine.execute(deregisterInstance(targetOf(params))), () => OK_TEXT),
  })
}

/**
 * Changes an instance, or is refused where there is none. For a client of whom `registersUnknown`, an unknown
 * instance is registered instead (docs/decisions/0021).
 */
export function modifyOperation(
  parts: NamingParts,
  registersUnknown: (caller: Caller) => boolean,
): Operation {
  return operation({
    summary: 'Modify instance',
    permission: WRITE,
    params: Type.Object({
      ...INSTANCE_PARAMS,
      weight: Type.Optional(fields.weight),
      enabled: Type.Optional(enabled),
      metadata: Type.Optional(fields.metadata),
    }),
    handle: ({ params, caller }) => {
      const metadata = metadataOf(parts, params.metadata)
      const maxMetadataBytes = parts.maxInstanceMetadataBytes
      const patch = { weight: params.weight, enabled: params.enabled, metadata, maxMetadataBytes }
      const commandOf = registersUnknown(caller) ? modifyOrRegister : modifyInstance
      return andThen(parts.engine.execute(commandOf(targetOf(params), patch)), () => OK_TEXT)
    },
  })
}

function updateHealth(parts: NamingParts): Operation {
  return operation({
    summary: 'Update instance health status',
    permission: WRITE,
    params: Type.Object({ ...INSTANCE_PARAMS, healthy }),
    handle: ({ params }) => {
      const command = setHealth(targetOf(params), params.healthy)
      return andThen(parts.engine.execute(command), () => OK_TEXT)
    },
  })
}

function detail(parts: NamingParts): Operation {
  return operation({
    summary: 'Query instance detail',
    permission: READ,
    params: Type.Object(INSTANCE_PARAMS),
    handle: ({ params }) => detailAnswer(parts.state, targetOf(params)),
  })
}

/** Which instance a request means; without a cluster, the one in DEFAULT. */
function targetOf(params: Named): InstanceTarget {
  return { serviceKey: serviceKeyOf(params), address: addressOf(params), ephemeral: params.ephemeral }
}

function addressOf(params: { ip: string; port: number; clusterName?: string }): InstanceAddress {
  return { ip: params.ip, port: params.port, cluster: params.clusterName ?? DEFAULT_CLUSTER }
}

function metadataOf(parts: NamingParts, text: string | undefined): Metadata | undefined {
  return text === undefined ? undefined : parseMetadata(text, 'metadata', parts.maxInstanceMetadataBytes)
}
