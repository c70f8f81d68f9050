import { toNamespaceId } from '../../../core/namespaces/namespace.ts'
import * as fields from '../../parameters/fields.ts'
import { Type } from '../../parameters/schema.ts'
import {
  ANSWERS_NAMESPACES,
  namespaceJson,
  type NamespaceEndpointParts,
} from '../endpoints/namespaces/namespace-endpoints.ts'
import { Json } from '../routing/answers.ts'
import { endpoint, placeRoutes, type Route } from '../routing/route.ts'
import { CONFIG_PART, answersEnvelope, failure, NAMESPACE_EXISTS, success } from './envelope.ts'

const ANSWERS_BOOLEAN = answersEnvelope(Json.boolean('Whether it was done.'))

/** `/nacos/v2/console/namespace` (grpc-compat.md section 7). */
export function v2NamespaceRoutes(parts: NamespaceEndpointParts): Route[] {
  return placeRoutes(CONFIG_PART, '/nacos/v2/console/namespace', [
    ['GET', '/list', list(parts)],
    ['GET', '', read(parts)],
    ['POST', '', create(parts)],
    ['PUT', '', update(parts)],
    ['DELETE', '', remove(parts)],
  ])
}

function list({ namespaces, namespaceQuota }: NamespaceEndpointParts) {
  return endpoint({
    summary: 'Lists the namespaces',
    permission: namespaces.list.permission,
    answers: ANSWERS_NAMESPACES,
    params: Type.Object({}),
    handle: ({ caller }) =>
      success(namespaces.list({}, caller).map((each) => namespaceJson(each, namespaceQuota))),
  })
}

function read({ namespaces, namespaceQuota }: NamespaceEndpointParts) {
  return endpoint({
    summary: 'Shows a namespace',
    permission: namespaces.read.permission,
    params: Type.Object({ namespaceId: Type.Optional(fields.namespaceId) }),
    handle: ({ params, caller }) => {
      const namespace = namespaces.read({ id: toNamespaceId(params.namespaceId) }, caller)
      return success(namespaceJson(namespace, namespaceQuota))
    },
  })
}

function create({ namespaces }: NamespaceEndpointParts) {
  return endpoint({
    summary: 'Makes a namespace',
    permission: namespaces.create.permission,
    answers: ANSWERS_BOOLEAN,
    params: Type.Object({
      namespaceId: Type.Optional(fields.customNamespaceId),
      namespaceName: fields.namespaceName,
      namespaceDesc: Type.Optional(fields.namespaceDesc),
    }),
    handle: async ({ params, caller }) => {
      const { namespaceId: id = '', namespaceName: showName, namespaceDesc: desc = '' } = params
      const isNew = await namespaces.create({ id, showName, desc }, caller)
      return isNew ? success(true) : failure(409, NAMESPACE_EXISTS, `namespaceId [${id}] is taken.`)
    },
  })
}

function update({ namespaces }: NamespaceEndpointParts) {
  return endpoint({
    summary: 'Changes the shown name and the description of a namespace',
    permission: namespaces.rename.permission,
    answers: ANSWERS_BOOLEAN,
    params: Type.Object({
      namespaceId: fields.namespaceId,
      namespaceName: fields.namespaceName,
      namespaceDesc: Type.Optional(fields.allowingEmpty(fields.namespaceDesc)),
    }),
    handle: async ({ params, caller }) => {
      const { namespaceId, namespaceName: showName, namespaceDesc: desc } = params
      const renamed = await namespaces.rename({ id: toNamespaceId(namespaceId), showName, desc }, caller)
      return success(renamed === 'renamed')
    },
  })
}

function remove({ namespaces }: NamespaceEndpointParts) {
  return endpoint({
    summary: 'Takes a namespace off the list; what is in it stays readable',
    permission: namespaces.remove.permission,
    answers: ANSWERS_BOOLEAN,
    params: Type.Object({ namespaceId: fields.namespaceId }),
    handle: async ({ params, caller }) =>
      success(await namespaces.remove({ id: toNamespaceId(params.namespaceId) }, caller)),
  })
}
