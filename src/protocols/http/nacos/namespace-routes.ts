import { toNamespaceId } from '../../../core/namespaces/namespace.ts'
import * as fields from '../../parameters/fields.ts'
import { Type } from '../../parameters/schema.ts'
import {
  booleanAnswer,
  createEndpoint,
  listAnswer,
  namespaceJson,
  type NamespaceEndpointParts,
  removeEndpoint,
} from '../endpoints/namespaces/namespace-endpoints.ts'
import { jsonAnswer } from '../routing/answers.ts'
import { endpoint, placeRoutes, type Route } from '../routing/route.ts'
import { CONFIG_DEFAULTS } from './config-defaults.ts'

/** `/nacos/v1/console/namespaces` (http-compat.md section 6). */
export function nacosNamespaceRoutes(parts: NamespaceEndpointParts): Route[] {
  const { namespaces } = parts
  return placeRoutes(CONFIG_DEFAULTS, '/nacos/v1/console', [
    ['GET', '/namespaces', read(parts)],
    ['POST', '/namespaces', createEndpoint(namespaces, Type.Optional(fields.customNamespaceId))],
    ['PUT', '/namespaces', update(parts)],
    ['DELETE', '/namespaces', removeEndpoint(namespaces)],
  ])
}

function read(parts: NamespaceEndpointParts) {
  const { namespaces, namespaceQuota } = parts
  return endpoint({
    summary: 'Lists the namespaces, shows one, or tells whether an id is taken',
    permission: namespaces.list.permission,
    params: Type.Object({
      show: Type.Optional(Type.Enum(['all'], { description: 'One namespace, with everything known of it.' })),
      namespaceId: Type.Optional(fields.namespaceId),
      checkNamespaceIdExist: Type.Optional(
        Type.Boolean({ description: 'Whether customNamespaceId is taken.' }),
      ),
      customNamespaceId: Type.Optional(fields.customNamespaceId),
    }),
    handle: ({ params, caller }) => {
      const { customNamespaceId: id = '' } = params
      if (params.show !== undefined) {
        const namespace = namespaces.read({ id: toNamespaceId(params.namespaceId) }, caller)
        return jsonAnswer(namespaceJson(namespace, namespaceQuota))
      }
      if (params.checkNamespaceIdExist === true) return booleanAnswer(namespaces.isTaken({ id }, caller))
      return listAnswer(parts, caller)
    },
  })
}

function update({ namespaces }: NamespaceEndpointParts) {
  return endpoint({
    summary: 'Changes the shown name and the description of a namespace',
    permission: namespaces.rename.permission,
    params: Type.Object({
      namespace: fields.withDescription(fields.namespaceId, 'The id of the namespace.'),
      namespaceShowName: fields.namespaceName,
      namespaceDesc: Type.Optional(fields.allowingEmpty(fields.namespaceDesc)),
    }),
    handle: async ({ params, caller }) => {
      const { namespace, namespaceShowName: showName, namespaceDesc: desc } = params
      const renamed = await namespaces.rename({ id: toNamespaceId(namespace), showName, desc }, caller)
      // Tools rely on true also for a namespace that is not listed. The default one keeps its name.
      return booleanAnswer(renamed !== 'fixed')
    },
  })
}
