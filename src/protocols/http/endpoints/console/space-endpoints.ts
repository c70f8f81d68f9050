import type { Operations } from '../../../../operations/operations.ts'
import { NAMESPACE_COLORS, toNamespaceId } from '../../../../core/namespaces/namespace.ts'
import type { Space } from '../../../../operations/console/spaces.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { ANSWERS_TRUE, answersJson, Json, jsonAnswer, TRUE_JSON } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'

const COLORS = ['none', ...NAMESPACE_COLORS] as const

const SPACES = Json.object({
  namespaces: Json.list(
    Json.named(
      'Space',
      Json.object({
        namespaceId: Json.string('public is the default one.'),
        name: Json.string(),
        desc: Json.string(),
        listed: Json.boolean('False for one that is not on the list and holds something.'),
        configCount: Json.integer('Only items that the caller may read.'),
        empty: Json.boolean('Whether it has no configurations, no gray versions and no services.'),
        color: Json.words(COLORS),
        protected: Json.boolean('Whether the console asks for its name before it writes there.'),
      }),
    ),
  ),
})

/** The namespaces as people see them, with a colour, and perhaps protected. */
export function spaceEndpoints(spaces: Operations['spaces']) {
  return {
    list: endpoint({
      summary: 'Lists all namespaces for people, also unlisted ones that hold something',
      permission: spaces.list.permission,
      answers: answersJson(SPACES),
      params: Type.Object({}),
      handle: async ({ caller }) =>
        jsonAnswer({ namespaces: (await spaces.list({}, caller)).map(spaceJson) }),
    }),
    setLook: endpoint({
      summary: 'Gives a namespace a colour, or protects it: then the console asks before it writes there',
      permission: spaces.setLook.permission,
      answers: ANSWERS_TRUE,
      params: Type.Object({
        namespaceId: fields.namespaceId,
        color: Type.Optional(Type.Enum(COLORS, { description: 'Absent: it stays as it is.' })),
        protected: Type.Optional(
          Type.Boolean({ description: 'Absent: it stays as it is. Clients are not affected.' }),
        ),
      }),
      handle: async ({ params, caller }) => {
        const color = params.color === 'none' ? '' : params.color
        const request = { id: toNamespaceId(params.namespaceId), color, isProtected: params.protected }
        await spaces.setLook(request, caller)
        return TRUE_JSON
      },
    }),
  } satisfies Record<string, Endpoint>
}

function spaceJson({ id, name, desc, isListed, isEmpty, ...about }: Space): object {
  return {
    namespaceId: id,
    name,
    desc,
    listed: isListed,
    configCount: about.configCount,
    empty: isEmpty,
    color: about.color === '' ? 'none' : about.color,
    protected: about.isProtected,
  }
}
