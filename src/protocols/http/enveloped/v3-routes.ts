import { contentInJson } from '../../answers/json-content.ts'
import { configKey } from '../../../core/config/state/config-item.ts'
import { toNamespaceId } from '../../../core/namespaces/namespace.ts'
import type { Operations } from '../../../operations/operations.ts'
import * as fields from '../../parameters/fields.ts'
import { Type } from '../../parameters/schema.ts'
import { loginEndpoint } from '../endpoints/access/sign-in-endpoints.ts'
import {
  deregisterEndpoint,
  type INSTANCE_PARAMS,
  instanceEndpoints,
} from '../endpoints/naming/instance-endpoints.ts'
import { type NamingEndpointParts, JAVA_DIALECT, serviceKeyOf } from '../endpoints/naming/naming-requests.ts'
import { httpViewer } from '../endpoints/config/http-viewer.ts'
import { endpoint, placeRoutes, type Route, type Endpoint } from '../routing/route.ts'
import {
  CONFIG_PART,
  NAMING_PART,
  enveloped,
  failure,
  NOT_FOUND,
  success,
  NO_INSTANCE,
  renamed,
} from './envelope.ts'
import { hostsOf, instanceList } from './instance-list.ts'
import { afterwards } from '../../../operations/afterwards.ts'
import type { PublishLimits } from '../../parameters/publish-params.ts'
import {
  publishGrayOfClients,
  publishOfClients,
  readBeta,
  readGrayOfClients,
  removeOfClients,
  stopBeta,
  stopGrayOfClients,
} from '../endpoints/config/client-endpoints.ts'

/** Dependencies of `/nacos/v3`. */
export type V3Parts = NamingEndpointParts & Pick<Operations, 'configs' | 'signIn'>

/** The routes of `/nacos/v3` for clients without gRPC and the Java client 3.x (grpc-compat.md sections 5 and 7). */
export function v3Routes(parts: V3Parts): Route[] {
  return [
    ...placeRoutes(CONFIG_PART, '/nacos/v3', [
      ['GET', '/client/cs/config', readConfig(parts)],
      ['POST', '/auth/user/login', loginEndpoint(parts.signIn)],
    ]),
    ...placeRoutes(NAMING_PART, '/nacos/v3/client/ns', [
      ['POST', '/instance', registerOrBeat(parts)],
      ['DELETE', '/instance', enveloped(deregisterEndpoint(parts, true))],
      ['GET', '/instance/list', instanceList(parts, hostsOf)],
    ]),
  ]
}

function readConfig({ configs }: Pick<Operations, 'configs'>) {
  return endpoint({
    summary: 'Reads a configuration item; code 20004 where there is none',
    permission: configs.view.permission,
    params: Type.Object({
      namespaceId: Type.Optional(fields.tenant),
      groupName: fields.group,
      dataId: fields.dataId,
    }),
    handle: ({ params, caller }) => {
      const { namespaceId, groupName, dataId } = params
      const key = configKey(toNamespaceId(namespaceId), groupName, dataId)
      const item = configs.view({ key, who: httpViewer(caller) }, caller)
      if (item === undefined) return failure(200, NOT_FOUND, 'config data not exist')
      return success({
        resultCode: 200,
        errorCode: 0,
        message: null,
        requestId: null,
        content: contentInJson(item.content),
        contentType: item.type,
        md5: item.md5,
        lastModified: item.modifiedMs,
        encryptedDataKey: item.notes.encryptedDataKey,
        tag: null,
        beta: item.gray?.rule.type === 'beta',
        success: true,
      })
    },
  })
}

/** `POST /nacos/v3/client/ns/instance`: registers, or with `heartBeat=true` only says that the instance lives. */
function registerOrBeat(parts: NamingEndpointParts): Endpoint {
  const { beats } = parts
  const register = enveloped(instanceEndpoints(parts, JAVA_DIALECT).register)
  const { properties } = register.params
  return endpoint({
    ...register,
    summary:
      'Registers an instance, or with heartBeat=true renews it; code 21003 where there is none to renew',
    params: Type.Object({
      ...(properties as typeof INSTANCE_PARAMS),
      heartBeat: Type.Optional(Type.Boolean({ description: 'Whether this is a beat only.' })),
    }),
    handle: (request) => {
      const { params, caller } = request
      if (params.heartBeat !== true) return register.handle(request)
      const { ip, port, clusterName: cluster } = params
      const beat = { serviceKey: serviceKeyOf(params), ip, port, cluster, full: undefined }
      return afterwards(beats.beat(beat, caller), ({ kind }) =>
        kind === 'unknown' ? failure(200, NO_INSTANCE) : success('ok'),
      )
    },
  })
}

/** The names of parameters here, by their names in endpoints. */
const NAMES = { tenant: 'namespaceId', group: 'groupName', config_tags: 'configTags', src_user: 'srcUser' }

/**
 * The gray versions of `/nacos/v3/admin/cs/config`, and publish and delete, which accept a gray version (grpc-compat.md
 * section 7). The rest of that path comes later.
 */
export function v3GrayRoutes(parts: Pick<Operations, 'configs' | 'gray'>, limits: PublishLimits): Route[] {
  const { gray } = parts
  const rows = [
    ['POST', '', publishOfClients(parts, limits)],
    ['DELETE', '', removeOfClients(parts)],
    ['GET', '/beta', readBeta(gray)],
    ['DELETE', '/beta', stopBeta(gray)],
    ['POST', '/gray', publishGrayOfClients(gray, limits)],
    ['GET', '/gray', readGrayOfClients(gray)],
    ['DELETE', '/gray', stopGrayOfClients(gray)],
  ] as const satisfies readonly (readonly [string, string, Endpoint])[]
  return placeRoutes(
    CONFIG_PART,
    '/nacos/v3/admin/cs/config',
    rows.map(([method, path, of]) => [method, path, enveloped(renamed(of, NAMES))] as const),
  )
}
