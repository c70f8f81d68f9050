/** A server with authentication, users with different rights, and a namespace that most users must not see. */
import { Client, until } from '../interface/client.ts'
import { startManaged } from '../support/administrator.ts'
import { startWaypost, type Waypost } from '../support/waypost.ts'

/** The permissions of each role. */
export const ROLES = {
  outsider: { 'other:*:*': 'rw' },
  reader: { 'vault:*:*': 'r' },
  writer: { 'vault:*:*': 'w' },
  editor: { 'vault:*:*': 'rw' },
  monitor: { 'operator/metrics': 'r' },
  newcomer: {},
} as const satisfies Readonly<Record<string, Readonly<Record<string, 'r' | 'w' | 'rw'>>>>

export type Role = keyof typeof ROLES

/** Every name and value in the namespace has this in it: who may not see it must never be sent it. */
export const MARK = 'vault'
export const ITEM = { tenant: MARK, group: 'vault-group', dataId: 'vault-item' }
export const SERVICE = { namespaceId: MARK, groupName: 'vault-group', serviceName: 'vault-service' }
export const PASSWORD = 'secret'
/** For the start of the server: passwords are hashed one after the other. */
export const HOOK_LIMIT_MS = 120_000

/** The ids of what is in the namespace. */
export interface Ids {
  readonly item: string
  /** Of the newest history record of the item. */
  readonly record: string
}

/** The server, its administrator `nacos`, and one more user, who has the role of the test. */
export interface Vault {
  readonly waypost: Waypost
  readonly client: Client
  /** The token of the administrator. */
  readonly admin: string
  /** The token of the user. */
  readonly token: string
  /** A token of the administrator that has expired. */
  readonly expired: string
  readonly ids: Ids
  /** Asks for something as the administrator. Rejects if it is refused. */
  manage(method: string, path: string, form: Record<string, string>): Promise<string>
  /** Gives the user this role and takes its others. It is one user, because each password takes long to hash. */
  become(role: Role): Promise<void>
}

const USERNAME = 'caller'
export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Starts the server. Its namespace `vault` has an item with a history, and a service with an instance. */
export async function startVault(): Promise<Vault> {
  const { waypost: before, ask } = await startManaged({ settings: { 'token-ttl': '1s' } })
  const expired = tokenIn(await ask('POST', '/svc/v1/auth/login', { username: 'nacos', password: PASSWORD }))
  await before.stop()
  const { dataDir, port } = before
  const waypost = await startWaypost({ dataDir, port, settings: { auth: 'on' } })
  const client = new Client(waypost.url)
  const admin = await signIn(client, 'nacos')
  const manage = managerOf(client, admin)
  await addUser(manage)
  await fill(manage)
  const ids = await idsOf(client, admin)
  const token = await signIn(client, USERNAME)
  await until(
    () => client.get('/svc/v1/audit', {}, bearer(expired)),
    ({ text }) => text.includes('token-expired'),
  )
  return { waypost, client, admin, token, expired, ids, manage, become: (role) => become(manage, role) }
}

/** The cookie of a new session of the user. */
export async function sessionOf(client: Client): Promise<string> {
  const form = { username: USERNAME, password: PASSWORD }
  const { headers } = await client.post('/svc/v1/console/session', form)
  return headers['set-cookie']![0]!.split(';')[0]!
}

/** The token with another signature. */
export function changed(token: string): string {
  const [head, payload, signature] = token.split('.') as [string, string, string]
  return [head, payload, signature.slice(1) + signature[0]].join('.')
}

async function signIn(client: Client, username: string): Promise<string> {
  const reply = await client.post('/svc/v1/auth/login', { username, password: PASSWORD })
  return tokenIn(reply.text)
}

function managerOf(client: Client, token: string): Vault['manage'] {
  return async (method, path, form) => {
    const reply = await client.call(method, path, { form, headers: bearer(token) })
    if (reply.status !== 200) throw new Error(`${method} ${path} answered ${reply.status}: ${reply.text}`)
    return reply.text
  }
}

async function addUser(manage: Vault['manage']): Promise<void> {
  await manage('POST', '/svc/v1/auth/users', { username: USERNAME, password: PASSWORD })
  for (const [role, permissions] of Object.entries(ROLES)) {
    await manage('POST', '/svc/v1/auth/roles', { username: USERNAME, role })
    for (const [resource, action] of Object.entries(permissions))
      await manage('POST', '/svc/v1/auth/permissions', { role, resource, action })
  }
}

async function become(manage: Vault['manage'], role: Role): Promise<void> {
  for (const other of Object.keys(ROLES))
    await manage(other === role ? 'POST' : 'DELETE', '/svc/v1/auth/roles', {
      username: USERNAME,
      role: other,
    })
}

async function fill(manage: Vault['manage']): Promise<void> {
  for (const id of [MARK, 'other'])
    await manage('POST', '/svc/v1/console/namespaces', {
      customNamespaceId: id,
      namespaceName: id,
      namespaceDesc: `${id}-description`,
    })
  for (const content of ['vault-content', 'vault-content-changed'])
    await manage('POST', '/svc/v1/cs/configs', { ...ITEM, content })
  await manage('POST', '/svc/v1/ns/service', { ...SERVICE, metadata: '{"of":"vault-metadata"}' })
  await manage('POST', '/svc/v1/ns/instance', { ...SERVICE, ip: '10.0.0.1', port: '80', metadata: LASTING })
}

/** An instance that stays healthy without beats. */
const LASTING = JSON.stringify({
  'preserved.heart.beat.timeout': '3600000',
  'preserved.ip.delete.timeout': '3600000',
  of: 'vault-metadata',
})

async function idsOf(client: Client, token: string): Promise<Ids> {
  const detail = await client.get('/nacos/v1/cs/configs', { ...ITEM, show: 'all' }, bearer(token))
  const records = await client.get('/svc/v1/cs/history', { ...ITEM, search: 'accurate' }, bearer(token))
  return { item: detail.json().id, record: String(records.json().pageItems[0].id) }
}

function tokenIn(text: string): string {
  return (JSON.parse(text) as { accessToken: string }).accessToken
}
