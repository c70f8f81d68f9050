/** Every route of both dialects refuses a caller without permission before it reads or changes anything. */
import { describe, expect, test } from 'vitest'
import type { Authorisation } from '../../src/operations/authorisation.ts'
import { compileReader } from '../../src/protocols/parameters/parameter-reader.ts'
import type { Route, Answer } from '../../src/protocols/http/routing/route.ts'
import { Refusal } from '../../src/core/refusal.ts'
import { CALLER, nameOf, neededBy, routesFor, sample } from './route-table.ts'

/** The routes without permission. A new one needs a reason: it shows nothing that belongs to anybody. */
const PUBLIC_ROUTES = [
  'DELETE /svc/v1/console/session',
  'GET /healthz',
  'GET /nacos/actuator/health',
  'GET /nacos/serverlist',
  'GET /nacos/v1/console/health/liveness',
  'GET /nacos/v1/console/health/readiness',
  'GET /nacos/v1/console/server/state',
  'GET /nacos/v1/cs/health',
  'GET /nacos/v1/ns/operator/metrics',
  'GET /nacos/v1/ns/ops/metrics',
  'GET /nacos/v2/console/health/liveness',
  'GET /nacos/v2/console/health/readiness',
  'GET /nacos/v3/admin/core/state/liveness',
  'GET /nacos/v3/admin/core/state/readiness',
  'GET /openapi.json',
  'GET /readyz',
  'GET /svc/v1/ns/operator/metrics',
  'POST /nacos/v1/auth/login',
  'POST /nacos/v1/auth/users/admin',
  'POST /nacos/v1/auth/users/login',
  'POST /nacos/v3/auth/user/login',
  'POST /svc/v1/auth/login',
  'POST /svc/v1/auth/users/admin',
  'POST /svc/v1/auth/users/login',
  'POST /svc/v1/console/session',
]

const nobody: Authorisation = { isOn: true, allows: () => false }
const routes = routesFor(nobody)
const isPublic = ({ permission }: Route) => permission.resource === 'public'
const guarded = routes.filter((route) => !isPublic(route))

test('the routes without permission are exactly these', () => {
  expect(routes.filter(isPublic).map(nameOf).toSorted()).toEqual(PUBLIC_ROUTES)
})

describe.each(guarded.map((route) => [nameOf(route), route] as const))('%s', (_, route) => {
  const plain = sample(route, neededBy(route))
  const optional = Object.keys(route.params.properties).filter((parameter) => !(parameter in plain))

  test('is refused', async () => {
    expect(await ask(route, plain)).toMatchObject({ status: 403 })
  })

  test.each(optional)('is refused with %s too', async (parameter) => {
    const { status, body } = await ask(route, { ...plain, ...sample(route, [parameter]) })
    // 400 where these parameters together mean nothing.
    expect([status, String(body)]).toEqual([expect.toBeOneOf([400, 403]), expect.any(String)])
  })
})

async function ask(route: Route, texts: Record<string, string>): Promise<Answer> {
  const read = compileReader(route.params, route.rules)
  const headers = { 'long-pulling-timeout': '10000' }
  const caller = { ...CALLER, headers }
  const hold = (): never => {
    throw new Error('the request was held')
  }
  const rawBody = route.variant === 'clone' ? Buffer.from('[{"cfgId":2}]') : undefined
  try {
    const params = read(new Map(Object.entries(texts)))
    const answer = await route.handle({ params, caller, rawBody, target: undefined, hold })
    if (answer === undefined) throw new Error('the request has no answer')
    return answer
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return route.errors(error, { method: route.method, path: route.path, requestId: 'r' })
  }
}
