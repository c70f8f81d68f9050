/** Every route of the server with all that it declares, and requests to each, for tests that try them all. */
import { ANONYMOUS } from '../../src/core/access/identity.ts'
import { Guard } from '../../src/operations/guard.ts'
import type { Authorisation } from '../../src/operations/authorisation.ts'
import { allOperations, type OperationParts } from '../../src/operations/operations.ts'
import type { Route } from '../../src/protocols/http/routing/route.ts'
import { allRoutes, type RouteParts } from '../../src/server/doors/routes.ts'
import { loadSettings } from '../../src/settings/settings.ts'

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
  newPassword: 'p',
  nid: '3',
  oldPassword: 'p',
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
  'PUT /nacos/v2/ns/instance/beat': ['beat'],
  'PUT /svc/v1/ns/instance/beat': ['beat'],
}

/** The names that `{ ...parts }` must find. */
const PARTS = [
  'state',
  'liveness',
  'engine',
  'store',
  'clock',
  'lists',
  'pushes',
  'polls',
  'live',
  'views',
  'budget',
  'members',
]

/** All routes over parts that must not be touched, besides these. */
export function routesFor(authorisation: Authorisation, parts: object = {}): Route[] {
  const settings = loadSettings({ env: {} })
  const guard = new Guard(authorisation)
  const operations = allOperations(untouchable({ ...parts, guard }) as OperationParts)
  const own = { operations, settings, monotonicMs: () => 0, notReady: () => [] }
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

/** Who asks, without a socket. */
export const CALLER = {
  ip: '10.9.9.9',
  identity: ANONYMOUS,
  socketIp: '10.9.9.9',
  isProxied: false,
  socketPort: 1234,
  isSecure: false,
  userAgent: '',
  headers: {},
}

/** `METHOD /path`, with the parameter that chooses it if there is one. */
export function nameOf({ method, path, variant }: Route): string {
  return `${method} ${path}${variant === undefined ? '' : ` ${variant}=true`}`
}

/** The parameters without which a route answers nothing but 400. */
export function neededBy(route: Route): readonly string[] {
  return [...route.params.required, ...(NEEDED[nameOf(route)] ?? [])]
}

/** Texts of these parameters of a route; `values` by name come before those of this table. */
export function sample(
  { params: { properties } }: Route,
  names: readonly string[],
  values: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const texts = names.map((name) => {
    const { type, enum: words } = properties[name]!
    return [name, type === 'boolean' ? 'true' : (words?.[0] ?? values[name] ?? VALUES[name] ?? '1')]
  })
  return Object.fromEntries(texts)
}
