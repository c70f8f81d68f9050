import { Type } from '../../parameters/schema.ts'
import { jsonAnswer } from '../routing/answers.ts'
import * as fields from '../../parameters/fields.ts'
import { listNamespaces } from '../endpoints/namespaces/namespace-list.ts'
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
import { SVC_RULES } from '../../parameters/parameter-rules.ts'
import { problemErrors } from '../errors/problem.ts'
import type { Route } from '../routing/route.ts'

/** `/svc/v1/console/namespaces` (interface.md, Namespaces). */
export function svcNamespaceRoutes(parts: NamespaceParts): Route[] {
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/console', [
    ['GET', '/namespaces', list(parts)],
    ['POST', '/namespaces', create(parts)],
    ['PUT', '/namespaces', update(parts)],
    ['DELETE', '/namespaces', removeNamespace(parts)],
  ])
}

function list(parts: NamespaceParts) {
  return operation({
    summary: 'Lists the namespaces',
    permission: READ_NAMESPACES,
    params: Type.Object({}),
    handle: () => jsonAnswer({ code: 200, message: null, data: listNamespaces(parts) }),
  })
}

function create(parts: NamespaceParts) {
  return operation({
    summary: 'Makes a namespace',
    permission: WRITE_NAMESPACES,
    params: Type.Object({
      customNamespaceId: fields.customNamespaceId,
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
      namespaceDesc: fields.allowingEmpty(fields.namespaceDesc),
    }),
    handle: async ({ params }) => booleanAnswer(await renameNamespace(parts, params)),
  })
}
