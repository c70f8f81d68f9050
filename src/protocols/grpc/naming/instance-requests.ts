import type { PublishingClient } from '../../../core/naming/connections/connection-registration.ts'
import type { ServiceKey } from '../../../core/naming/state/service.ts'
import type { Operations } from '../../../operations/operations.ts'
import { invalid } from '../../parameters/parameter-field.ts'
import { Type, type Static } from '../../parameters/schema.ts'
import type { ClientConnection } from '../connections/client-connection.ts'
import { type AnyRequestType, type RequestContext, requestType } from '../requests/request-type.ts'
import type { JsonObject } from '../wire/json.ts'
import { bodyReader, SERVICE_KEYS, serviceKeyOf } from './service-names.ts'
import { PublishingConnections } from './publishing-connections.ts'
import { DEFAULT_CLUSTER, type Metadata } from '../../../core/naming/state/instance.ts'
import * as fields from '../../parameters/fields.ts'
import { toMetadata } from '../../parameters/metadata-text.ts'

interface InstanceRequestParts {
  readonly operations: Pick<Operations, 'instances' | 'connectionInstances'>
  readonly limits: Limits
}

interface Limits {
  readonly maxInstanceMetadataBytes: number
}

/** The change in a service: to the set of the connection, or to a persistent instance. */
interface InstanceBody {
  /** As sent: the answer repeats it. */
  readonly type: string
  readonly serviceKey: ServiceKey
  readonly change: SetChange | Persist
}

/** The set of the connection: all of it, or the instances that leave it; `named` undefined: all leave. */
type SetChange =
  | { readonly kind: 'replace'; readonly instances: readonly SentInstance[]; readonly isSingle?: boolean }
  | { readonly kind: 'withdraw'; readonly named: readonly SentInstance[] | undefined }

interface Persist {
  readonly kind: 'register' | 'deregister'
  readonly instance: SentInstance
  /** A deregistration without a cluster means the instance that is there. */
  readonly namesCluster?: boolean
}

const REGISTER = 'registerInstance'
const DEREGISTER = 'deregisterInstance'
const REGISTER_BATCH = 'batchRegisterInstance'
/** No known client sends it: clients register the remaining instances. */
const DEREGISTER_BATCH = 'batchDeregisterInstance'

/** The most instances that one request may name. */
const MAX_INSTANCES = 10_000

const readService = bodyReader(
  Type.Object({ ...SERVICE_KEYS, type: Type.Optional(Type.String({ maxLength: 64 })) }),
)

/** The requests that register and deregister instances (grpc-compat.md section 3). */
export function instanceRequests({ operations, limits }: InstanceRequestParts): AnyRequestType[] {
  const { release, publish } = operations.connectionInstances
  const connections = new PublishingConnections(release)
  const run = async (body: InstanceBody, call: RequestContext): Promise<object> => {
    const { type, serviceKey, change } = body
    const connectionId = 'instance' in change ? '' : connections.idOf(call)
    await carryOut(operations, { serviceKey, change, connectionId }, call)
    return { type }
  }
  const { permission } = publish
  return [
    requestType({
      type: 'InstanceRequest',
      answer: 'InstanceResponse',
      permission,
      read: (body) => readInstanceRequest(body, limits),
      run,
    }),
    requestType({
      type: 'PersistentInstanceRequest',
      answer: 'InstanceResponse',
      permission,
      read: (body) => readPersistent(body, limits),
      run,
    }),
    requestType({
      type: 'BatchInstanceRequest',
      answer: 'BatchInstanceResponse',
      permission,
      read: (body) => readBatch(body, limits),
      run,
    }),
  ]
}

/** A connection has one set of instances in a service: a second registration replaces the first. */
function readInstanceRequest(body: JsonObject, limits: Limits): InstanceBody {
  // Clients have another request for persistent instances. A client that uses this request means the same.
  if (isPersistent(body['instance'])) return readPersistent(body, limits)
  const { type, serviceKey } = readTyped(body, [REGISTER, DEREGISTER])
  const sent = body['instance']
  // A client that names nothing means all that it has.
  const instances =
    type === DEREGISTER && (sent === undefined || sent === null)
      ? undefined
      : [readInstance(sent, limits.maxInstanceMetadataBytes)]
  if (type === DEREGISTER) return { type, serviceKey, change: { kind: 'withdraw', named: instances } }
  return { type, serviceKey, change: { kind: 'replace', instances: instances ?? [], isSingle: true } }
}

function readPersistent(body: JsonObject, { maxInstanceMetadataBytes }: Limits): InstanceBody {
  const { type, serviceKey } = readTyped(body, [REGISTER, DEREGISTER])
  const sent = body['instance']
  const instance = readInstance(sent, maxInstanceMetadataBytes)
  if (type === REGISTER) return { type, serviceKey, change: { kind: 'register', instance } }
  return { type, serviceKey, change: { kind: 'deregister', instance, namesCluster: namesCluster(sent) } }
}

function readBatch(body: JsonObject, { maxInstanceMetadataBytes }: Limits): InstanceBody {
  const { type, serviceKey } = readTyped(body, [REGISTER_BATCH, DEREGISTER_BATCH])
  const sent = body['instances'] ?? []
  if (!Array.isArray(sent) || sent.length > MAX_INSTANCES)
    throw invalid('instances', `a list of at most ${MAX_INSTANCES} instances`, kindOf(sent))
  const instances = sent.map((each: unknown) => readInstance(each, maxInstanceMetadataBytes))
  if (instances.some(({ ephemeral }) => !ephemeral))
    throw invalid('instances', 'ephemeral: persistent instances are registered one by one', 'ephemeral=false')
  if (type === REGISTER_BATCH) return { type, serviceKey, change: { kind: 'replace', instances } }
  const named = instances.length === 0 ? undefined : instances
  return { type, serviceKey, change: { kind: 'withdraw', named } }
}

function readTyped(body: JsonObject, types: readonly string[]): { type: string; serviceKey: ServiceKey } {
  const { type = '', ...named } = readService(body)
  if (!types.includes(type)) throw invalid('type', `one of ${types.join(', ')}`, type)
  return { type, serviceKey: serviceKeyOf(named) }
}

interface Carried {
  readonly serviceKey: ServiceKey
  readonly change: SetChange | Persist
  readonly connectionId: string
}

function carryOut(
  { instances, connectionInstances }: InstanceRequestParts['operations'],
  { serviceKey, change, connectionId }: Carried,
  { connection, caller }: RequestContext,
): unknown {
  const app = connection.client.appName
  switch (change.kind) {
    case 'replace': {
      if (change.instances.length === 0)
        return connectionInstances.withdraw({ serviceKey, connectionId }, caller)
      const published = change.instances.map((instance) => publishedOf(instance, app))
      const client = clientOf(connection)
      const { isSingle = false } = change
      const publication = { serviceKey, connectionId, client, instances: published, isSingle }
      return connectionInstances.publish(publication, caller)
    }
    case 'withdraw': {
      const named = change.named?.map((instance) => publishedOf(instance, app).address)
      return connectionInstances.withdraw({ serviceKey, connectionId, ...(named && { named }) }, caller)
    }
    case 'register':
      return instances.register({ ...registeredOf(serviceKey, change.instance), app }, caller)
    case 'deregister':
      return instances.deregister(
        {
          ...registeredOf(serviceKey, change.instance),
          ...(change.namesCluster === true ? {} : { cluster: undefined }),
        },
        caller,
      )
  }
}

/** The id of a connection begins with the time of its setup (`ClientConnection.id`). */
function clientOf({ id, ip, port, client }: ClientConnection): PublishingClient {
  return { library: client.version, ip, port, connectedMs: Number.parseInt(id, 10) }
}

function publishedOf(instance: SentInstance, app: string) {
  const { ip, port, clusterName: cluster, weight, enabled, healthy, metadata } = instance
  return { address: { ip, port, cluster }, weight, enabled, healthy, metadata, app }
}

function registeredOf(serviceKey: ServiceKey, { clusterName: cluster, ...instance }: SentInstance) {
  return { ...instance, serviceKey, cluster, ephemeral: false }
}

const INSTANCE = Type.Object({
  ip: fields.ip,
  port: fields.port,
  clusterName: fields.withDefault(fields.clusterName, DEFAULT_CLUSTER),
  weight: fields.withDefault(fields.weight, 1),
  healthy: fields.withDefault(fields.healthy, true),
  enabled: fields.withDefault(fields.enabled, true),
  ephemeral: fields.withDefault(fields.ephemeral, true),
})

/** An instance as a client sends it. Its id, its service and the times that Java computes from metadata are not read. */
interface SentInstance extends Static<typeof INSTANCE> {
  readonly metadata: Metadata
}

const readKeys = bodyReader(INSTANCE)

/** The instance under a key of a body. Refusals name the parameter. */
export function readInstance(sent: unknown, maxMetadataBytes: number): SentInstance {
  const body = instanceObject(sent)
  const { ip, port, clusterName, weight, healthy, enabled, ephemeral } = readKeys(body)
  const metadata = readMetadata(body['metadata'], maxMetadataBytes)
  return { ip, port, clusterName, weight, healthy, enabled, ephemeral, metadata }
}

/** Whether an instance that is sent is meant to persist. Nothing else of it is read. */
export function isPersistent(sent: unknown): boolean {
  return typeof sent === 'object' && sent !== null && 'ephemeral' in sent && sent.ephemeral === false
}

/** Whether an instance names its cluster: clients send an empty name, or none, for any. */
function namesCluster(sent: unknown): boolean {
  const name = instanceObject(sent)['clusterName']
  return typeof name === 'string' && name !== ''
}

function instanceObject(sent: unknown): JsonObject {
  if (typeof sent === 'object' && sent !== null && !Array.isArray(sent)) return sent as JsonObject
  throw invalid('instance', 'an object with ip and port', kindOf(sent))
}

function readMetadata(sent: unknown, maxBytes: number): Metadata {
  if (sent === undefined || sent === null || sent === '') return {}
  if (typeof sent !== 'object' || Array.isArray(sent)) throw invalid('metadata', 'an object', kindOf(sent))
  return toMetadata(sent, 'metadata', maxBytes)
}

/** What a refusal says of a value of the wrong kind: its type, and the length of a list. */
function kindOf(sent: unknown): string {
  if (Array.isArray(sent)) return `a list of ${sent.length}`
  return sent === null ? 'null' : typeof sent
}
