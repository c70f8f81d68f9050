import type { UserOperations } from '../../../../operations/access/users.ts'
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
export function listUsersEndpoint({ list }: UserOperations): Endpoint {
  return endpoint({
    summary: 'Lists the users',
    permission: list.permission,
    answers: answersJson(USER_PAGE),
    params: Type.Object({ username: Type.Optional(fields.username), ...PAGE_PARAMS }),
    handle: ({ params, caller }) => {
      const username = searchFor(params.username, params.search)
      return pageAnswer(list({ username, page: params }, caller), (name) => ({
        username: name,
        password: '',
      }))
    },
  })
}

/** `GET …/auth/users/search`: an array of usernames. */
export function suggestUsersEndpoint({ suggest }: UserOperations): Endpoint {
  return endpoint({
    summary: 'Lists the usernames that contain a text',
    permission: suggest.permission,
    answers: answersJson(Json.list(Json.string())),
    params: Type.Object({ username: Type.Optional(fields.username) }),
    handle: ({ params, caller }) => jsonAnswer(suggest({ text: params.username ?? '' }, caller)),
  })
}

/** `POST …/auth/users`. */
export function createUserEndpoint({ create }: UserOperations): Endpoint {
  return endpoint({
    summary: 'Makes a user without roles',
    permission: create.permission,
    answers: ANSWERS_DONE,
    params: Type.Object({ username: fields.newUsername, password: fields.password }),
    handle: async ({ params, caller }) => {
      await create(params, caller)
      return doneAnswer('create user ok!')
    },
  })
}

/** `PUT …/auth/users`: with the old password it is for everybody's own one, without it for administrators. */
export function updateUserEndpoint({ setPassword, changeOwnPassword }: UserOperations): Endpoint {
  return endpoint({
    summary: 'Sets the password of a user; with oldPassword, the own one of the caller',
    permission: setPassword.permission,
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
      if (oldPassword === undefined) await setPassword({ username, password: newPassword }, caller)
      else await changeOwnPassword({ username, oldPassword, newPassword }, caller)
      return doneAnswer('update user ok!')
    },
  })
}

/** `DELETE …/auth/users`. `mustExist`: an unknown user is refused. */
export function removeUserEndpoint({ remove }: UserOperations, mustExist: boolean): Endpoint {
  return endpoint({
    summary: 'Removes a user, with its roles and sessions',
    permission: remove.permission,
    answers: ANSWERS_DONE,
    params: Type.Object({ username: fields.username }),
    handle: async ({ params: { username }, caller }) => {
      await remove({ username, mustExist }, caller)
      return doneAnswer('delete user ok!')
    },
  })
}
