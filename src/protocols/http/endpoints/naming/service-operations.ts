import { type Static, Type } from '../../../parameters/schema.ts'
import { groupOf, type Service, serviceNameOf } from '../../../../core/naming/service.ts'
import type { ServiceEntry } from '../../../../core/naming/service-entry.ts'
import { DEFAULT_CHECKER, type HealthChecker } from '../../../../core/naming/health-checker.ts'
import {
  createService,
  deleteService,
  existingService,
  saveCluster,
  type ServiceWish,
  updateService,
} from '../../../../core/naming/service-commands.ts'
import { toNamespaceId } from '../../../../core/namespace-id.ts'
import { jsonAnswer, OK_TEXT } from '../../routing/answers.ts'
import * as fields from '../../../parameters/fields.ts'
import { parseHealthChecker, parseMetadata, parseSelector } from '../../../parameters/json-fields.ts'
import { type Operation, operation } from '../../routing/operation.ts'
import type { Answer } from '../../routing/route.ts'
import { SERVICE_PARAMS } from './instance-operations.ts'
import { andThen } from '../../routing/and-then.ts'
import { type NamingParts, serviceKeyOf } from './naming-parts.ts'

const READ = { action: 'read', resource: 'naming' } as const
const WRITE = { action: 'write', resource: 'naming' } as const

const WISH_PARAMS = {
  protectThreshold: Type.Optional(fields.protectThreshold),
  metadata: Type.Optional(fields.metadata),
  selector: Type.Optional(fields.selector),
}

/** The operations on services (interface.md, Service discovery: services). */
export function serviceOperations(parts: NamingParts) {
  const { engine, state } = parts
  return {
    create: operation({
      summary: 'Create service',
      permission: WRITE,
      params: Type.Object({ ...SERVICE_PARAMS, ...WISH_PARAMS }),
      handle: ({ params }) =>
        andThen(engine.execute(createService(serviceKeyOf(params), wishOf(parts, params))), () => OK_TEXT),
    }),
    update: operation({
      summary: 'Update service',
      permission: WRITE,
      params: Type.Object({ ...SERVICE_PARAMS, ...WISH_PARAMS }),
      handle: ({ params }) =>
        andThen(engine.execute(updateService(serviceKeyOf(params), wishOf(parts, params))), () => OK_TEXT),
    }),
    remove: operation({
      summary: 'Delete service',
      permission: WRITE,
      params: Type.Object(SERVICE_PARAMS),
      handle: ({ params }) => andThen(engine.execute(deleteService(serviceKeyOf(params))), () => OK_TEXT),
    }),
    query: operation({
      summary: 'Query service',
      permission: READ,
      params: Type.Object(SERVICE_PARAMS),
      handle: ({ params }) => {
        const key = serviceKeyOf(params)
        return serviceAnswer(existingService(state, key), state.services.get(key))
      },
    }),
    list: listServices(parts),
    saveCluster: cluster(parts),
  } satisfies Record<string, Operation>
}

function listServices({ state }: NamingParts): Operation {
  return operation({
    summary: 'Query service list',
    permission: READ,
    params: Type.Object({
      pageNo: fields.pageNoOrZero,
      pageSize: fields.pageSize,
      groupName: fields.groupNameOrDefault,
      namespaceId: Type.Optional(fields.namespaceId),
    }),
    handle: ({ params }) => {
      const names = state.services.names(toNamespaceId(params.namespaceId), params.groupName)
      const first = (Math.max(params.pageNo, 1) - 1) * params.pageSize
      const doms = names.slice(first, first + params.pageSize).map(serviceNameOf)
      return jsonAnswer({ doms, count: names.length })
    },
  })
}

function cluster(parts: NamingParts): Operation {
  const params = Type.Object({
    ...SERVICE_PARAMS,
    clusterName: fields.clusterName,
    checkPort: fields.checkPort,
    useInstancePort4Check: fields.useInstancePort4Check,
    healthChecker: fields.healthChecker,
    metadata: Type.Optional(fields.metadata),
  })
  return operation({
    summary: 'Set the health checker and metadata of a cluster',
    permission: WRITE,
    params,
    handle: (request) => {
      const sent: Static<typeof params> = request.params
      const command = saveCluster(serviceKeyOf(sent), {
        name: sent.clusterName,
        healthChecker: parseHealthChecker(sent.healthChecker, { unknownIsNone: false }),
        checkPort: sent.checkPort,
        useInstancePort4Check: sent.useInstancePort4Check,
        metadata: parseMetadata(sent.metadata ?? '', 'metadata', parts.maxInstanceMetadataBytes),
      })
      return andThen(parts.engine.execute(command), () => OK_TEXT)
    },
  })
}

function wishOf(
  parts: NamingParts,
  params: { protectThreshold?: number; metadata?: string; selector?: string },
): ServiceWish {
  const { protectThreshold, metadata, selector } = params
  return {
    protectThreshold,
    metadata:
      metadata === undefined
        ? undefined
        : parseMetadata(metadata, 'metadata', parts.maxInstanceMetadataBytes),
    selector: selector === undefined ? undefined : parseSelector(selector),
  }
}

function serviceAnswer(service: Service, entry: ServiceEntry | undefined): Answer {
  const { key } = service
  return jsonAnswer({
    name: serviceNameOf(key.groupedName),
    groupName: groupOf(key.groupedName),
    namespaceId: key.namespaceId,
    protectThreshold: service.protectThreshold,
    metadata: service.metadata,
    selector: service.selector,
    clusters: clusterNames(service, entry).map((name) => ({
      name,
      healthChecker: checkerView(service.clusters[name]?.healthChecker ?? DEFAULT_CHECKER),
      metadata: service.clusters[name]?.metadata ?? {},
    })),
  })
}

/** A checker as it is shown: everybody who may read a service would learn the password otherwise. */
export function checkerView(checker: HealthChecker): object {
  if (checker.type !== 'MYSQL') return checker
  const { type, user, cmd } = checker
  return { type, user, cmd }
}

/** The clusters of a service: those that hold instances and those that somebody has configured. */
export function clusterNames(service: Service, entry: ServiceEntry | undefined): string[] {
  return [...new Set([...Object.keys(service.clusters), ...(entry?.clusterSizes.names() ?? [])])].sort()
}
