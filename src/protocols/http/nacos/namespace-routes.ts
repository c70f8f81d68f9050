import { Type } from '../../parameters/schema.ts'
import { FALSE_JSON, jsonAnswer } from '../routing/answers.ts'
import * as fields from '../../parameters/fields.ts'
import { findNamespace, isTaken, listNamespaces } from '../endpoints/namespaces/namespace-list.ts'
import {
  booleanAnswer,
  makeNamespace,
  type NamespaceParts,
  READ_NAMESPACES,
  removeNamespace,
  renameNamespace,
  WRITE_NAMESPACES,
} from '../endpoints/namespaces/namespace-operations.ts'
import { operation, placeRoutes } from '../routing/operation.ts'
import type { Route } from '../routing/route.ts'
import { CONFIG_MANNERS } from './config-manners.ts'

/** `/nacos/v1/console/namespaces` (http-compat.md section 6). */
export function nacosNamespaceRoutes(parts: NamespaceParts): Route[] {
  return placeRoutes(CONFIG_MANNERS, '/nacos/v1/console', [
    ['GET', '/namespaces', read(parts)],
    ['POST', '/namespaces', create(parts)],
    ['PUT', '/namespaces', update(parts)],
    ['DELETE', '/namespaces', removeNamespace(parts)],
  ])
}

function read(parts: NamespaceParts) {
  return operation({
    summary: 'Lists the namespaces, shows one, or tells whether an id is taken',
    permission: READ_NAMESPACES,
    params: Type.Object({
      show: Type.Optional(Type.Enum(['all'], { description: 'One namespace, with everything known of it.' })),
      namespaceId: Type.Optional(fields.namespaceId),
      checkNamespaceIdExist: Type.Optional(
        Type.Boolean({ description: 'Whether customNamespaceId is taken.' }),
      ),
      customNamespaceId: Type.Optional(fields.customNamespaceId),
    }),
    handle: ({ params }) => {
      const { customNamespaceId: id = '' } = params
      if (params.show !== undefined) return jsonAnswer(findNamespace(parts, params.namespaceId))
      if (params.checkNamespaceIdExist === true)
        return id === '' ? FALSE_JSON : booleanAnswer(isTaken(parts, id))
      return jsonAnswer({ code: 200, message: null, data: listNamespaces(parts) })
    },
  })
}

function create(parts: NamespaceParts) {
  return operation({
    summary: 'Makes a namespace',
    permission: WRITE_NAMESPACES,
    params: Type.Object({
      customNamespaceId: Type.Optional(fields.customNamespaceId),
      namespaceName: fields.namespaceName,
      namespaceDesc: Type.Optional(fields.namespaceDesc),
    }),
    handle: async ({ params }) => booleanAnswer(await makeNamespace(parts, params)),
  })
}

function update(parts: NamespaceParts) {
  return operation({
    summary: 'Changes the shown name and the description of a namespace',
    permission: WRITE_NAMESPACES,
    params: Type.Object({
      namespace: fields.withDescription(fields.namespaceId, 'The id of the namespace.'),
      namespaceShowName: fields.namespaceName,
      namespaceDesc: Type.Optional(fields.allowingEmpty(fields.namespaceDesc)),
    }),
    handle: async ({ params }) => {
      const renamed = await renameNamespace(parts, params)
      // One that is not on the list answers true as well: tools count on it. `public` is fixed.
      return booleanAnswer(renamed || !isTaken(parts, params.namespace))
    },
  })
}
