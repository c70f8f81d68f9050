import { Type, SVC_RULES } from '../../parameters/schema.ts'
import { jsonTextAnswer } from '../routing/answers.ts'
import { describeApi } from './openapi.ts'
import { problemErrors } from '../errors/problem.ts'
import { route, type Route, type Answer } from '../routing/route.ts'

/** `GET /openapi.json`: the document of these routes and of itself, made when it is first asked for. */
export function openapiRoute(routes: readonly Route[], version: string): Route {
  let answer: Answer | undefined
  const self: Route = route({
    method: 'GET',
    path: '/openapi.json',
    summary: 'Describes this interface (OpenAPI 3.1)',
    permission: { action: 'read', resource: 'public' },
    params: Type.Object({}),
    rules: SVC_RULES,
    errors: problemErrors,
    handle: () =>
      (answer ??= jsonTextAnswer(Buffer.from(JSON.stringify(describeApi([...routes, self], version))))),
  })
  return self
}
