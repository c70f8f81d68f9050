import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { startWaypost, type Waypost, type WaypostOptions } from './waypost.ts'

/** A user, and what its one role may do: resources as in docs/security.md, with `r`, `w` or `rw`. */
export interface TestUser {
  readonly username: string
  readonly password: string
  readonly permissions: Readonly<Record<string, 'r' | 'w' | 'rw'>>
}

/** Asks a server for something as its administrator. Rejects if it is refused. */
export type AsAdministrator = (method: string, path: string, form?: Record<string, string>) => Promise<string>

/** A server whose callers must sign in. Its first administrator is `nacos` with the password `secret`. */
export interface ManagedWaypost {
  readonly waypost: Waypost
  readonly ask: AsAdministrator
  readonly addUser: (user: TestUser) => Promise<void>
  /** A new token of a user. The password is `secret` unless another one is named. */
  readonly tokenOf: (username: string, password?: string) => Promise<string>
}

/** Starts a server with authentication on, and makes its first administrator. `caFile`: of the certificate in its settings. */
export async function startManaged(options: WaypostOptions = {}, caFile?: string): Promise<ManagedWaypost> {
  return managedBy(await startWaypost({ ...options, settings: { auth: 'on', ...options.settings } }), caFile)
}

/** Makes the first administrator of a server. */
export async function managedBy(waypost: Waypost, caFile?: string): Promise<ManagedWaypost> {
  const code = /code"?[=:]"?([\w-]+)/.exec(waypost.output())?.[1] ?? ''
  const send = senderTo(waypost.url, caFile)
  await send({ method: 'POST', path: '/svc/v1/auth/users/admin', form: { code, password: 'secret' } })
  const tokenOf = async (username: string, password = 'secret') => {
    const answer = await send({ method: 'POST', path: '/svc/v1/auth/login', form: { username, password } })
    return (JSON.parse(answer) as { accessToken: string }).accessToken
  }
  // A new token each time: tests let tokens count for seconds only.
  const ask: AsAdministrator = async (method, path, form) =>
    send({ method, path, form, token: await tokenOf('nacos') })
  return { waypost, ask, addUser: (user) => addUser(ask, user), tokenOf }
}

async function addUser(ask: AsAdministrator, { username, password, permissions }: TestUser): Promise<void> {
  const role = `${username}s`
  await ask('POST', '/svc/v1/auth/users', { username, password })
  await ask('POST', '/svc/v1/auth/roles', { username, role })
  for (const [resource, action] of Object.entries(permissions))
    await ask('POST', '/svc/v1/auth/permissions', { role, resource, action })
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly form?: Record<string, string> | undefined
  readonly token?: string
}

function senderTo(url: string, caFile: string | undefined): (sent: Sent) => Promise<string> {
  const ca = caFile === undefined ? {} : { ca: readFileSync(caFile) }
  const { request } = url.startsWith('https:') ? https : http
  return ({ method, path, form = {}, token }) =>
    new Promise((resolve, reject) => {
      const body = new URLSearchParams(form).toString()
      const headers = {
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': body.length,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      }
      const sent = request(`${url}${path}`, { method, headers, agent: false, ...ca }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('end', () => {
          if (response.statusCode === 200) resolve(text)
          else reject(new Error(`${method} ${path} answered ${response.statusCode}: ${text}`))
        })
      })
      sent.on('error', reject).end(body)
    })
}
