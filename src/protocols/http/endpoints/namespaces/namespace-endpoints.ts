import type { Operations } from '../../../../operations/operations.ts'
import { toNamespaceId, toTenant } from '../../../../core/namespaces/namespace.ts'
import type { ListedNamespace } from '../../../../operations/server/namespaces.ts'
import * as fields from '../../../parameters/fields.ts'
import { type Optional, type Schema, Type } from '../../../parameters/schema.ts'
import { FALSE_JSON, jsonAnswer, TRUE_JSON, answersJson, Json } from '../../routing/answers.ts'
import { endpoint, type HttpCaller, type Answer } from '../../routing/route.ts'

/** Dependencies of the endpoints of namespaces. */
export interface NamespaceEndpointParts {
  readonly namespaces: Operations['namespaces']
  /** The quota that is shown; nothing enforces it. */
  readonly namespaceQuota: number
}

const DEFAULT_TYPE = 0
const CUSTOM_TYPE = 2

/** The outcome of a change. */
export const ANSWERS_BOOLEAN = answersJson(Json.boolean('Whether it was done.'))

/** The schema of `listAnswer`. */
export const ANSWERS_NAMESPACES = answersJson(
  Json.object({
    code: Json.integer(),
    message: Json.constant(null),
    data: Json.list(
      Json.named(
        'Namespace',
        Json.object({
          namespace: Json.string('The id; empty: public.'),
          namespaceShowName: Json.string(),
          namespaceDesc: Json.string(),
          quota: Json.integer(),
          configCount: Json.integer('Only items that the caller may read.'),
          type: Json.integer('0: the default one, 2: any other.'),
        }),
      ),
    ),
  }),
)

/** An entry of the list of namespaces. */
export function namespaceJson(namespace: ListedNamespace, quota: number): object {
  const { id, showName, desc, configCount, isDefault } = namespace
  return {
    namespace: toTenant(id),
    namespaceShowName: showName,
    namespaceDesc: desc,
    quota,
    configCount,
    type: isDefault ? DEFAULT_TYPE : CUSTOM_TYPE,
  }
}

/** The whole list. */
export function listAnswer(
  { namespaces, namespaceQuota }: NamespaceEndpointParts,
  caller: HttpCaller,
): Answer {
  const data = namespaces.list({}, caller).map((each) => namespaceJson(each, namespaceQuota))
  return jsonAnswer({ code: 200, message: null, data })
}

/** The outcome of a change, as a bare boolean. */
export function booleanAnswer(outcome: boolean): Answer {
  return outcome ? TRUE_JSON : FALSE_JSON
}

/** The ids of the namespaces with the name that was given, where there are several; `...` ends a longer list. */
const SAME_NAME_HEADER = 'Waypost-Same-Name'
const MOST_NAMED = 16

/** The outcome of a change; a header warns of a name that several namespaces have now. */
export function warningAnswer(
  namespaces: Operations['namespaces'],
  { isDone, showName }: { readonly isDone: boolean; readonly showName: string },
  caller: HttpCaller,
): Answer {
  const ids = isDone ? namespaces.named({ showName }, caller) : []
  if (ids.length < 2) return booleanAnswer(isDone)
  const named = ids.length > MOST_NAMED ? [...ids.slice(0, MOST_NAMED), '...'] : ids
  return { ...jsonAnswer(true), headers: { [SAME_NAME_HEADER]: named.join(',') } }
}

/** Makes a namespace; without an id, or with an empty id, it gets a random id. */
export function createEndpoint(
  namespaces: Operations['namespaces'],
  idField: Schema<string>,
  { warns = false } = {},
) {
  return endpoint({
    summary: 'Makes a namespace',
    permission: namespaces.create.permission,
    answers: ANSWERS_BOOLEAN,
    params: Type.Object({
      // Whether it may be absent is the dialect's; the reader knows it from the schema.
      customNamespaceId: idField as Optional<Schema<string>>,
      namespaceName: fields.namespaceName,
      namespaceDesc: Type.Optional(fields.namespaceDesc),
    }),
    handle: async ({ params, caller }) => {
      const { customNamespaceId: id = '', namespaceName: showName, namespaceDesc: desc = '' } = params
      const isDone = await namespaces.create({ id, showName, desc }, caller)
      return warns ? warningAnswer(namespaces, { isDone, showName }, caller) : booleanAnswer(isDone)
    },
  })
}

/** Takes a namespace off the list. */
export function removeEndpoint(namespaces: Operations['namespaces']) {
  return endpoint({
    summary: 'Takes a namespace off the list; what is in it stays readable',
    permission: namespaces.remove.permission,
    answers: ANSWERS_BOOLEAN,
    params: Type.Object({ namespaceId: fields.namespaceId }),
    handle: async ({ params, caller }) =>
      booleanAnswer(await namespaces.remove({ id: toNamespaceId(params.namespaceId) }, caller)),
  })
}
