import type { Operations } from '../../../../operations/operations.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { jsonAnswer } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/endpoint.ts'
import { ANSWERS_DONE, doneAnswer, PAGE_PARAMS, pageAnswer, searchFor } from './page-params.ts'
import { answersJson, Json } from '../../routing/answer-schema.ts'
import { pageSchema } from '../config/page-json.ts'

const USER_PAGE = pageSchema(
  'UserPage',
  Json.object({ username: Json.string(), password: Json.constant('') }),
)

/** `GET …/auth/users`: nobody sees a password or its hash. */
export function listUsersEndpoint(users: Operations['users']): Endpoint {
  return endpoint({
    summary: 'Lists the users',
    permission: users.list.permission,
    answers: answersJson(USER_PAGE),
    params: Type.Object({ username: Type.Optional(fields.username), ...PAGE_PARAMS }),
    handle: ({ params, caller }) => {
      const username = searchFor(params.username, params.search)
      return pageAnswer(users.list({ username, page: params }, caller), (name) => ({
        username: name,
        password: '',
      }))
    },
  })
}

/** `GET …/auth/users/search`: an array of usernames. */
export function suggestUsersEndpoint(users: Operations['users']): Endpoint {
  return endpoint({
    summary: 'Lists the usernames that contain a text',
    permission: users.suggest.permission,
    answers: answersJson(Json.list(Json.string())),
    params: Type.Object({ username: Type.Optional(fields.username) }),
    handle: ({ params, caller }) => jsonAnswer(users.suggest({ text: params.username ?? '' }, caller)),
  })
}

/** `POST …/auth/users`. */
export function createUserEndpoint(users: Operations['users']): Endpoint {
  return endpoint({
    summary: 'Makes a user without roles',
    permission: users.create.permission,
    answers: ANSWERS_DONE,
    params: Type.Object({ username: fields.newUsername, password: fields.password }),
    handle: async ({ params, caller }) => {
      await users.create(params, caller)
      return doneAnswer('create user ok!')
    },
  })
}

/** `PUT …/auth/users`: with the old password it is for everybody's own one, without it for administrators. */
export function updateUserEndpoint(users: Operations['users']): Endpoint {
  return endpoint({
    summary: 'Sets the password of a user; with oldPassword, the own one of the caller',
    permission: users.setPassword.permission,
    answers: ANSWERS_DONE,
    params: Type.Object({
      username: fields.username,
      newPassword: fields.withDescription(fields.password, 'The password from now on.'),
      oldPassword: Type.Optional(
        fields.withDescription(
          fields.password,
          'The password until now. Users who are no administrators must send it.',
        ),
      ),
    }),
    handle: async ({ params, caller }) => {
      const { username, newPassword, oldPassword } = params
      if (oldPassword === undefined) await users.setPassword({ username, password: newPassword }, caller)
      else await users.changeOwnPassword({ username, oldPassword, newPassword }, caller)
      return doneAnswer('update user ok!')
    },
  })
}

/** `DELETE …/auth/users`. `mustExist`: an unknown user is refused. */
export function removeUserEndpoint(users: Operations['users'], mustExist: boolean): Endpoint {
  return endpoint({
    summary: 'Removes a user, with its roles and sessions',
    permission: users.remove.permission,
    answers: ANSWERS_DONE,
    params: Type.Object({ username: fields.username }),
    handle: async ({ params: { username }, caller }) => {
      await users.remove({ username, mustExist }, caller)
      return doneAnswer('delete user ok!')
    },
  })
}
