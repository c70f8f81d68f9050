/** Every route of both dialects refuses a caller without permission before it reads or changes anything. */
import { describe, expect, test } from 'vitest'
import { type Authorisation, Guard } from '../../src/operations/guard.ts'
import { allOperations, type OperationParts } from '../../src/operations/operations.ts'
import { compileReader } from '../../src/protocols/parameters/parameter-reader.ts'
import type { Answer, Route } from '../../src/protocols/http/routing/route.ts'
import { allRoutes, type RouteParts } from '../../src/routes.ts'
import { loadSettings } from '../../src/settings/settings.ts'
import { Refusal } from '../../src/core/refusal.ts'

/** The routes without permission. A new one needs a reason: it shows nothing that belongs to anybody. */
const PUBLIC_ROUTES = [
  'GET /healthz',
  'GET /nacos/v1/console/health/liveness',
  'GET /nacos/v1/console/health/readiness',
  'GET /nacos/v1/console/server/state',
  'GET /nacos/v1/cs/health',
  'GET /nacos/v1/ns/operator/metrics',
  'GET /nacos/v1/ns/ops/metrics',
  'GET /openapi.json',
  'GET /readyz',
  'GET /svc/v1/ns/operator/metrics',
  'POST /nacos/v1/auth/login',
  'POST /nacos/v1/auth/users/login',
]

/** A valid value for each parameter. */
const VALUES: Readonly<Record<string, string>> = {
  beat: '{"ip":"10.0.0.1","port":80}',
  checkPort: '80',
  cfgId: '1',
  clusterName: 'DEFAULT',
  config_tags: 't',
  consistencyType: 'ephemeral',
  content: 'text',
  customNamespaceId: 'dev',
  dataId: 'd',
  delType: 'ids',
  encryptedDataKey: 'k',
  entry: 'distro',
  group: 'G',
  healthChecker: '{"type":"TCP"}',
  id: '3',
  ids: '2,4',
  instances: '[]',
  ip: '10.0.0.1',
  'Listening-Configs': 'd\u0002G\u0002m\u0001',
  metadata: '{}',
  namespace: 'dev',
  namespaceId: 'dev',
  namespaceName: 'n',
  namespaceShowName: 'n',
  nid: '3',
  pageNo: '1',
  pageSize: '10',
  port: '80',
  protectThreshold: '0.5',
  search: 'accurate',
  selector: '{"type":"none"}',
  serviceName: 's',
  show: 'all',
  udpPort: '0',
  value: 'true',
  weight: '1',
}

/** Parameters that a request needs although no schema requires them. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'GET /nacos/v1/cs/configs': ['dataId', 'group'],
  'DELETE /nacos/v1/cs/configs': ['dataId', 'group'],
  'GET /nacos/v1/cs/history': ['nid'],
  'GET /svc/v1/cs/history': ['nid'],
  'PUT /nacos/v1/ns/instance/beat': ['beat'],
  'PUT /svc/v1/ns/instance/beat': ['beat'],
}

/** What `{ ...parts }` must find. */
const PARTS = [
  'state',
  'liveness',
  'engine',
  'store',
  'clock',
  'lists',
  'pushes',
  'polls',
  'budget',
  'members',
]

const nobody: Authorisation = { isOn: true, allows: () => false }
const routes = routesFor(nobody)
const isPublic = ({ permission }: Route) => permission.resource === 'public'
const guarded = routes.filter((route) => !isPublic(route))

test('the routes without permission are exactly these', () => {
  expect(routes.filter(isPublic).map(nameOf).toSorted()).toEqual(PUBLIC_ROUTES)
})

describe.each(guarded.map((route) => [nameOf(route), route] as const))('%s', (name, route) => {
  const { properties, required } = route.params
  const plain = sample(route, [...required, ...(NEEDED[name] ?? [])])
  const optional = Object.keys(properties).filter((parameter) => !(parameter in plain))

  test('is refused', async () => {
    expect(await ask(route, plain)).toMatchObject({ status: 403 })
  })

  test.each(optional)('is refused with %s too', async (parameter) => {
    const { status, body } = await ask(route, { ...plain, ...sample(route, [parameter]) })
    // 400 where these parameters together mean nothing.
    expect([status, String(body)]).toEqual([expect.toBeOneOf([400, 403]), expect.any(String)])
  })
})

/** All routes over parts that must not be touched. */
function routesFor(authorisation: Authorisation): Route[] {
  const settings = loadSettings({ args: [], env: {} })
  const guard = new Guard(authorisation)
  const operations = allOperations(untouchable({ guard }) as OperationParts)
  const auditLog = { info: () => undefined }
  const own = { operations, settings, auditLog, monotonicMs: () => 0, notReady: () => [] }
  return allRoutes(untouchable(own) as unknown as RouteParts)
}

/** Gives what is given, and for every other part one that fails as soon as anything is asked of it. */
function untouchable(given: object): object {
  return new Proxy(given, {
    get: (target, part) => (part in target ? Reflect.get(target, part) : partThatFails(String(part))),
    has: () => true,
    ownKeys: (target) => [...new Set([...Reflect.ownKeys(target), ...PARTS])],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  })
}

function partThatFails(part: string): object {
  const fail = (): never => {
    throw new Error(`${part} was touched`)
  }
  return new Proxy(fail, { get: fail, apply: fail })
}

function nameOf({ method, path, variant }: Route): string {
  return `${method} ${path}${variant === undefined ? '' : ` ${variant}=true`}`
}

/** Texts of these parameters of a route. */
function sample({ params: { properties } }: Route, names: readonly string[]): Record<string, string> {
  const texts = names.map((name) => {
    const schema = properties[name]!
    const text = schema.type === 'boolean' ? 'true' : (schema.enum?.[0] ?? VALUES[name] ?? '1')
    return [name, text]
  })
  return Object.fromEntries(texts)
}

async function ask(route: Route, texts: Record<string, string>): Promise<Answer> {
  const read = compileReader(route.params, route.rules)
  const headers = { 'long-pulling-timeout': '10000' }
  const caller = { ip: '10.9.9.9', socketIp: '10.9.9.9', userAgent: '', headers }
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
