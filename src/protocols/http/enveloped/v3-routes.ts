import { configKey } from '../../../core/config/state/config-item.ts'
import { toNamespaceId } from '../../../core/namespaces/namespace.ts'
import type { Operations } from '../../../operations/operations.ts'
import * as fields from '../../parameters/fields.ts'
import { Type } from '../../parameters/schema.ts'
import { loginEndpoint } from '../endpoints/access/sign-in-endpoints.ts'
import { deregisterEndpoint } from '../endpoints/naming/instance-endpoints.ts'
import type { NamingEndpointParts } from '../endpoints/naming/naming-requests.ts'
import { httpViewer } from '../endpoints/config/http-viewer.ts'
import { endpoint, placeRoutes } from '../routing/endpoint.ts'
import type { Route } from '../routing/route.ts'
import { CONFIG_PART, NAMING_PART } from './defaults.ts'
import { enveloped, failure, NOT_FOUND, success } from './envelope.ts'
import { hostsOf, instanceList } from './instance-list.ts'
import { registerOrBeat } from './register-or-beat.ts'

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
        content: item.content.toString('utf8'),
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
