/** Requests to every route about what is in the vault: the plainest one, and one for each further parameter. */
import type { Route } from '../../src/protocols/http/routing/route.ts'
import type { Call } from '../interface/client.ts'
import { nameOf, neededBy, sample } from '../routes/route-table.ts'
import { type Ids, ITEM, MARK, PASSWORD, SERVICE } from './vault.ts'
import { namespaceLine, planOf } from '../support/plan-lines.ts'

/** The credentials of a request: header fields, or parameters. */
export interface Credentials {
  readonly headers?: Readonly<Record<string, string>>
  readonly texts?: Readonly<Record<string, string>>
}

/** A request to a route. */
export interface Use {
  readonly route: Route
  readonly texts: Readonly<Record<string, string>>
  /** It has only what the route needs. */
  readonly isPlain: boolean
  /** The body sent besides the parameters, and its type. */
  readonly upload: { readonly body: string; readonly headers: Record<string, string> } | undefined
}

/** These say in which namespace something is; a request without a namespace is about all namespaces. */
export const NAMESPACE_PARAMETERS = [
  'tenant',
  'namespaceId',
  'namespace',
  'customNamespaceId',
  'Listening-Configs',
]

/** All about what is in the vault; what is made and removed is something else, so that each caller finds the same. */
function valuesOf({ item, record }: Ids): Record<string, string> {
  return {
    ...ITEM,
    ...SERVICE,
    namespace: MARK,
    customNamespaceId: MARK,
    ids: item,
    nid: record,
    id: record,
    historyId: record,
    'Listening-Configs': `${ITEM.dataId}\u0002${ITEM.group}\u0002${'0'.repeat(32)}\u0002${MARK}\u0001`,
    beat: JSON.stringify({ ip: '10.0.0.1', port: 80, serviceName: 'vault-group@@vault-service' }),
    instances: '[{"ip":"10.0.0.1","port":"80","ephemeral":"true","clusterName":"DEFAULT"}]',
    role: 'vault-role',
    resource: 'vault:*:*',
    action: 'r',
    code: 'AAAA-BBBB',
  }
}

/** Whether it is about two namespaces: these are both the vault. */
export function isComparison({ path }: Route): boolean {
  return path.endsWith('/compare')
}

/** The users that signing in and managing users is about. */
function usernameFor({ permission }: Route): string {
  return permission.resource === 'public' ? 'nacos' : 'vault-user'
}

/** The plainest request to a route, and one for each parameter that it does not need. */
export function usesOf(route: Route, ids: Ids): Use[] {
  const { properties } = route.params
  const inAll = [...NAMESPACE_PARAMETERS, 'username', 'password', ...(route.variant ? [route.variant] : [])]
  const plain = new Set([...neededBy(route), ...inAll.filter((name) => name in properties)])
  const sides = isComparison(route) ? { from: MARK, to: MARK } : {}
  const texts = (names: Iterable<string>) =>
    sample(route, [...names], {
      ...valuesOf(ids),
      ...sides,
      username: usernameFor(route),
      password: PASSWORD,
    })
  const others = Object.keys(properties).filter((name) => !plain.has(name))
  // Ids mean nothing without what selects by them.
  const withIds = others.filter((name) => name !== 'ids' && 'ids' in properties).map((name) => [name, 'ids'])
  const more = [...others.map((name) => [name]), ...withIds]
  return [[], ...more].map((names) => ({
    route,
    texts: texts([...plain, ...names]),
    isPlain: names.length === 0,
    upload: uploadOf(route, ids),
  }))
}

/** The name in the message of a failed test. */
export const titleOf = ({ route, texts }: Use) => `${nameOf(route)} ${Object.keys(texts).join(' ')}`

function uploadOf(route: Route, { item }: Ids): Use['upload'] {
  if (route.variant === 'clone') return { body: `[{"cfgId":${item},"dataId":"vault-copy"}]`, headers: {} }
  if (route.variant === 'import')
    return { body: NO_ARCHIVE, headers: { 'content-type': 'multipart/form-data; boundary=b' } }
  if (route.body !== 'raw') return undefined
  if (route.path === '/svc/v1/operator/import')
    return { body: planOf([namespaceLine('vault-copy')]), headers: {} }
  throw new Error(`There is no body for ${nameOf(route)}: say what is sent.`)
}

const NO_ARCHIVE =
  '--b\r\nContent-Disposition: form-data; name="file"; filename="f.zip"\r\n\r\nno archive\r\n--b--\r\n'

/** The request, with what shows who sends it. */
export function callOf({ route, texts, upload }: Use, credentials: Credentials): Call {
  const headers = { 'Long-Pulling-Timeout': '30000', ...upload?.headers, ...credentials.headers }
  const query = { ...texts, ...credentials.texts }
  if (upload !== undefined) return { query, body: upload.body, headers }
  return route.method === 'POST' ? { form: query, headers } : { query, headers }
}
