import type { SignedInUser } from '../../../../operations/access/sign-in.ts'
import type { Operations } from '../../../../operations/operations.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { jsonAnswer, answersJson, Json } from '../../routing/answers.ts'
import { type Endpoint, endpoint, type Answer } from '../../routing/route.ts'
import type { UserAndRights } from '../../../../operations/access/sessions.ts'
import { endedCookie, sessionCookie, sessionsIn } from './session-cookie.ts'

const TOKEN = Json.named(
  'AccessToken',
  Json.object({
    accessToken: Json.string(),
    tokenTtl: Json.integer('How long the token counts, in seconds.'),
    globalAdmin: Json.boolean(),
    username: Json.string(),
  }),
)

const FIRST_ADMINISTRATOR = Json.object({ username: Json.string(), password: Json.string() })

const ROTATION = Json.named(
  'KeyRotation',
  Json.object({
    keyId: Json.string(),
    oldKeySeconds: Json.integer('How long the old key verifies, in seconds.'),
  }),
)

/** `POST …/auth/login`: answers a token (http-compat.md section 7). */
export function loginEndpoint(signIn: Operations['signIn']): Endpoint {
  return endpoint({
    summary: 'Signs in and answers an access token',
    permission: signIn.login.permission,
    answers: answersJson(TOKEN),
    // A missing username or password is answered like a wrong one.
    params: Type.Object({
      username: Type.Optional(fields.username),
      password: Type.Optional(fields.password),
    }),
    handle: async ({ params, caller }) => {
      const { username = '', password = '' } = params
      return tokenAnswer(await signIn.login({ username, password }, caller))
    },
  })
}

/** `POST …/auth/renew`: answers another token. */
export function renewEndpoint(signIn: Operations['signIn']): Endpoint {
  return endpoint({
    summary: 'Answers another access token in place of one that counts, for 12 hours after the sign-in',
    permission: signIn.renew.permission,
    answers: answersJson(TOKEN),
    params: Type.Object({}),
    handle: async ({ caller }) => tokenAnswer(await signIn.renew({}, caller)),
  })
}

function tokenAnswer({ username, token, ttlSeconds, isAdministrator }: SignedInUser): Answer {
  const body = { accessToken: token, tokenTtl: ttlSeconds, globalAdmin: isAdministrator, username }
  return jsonAnswer(body, 200, { Authorization: `Bearer ${token}` })
}

/** `POST …/auth/users/admin`: makes the first administrator. */
export function firstAdministratorEndpoint(signIn: Operations['signIn']): Endpoint {
  return endpoint({
    summary: 'Makes the first administrator, with the one-time code that the server prints when it starts',
    permission: signIn.firstAdministrator.permission,
    answers: answersJson(FIRST_ADMINISTRATOR),
    params: Type.Object({
      code: Type.String({ maxLength: 128, description: 'The one-time code.' }),
      password: Type.Optional(fields.password),
    }),
    handle: async ({ params, caller }) => {
      const { code, password } = params
      return jsonAnswer(await signIn.firstAdministrator({ code, password }, caller))
    },
  })
}

/** `POST …/auth/keys/rotate`: signs tokens with a new key. */
export function rotateKeysEndpoint(signIn: Operations['signIn']): Endpoint {
  return endpoint({
    summary: 'Signs tokens with a new key; the old one verifies until its last token has expired',
    permission: signIn.rotateKeys.permission,
    answers: answersJson(ROTATION),
    params: Type.Object({
      leaked: Type.Optional(
        Type.Boolean({ description: 'Whether the old key has leaked: then its tokens end at once.' }),
      ),
    }),
    handle: async ({ params, caller }) =>
      jsonAnswer(await signIn.rotateKeys({ hasLeaked: params.leaked ?? false }, caller)),
  })
}

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
      const { browserId, ...user } = await sessions.begin(
        { username, password, replaced: sessionsIn(caller) },
        caller,
      )
      return jsonAnswer(userJson(user), 200, { 'Set-Cookie': sessionCookie(caller, browserId) })
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
    handle: ({ caller }) => jsonAnswer(userJson(sessions.show({}, caller))),
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
      return jsonAnswer({}, 200, { 'Set-Cookie': endedCookie(caller) })
    },
  })
}

function userJson({ username, isAdministrator, roles, permissions }: UserAndRights): object {
  return { username, globalAdmin: isAdministrator, roles, permissions }
}
