import type { Operations } from '../../../../operations/operations.ts'
import type { UserAndRights } from '../../../../operations/access/sessions.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { type Endpoint, endpoint } from '../../routing/endpoint.ts'
import { secretAnswer } from './secret-answer.ts'
import { endedCookie, sessionCookie, sessionsIn } from './session-cookie.ts'
import { answersJson, Json } from '../../routing/answer-schema.ts'

const NO_PARAMS = Type.Object({})

const USER = Json.named(
  'SignedInUser',
  Json.object({
    username: Json.string('Empty where nobody has to sign in.'),
    globalAdmin: Json.boolean('An administrator may do everything.'),
    roles: Json.list(Json.string()),
    permissions: Json.list(Json.object({ resource: Json.string(), action: Json.words(['r', 'w', 'rw']) })),
  }),
)

/** `POST …/console/session`: signs a browser in. */
export function beginSessionEndpoint(sessions: Operations['sessions']): Endpoint {
  return endpoint({
    summary: 'Signs a browser in, with a cookie',
    permission: sessions.begin.permission,
    answers: answersJson(USER),
    // A missing username or password is answered like a wrong one.
    params: Type.Object({
      username: Type.Optional(fields.username),
      password: Type.Optional(fields.password),
    }),
    handle: async ({ params, caller }) => {
      const { username = '', password = '' } = params
      const { browserId, ...user } = await sessions.begin({ username, password }, caller)
      return secretAnswer(userJson(user), { 'Set-Cookie': sessionCookie(caller, browserId) })
    },
  })
}

/** `GET …/console/session`: who is signed in. */
export function showSessionEndpoint(sessions: Operations['sessions']): Endpoint {
  return endpoint({
    summary: 'Shows the user who is signed in, and what the user may do',
    permission: sessions.show.permission,
    answers: answersJson(USER),
    params: NO_PARAMS,
    handle: ({ caller }) => secretAnswer(userJson(sessions.show({}, caller))),
  })
}

/** `DELETE …/console/session`: signs a browser out. */
export function endSessionEndpoint(sessions: Operations['sessions']): Endpoint {
  return endpoint({
    summary: 'Signs a browser out',
    permission: sessions.end.permission,
    answers: answersJson(Json.object({})),
    params: NO_PARAMS,
    handle: async ({ caller }) => {
      await sessions.end(sessionsIn(caller), caller)
      return secretAnswer({}, { 'Set-Cookie': endedCookie(caller) })
    },
  })
}

function userJson({ username, isAdministrator, roles, permissions }: UserAndRights): object {
  return { username, globalAdmin: isAdministrator, roles, permissions }
}
