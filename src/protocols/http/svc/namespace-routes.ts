import { toNamespaceId } from '../../../core/namespaces/namespace.ts'
import * as fields from '../../parameters/fields.ts'
import { SVC_RULES, Type } from '../../parameters/schema.ts'
import {
  ANSWERS_BOOLEAN,
  ANSWERS_NAMESPACES,
  createEndpoint,
  listAnswer,
  type NamespaceEndpointParts,
  removeEndpoint,
  warningAnswer,
} from '../endpoints/namespaces/namespace-endpoints.ts'
import { problemErrors } from '../errors/problem.ts'
import { endpoint, placeRoutes, type Route } from '../routing/route.ts'

/** `/svc/v1/console/namespaces` (interface.md, Namespaces). */
export function svcNamespaceRoutes(parts: NamespaceEndpointParts): Route[] {
  const { namespaces } = parts
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/console', [
    ['GET', '/namespaces', list(parts)],
    ['POST', '/namespaces', createEndpoint(namespaces, fields.customNamespaceId, { warns: true })],
    ['PUT', '/namespaces', update(parts)],
    ['DELETE', '/namespaces', removeEndpoint(namespaces)],
  ])
}

function list(parts: NamespaceEndpointParts) {
  return endpoint({
    summary: 'Lists the namespaces',
    permission: parts.namespaces.list.permission,
    answers: ANSWERS_NAMESPACES,
    params: Type.Object({}),
    handle: ({ caller }) => listAnswer(parts, caller),
  })
}

function update({ namespaces }: NamespaceEndpointParts) {
  return endpoint({
    summary: 'Changes the shown name and the description of a namespace',
    permission: namespaces.rename.permission,
    answers: ANSWERS_BOOLEAN,
    params: Type.Object({
      namespace: fields.withDescription(fields.namespaceId, 'The id of the namespace.'),
      namespaceShowName: fields.namespaceName,
      namespaceDesc: fields.allowingEmpty(fields.namespaceDesc),
    }),
    handle: async ({ params, caller }) => {
      const { namespace, namespaceShowName: showName, namespaceDesc: desc } = params
      const renamed = await namespaces.rename({ id: toNamespaceId(namespace), showName, desc }, caller)
      return warningAnswer(namespaces, { isDone: renamed === 'renamed', showName }, caller)
    },
  })
}
