/**
 * Every operation of a real server is asked by every kind of caller. Who is refused follows from what the route declares,
 * so a new operation is tried as soon as it is in the table.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Permission } from '../../src/operations/authorisation.ts'
import { Client, type Reply } from '../interface/client.ts'
import { nameOf, routesFor } from '../routes/route-table.ts'
import { startWaypost } from '../support/waypost.ts'
import {
  callOf,
  type Credentials,
  isComparison,
  NAMESPACE_PARAMETERS,
  titleOf,
  type Use,
  usesOf,
} from './every-use.ts'
import {
  bearer,
  changed,
  HOOK_LIMIT_MS,
  ITEM,
  MARK,
  type Role,
  ROLES,
  SERVICE,
  sessionOf,
  startVault,
  type Vault,
} from './vault.ts'

/** A kind of caller. */
interface Column {
  readonly name: string
  /** Why it is refused where it needs a right. */
  readonly code: 'not-signed-in' | 'token-invalid' | 'token-expired' | 'forbidden'
  /** Undefined for one who is not signed in. */
  readonly role: Role | 'administrator' | undefined
  credentials(): Credentials
}

let vault: Vault
/** The cookie of a session of the user. */
let cookie: string

const withToken = (role: Role): Column => ({
  name: `${role}, by a token`,
  code: 'forbidden',
  role,
  credentials: () => ({ headers: bearer(vault.token) }),
})
const withParameter = (role: Role): Column => ({
  ...withToken(role),
  name: `${role}, by a parameter`,
  credentials: () => ({ texts: { accessToken: vault.token } }),
})
const withCookie = (role: Role): Column => ({
  ...withToken(role),
  name: `${role}, by a cookie`,
  credentials: () => ({ headers: { cookie, origin: vault.waypost.url, 'user-agent': 'Mozilla/5.0' } }),
})
const notSignedIn = (name: string, code: Column['code'], credentials: Column['credentials']): Column => ({
  name,
  code,
  role: undefined,
  credentials,
})
const ADMINISTRATOR: Column = {
  name: 'administrator',
  code: 'forbidden',
  role: 'administrator',
  credentials: () => ({ headers: bearer(vault.admin) }),
}

const COLUMNS: readonly Column[] = [
  notSignedIn('nobody', 'not-signed-in', () => ({})),
  notSignedIn('an invalid token', 'token-invalid', () => ({ headers: bearer(changed(vault.admin)) })),
  notSignedIn('an invalid parameter', 'token-invalid', () => ({
    texts: { accessToken: changed(vault.admin) },
  })),
  notSignedIn('an expired token', 'token-expired', () => ({ headers: bearer(vault.expired) })),
  notSignedIn('an expired parameter', 'token-expired', () => ({ texts: { accessToken: vault.expired } })),
  ...(Object.keys(ROLES) as Role[]).map(withToken),
  ...(['outsider', 'reader', 'editor'] as const).flatMap((role) => [withParameter(role), withCookie(role)]),
  // The last: what it does ends what the others have.
  ADMINISTRATOR,
]

const routes = routesFor({ isOn: true, allows: () => false })

// ---- Who may do what

/** Whether somebody may read or write in a namespace. */
function mayIn(namespace: string, { role }: Column, action: 'read' | 'write'): boolean {
  if (role === undefined || role === 'administrator') return role !== undefined
  const letter = action === 'read' ? 'r' : 'w'
  return Object.entries(ROLES[role]).some(
    ([resource, actions]) => resource.startsWith(`${namespace}:`) && actions.includes(letter),
  )
}

const isAdministrator = ({ role }: Column) => role === 'administrator'
const isSignedIn = ({ role }: Column) => role !== undefined

function isOfVersion({ route: { path, method }, texts }: Use): boolean {
  if (path.endsWith('/gray/promote')) return true
  if (method !== 'PUT' && method !== 'DELETE') return false
  return /\/(?:gray|beta)$/.test(path) || 'tag' in texts || 'beta' in texts
}

function mayTouchItem(column: Column, use: Use): boolean {
  const { route, texts } = use
  const { action } = route.permission
  // Ids of items that the caller may not read or delete are skipped like those of no item.
  if (route.variant === 'clone') return mayIn(MARK, column, 'write')
  // The answer says whether the version is there.
  if (isOfVersion(use)) return mayIn(MARK, column, 'read') && mayIn(MARK, column, 'write')
  const isInAny = 'all' in texts || 'delType' in texts
  const isInOne = isComparison(route) || (NAMESPACE_PARAMETERS.some((name) => name in texts) && !isInAny)
  if (isInOne) return mayIn(MARK, column, action)
  return [MARK, 'other'].some((namespace) => mayIn(namespace, column, action))
}

const V2_NAMESPACE = '/nacos/v2/console/namespace'

function mayTouchNamespace(column: Column, { route, texts }: Use): boolean {
  if (route.permission.action === 'write') return isAdministrator(column)
  // A list leaves out what the caller may not see; what is named is refused.
  const namesOne = 'show' in texts || 'checkNamespaceIdExist' in texts || route.path === V2_NAMESPACE
  return namesOne ? mayIn(MARK, column, 'read') : isSignedIn(column)
}

/** Whether a caller may do something, by the kind of resource that the route declares. */
const RULES: Readonly<Record<Permission['resource'], (column: Column, use: Use) => boolean>> = {
  public: () => true,
  'own-account': isSignedIn,
  config: mayTouchItem,
  naming: mayTouchItem,
  namespace: mayTouchNamespace,
  metrics: (column) => isAdministrator(column) || column.role === 'monitor',
  operator: isAdministrator,
  backup: isAdministrator,
  audit: isAdministrator,
  // With an old password it is about the own one of the caller, and no caller of this matrix is that user.
  access: (column, { texts }) => isAdministrator(column) && !('oldPassword' in texts),
}

function isAllowed(column: Column, use: Use): boolean {
  const rule = RULES[use.route.permission.resource]
  if (rule === undefined) throw new Error(`There is no rule for ${nameOf(use.route)}: say who may do it.`)
  return rule(column, use)
}

// ---- What is asked

/**
 * Without them the rest could not be asked: a key that has leaked ends the tokens of everybody, and a sign-in ends the session that
 * the browser had.
 */
const endsCredentials = ({ route, texts }: Use) =>
  'leaked' in texts || (route.path === '/svc/v1/console/session' && route.method !== 'GET')

const usesOfAll = () => routes.flatMap((route) => usesOf(route, vault.ids))

const ask = (column: Column, use: Use): Promise<Reply> =>
  vault.client.call(use.route.method, use.route.path, callOf(use, column.credentials()))

// ---- What is answered

/** The code in the envelopes of `/nacos/v2` and `/nacos/v3` (grpc-compat.md section 7). */
const ACCESS_DENIED = 10_001

/** The answer of `/nacos/v1` to each (http-compat.md section 7). */
const NACOS_MESSAGES: Readonly<Record<Column['code'], string>> = {
  'not-signed-in': 'unknown user!',
  'token-invalid': 'token invalid!',
  'token-expired': 'token expired!',
  forbidden: 'authorization failed!',
}

/** What a caller may not do: the resource, and the same in the command that gives the right. */
const NAMED =
  /may not (?:read|write) (?:the namespace )?(?<named>\S+)\. (?:An administrator gives the right: [^']+'\k<named>'|This is)/

/** A refusal without the resource that it names, as far as the request has sent each part of that. */
function withoutSentNames({ texts }: Use, text: string): string {
  const sent = [...Object.values(texts), '*', 'public', 'config', 'naming'].join('\n')
  const found = NAMED.exec(text)
  const parts = found?.groups!['named']!.split(/[:/]/) ?? []
  return found !== null && parts.every((part) => sent.includes(part)) ? text.replace(NAMED, '') : text
}

/** Undefined for a refusal as the clients of the dialect know it, and which says nothing of what it protects. */
function wrongInRefusal({ code }: Column, use: Use, { status, headers, text }: Reply) {
  const { route, isPlain } = use
  // Parameters that mean nothing together are refused before it is asked who sends them.
  if (status === 400 && !isPlain && !text.includes(MARK)) return undefined
  if (status !== 403) return `${status} ${text}`
  if (withoutSentNames(use, text).includes(MARK)) return `a refusal that tells: ${text}`
  const body = JSON.parse(text) as Record<string, unknown>
  if (/^\/nacos\/v[23]\//.test(route.path)) return body['code'] === ACCESS_DENIED ? undefined : text
  const isRight = route.path.startsWith('/nacos/')
    ? body['error'] === 'Forbidden' && body['message'] === NACOS_MESSAGES[code] && body['path'] === route.path
    : body['type'] === `urn:waypost:problem:${code}` &&
      headers['content-type']!.startsWith('application/problem+json')
  return isRight && body['status'] === 403 ? undefined : text
}

/** Undefined for an answer that is no refusal; one to somebody without rights in the namespace names nothing of it. */
function wrongInAnswer(column: Column, _: Use, { status, text }: Reply): string | undefined {
  if (status === 401 || status === 403) return `${status} ${text}`
  const isStranger = !mayIn(MARK, column, 'read') && !mayIn(MARK, column, 'write')
  return isStranger && status === 200 && text.includes(MARK) ? `an answer that tells: ${text}` : undefined
}

type WrongIn = typeof wrongInAnswer

/** The answers that are not as they must be, by what was asked. */
async function wrongAnswers(column: Column, uses: readonly Use[], wrongIn: WrongIn) {
  const { role } = column
  if (role !== undefined && role !== 'administrator') await vault.become(role)
  const judge = async (use: Use) => [titleOf(use), wrongIn(column, use, await ask(column, use))] as const
  const isUpload = ({ upload }: Use) => upload !== undefined
  const found = await Promise.all(uses.filter((use) => !isUpload(use)).map(judge))
  // One by one: the server takes only some uploads at once.
  for (const use of uses.filter(isUpload)) found.push(await judge(use))
  return found.filter(([, wrong]) => wrong !== undefined)
}

/** Each part of the vault, as the administrator sees it. */
async function contents(): Promise<string[]> {
  await vault.become('newcomer')
  const { admin, client } = vault
  const pages = { pageNo: 1, pageSize: 500 }
  const asked = [
    ['/nacos/v1/cs/configs', { ...ITEM, show: 'all' }],
    ['/nacos/v1/cs/configs', { tenant: MARK, dataId: '', group: '', search: 'blur', ...pages }],
    ['/nacos/v1/cs/history', { ...ITEM, search: 'accurate', ...pages }],
    ['/nacos/v1/ns/catalog/services', { namespaceId: MARK, withInstances: true, ...pages }],
    ['/nacos/v1/ns/instance/list', SERVICE],
    ['/nacos/v1/ns/catalog/service', SERVICE],
    ['/nacos/v1/console/namespaces', {}],
    ['/nacos/v1/ns/operator/switches', {}],
    ['/svc/v1/operator/backup', {}],
    ...['users', 'roles', 'permissions'].map((name) => [`/svc/v1/auth/${name}`, pages] as const),
  ] as const
  const replies = asked.map(([path, query]) => client.get(path, { ...query }, bearer(admin)))
  return (await Promise.all(replies)).map(({ status, text }) => `${status} ${text}`)
}

beforeAll(async () => {
  vault = await startVault()
  cookie = await sessionOf(vault.client)
}, HOOK_LIMIT_MS)
afterAll(async () => {
  vault?.client.close()
  await vault?.waypost.stop()
})

describe('the table', () => {
  test('is what the server publishes as its document', async () => {
    const { paths } = (await vault.client.get('/openapi.json')).json()
    const published = Object.entries(
      paths as Record<string, Record<string, { 'x-permission': object }>>,
    ).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [
        `${method.toUpperCase()} ${path}`,
        operation['x-permission'],
      ]),
    )
    const plain = routes.filter(({ variant }) => variant === undefined)
    const declared = plain.map((route) => {
      const { action, resource } = route.permission
      return [nameOf(route), { action, resource }] as const
    })
    expect(Object.fromEntries(published)).toEqual(Object.fromEntries(declared))
  })

  test('has a rule for every route, and every rule has routes', () => {
    const kinds = new Set<string>(routes.map(({ permission }) => permission.resource))
    expect([...kinds].toSorted()).toEqual(Object.keys(RULES).toSorted())
  })
})

describe('what is not allowed', () => {
  let before: string[]
  beforeAll(async () => {
    before = await contents()
  })

  test.each(COLUMNS)('is refused: $name', { timeout: 120_000 }, async (column) => {
    const refused = usesOfAll().filter((use) => !isAllowed(column, use))
    expect(await wrongAnswers(column, refused, wrongInRefusal)).toEqual([])
  })

  test('has changed nothing', async () => {
    expect(before.filter((text) => !text.startsWith('200 '))).toEqual([])
    expect(await contents()).toEqual(before)
  })
})

describe('what is allowed', () => {
  test.each(COLUMNS)('is not refused: $name', { timeout: 120_000 }, async (column) => {
    const allowed = usesOfAll().filter((use) => isAllowed(column, use) && !endsCredentials(use))
    expect(await wrongAnswers(column, allowed, wrongInAnswer)).toEqual([])
  })
})

test('who is not signed in learns from the metrics whether the server is up, and nothing else', async () => {
  for (const path of [
    '/svc/v1/ns/operator/metrics',
    '/nacos/v1/ns/operator/metrics',
    '/nacos/v1/ns/ops/metrics',
  ])
    expect((await vault.client.get(path)).json()).toEqual({ status: 'UP' })
})

describe('without authentication', () => {
  test('users, roles, permissions and keys are still managed by administrators alone', async () => {
    const open = await startWaypost()
    const client = new Client(open.url)
    try {
      const uses = routes
        .filter(({ permission }) => permission.resource === 'access')
        .flatMap((route) => usesOf(route, vault.ids))
      expect(uses.length).toBeGreaterThan(0)
      for (const use of uses)
        for (const credentials of [{}, { headers: bearer(vault.admin) }]) {
          const { path, method } = use.route
          const reply = await client.call(method, path, callOf(use, credentials))
          expect([titleOf(use), reply.status]).toEqual([titleOf(use), 403])
        }
    } finally {
      client.close()
      await open.stop()
    }
  })
})
