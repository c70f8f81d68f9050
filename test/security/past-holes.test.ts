/**
 * The holes that servers of this kind have had, tried with authentication on: by somebody who is not signed in, and by a
 * user without rights in the namespace `vault`.
 */
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Client, type Params } from '../interface/client.ts'
import { nameOf, routesFor } from '../routes/route-table.ts'
import { startWaypost } from '../support/waypost.ts'
import { forgeriesOf } from './forged-tokens.ts'
import { bearer, HOOK_LIMIT_MS, ITEM, MARK, SERVICE, startVault, type Vault } from './vault.ts'

let vault: Vault
/** Requests without credentials, and with credentials of a user without rights. */
let strangers: Record<string, string>[]

beforeAll(async () => {
  vault = await startVault()
  await vault.become('outsider')
  strangers = [{}, bearer(vault.token)]
}, HOOK_LIMIT_MS)
afterAll(async () => {
  vault?.client.close()
  await vault?.waypost.stop()
})

/** Everything that comes back for these bytes. */
function raw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(vault.waypost.port, '127.0.0.1')
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    socket.on('error', reject)
    socket.on('close', () => resolve(text))
    socket.write(bytes)
  })
}

/** One request, with its target word for word. */
function requestOf(method: string, target: string, headers: Record<string, string> = {}): string {
  const lines = Object.entries({ Host: '127.0.0.1', 'Content-Length': '0', ...headers })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return `${method} ${target} HTTP/1.1\r\n${head}\r\n`
}

const sendRaw = (method: string, target: string, headers: Record<string, string> = {}) =>
  raw(requestOf(method, target, { ...headers, Connection: 'close' }))

const item = String(new URLSearchParams(ITEM))
const service = String(new URLSearchParams(SERVICE))

/** A request for each kind of thing that is protected. */
const TARGETS: readonly (readonly [path: string, query: string])[] = [
  ['/svc/v1/cs/configs', item],
  ['/nacos/v1/cs/configs', item],
  ['/nacos/v1/cs/configs', `search=blur&dataId=&group=&tenant=${MARK}`],
  ['/nacos/v1/ns/instance/list', service],
  ['/svc/v1/ns/service', service],
  ['/nacos/v1/console/namespaces', `show=all&namespaceId=${MARK}`],
  ['/svc/v1/ns/operator/switches', ''],
  ['/svc/v1/operator/backup', ''],
  ['/svc/v1/audit', ''],
  ['/nacos/v1/auth/users', ''],
  ['/svc/v1/auth/permissions', ''],
  ['/metrics', ''],
]

/** The text of a content, which only answers to those who may read it have. */
const CONTENT = 'vault-content'

async function contentNow(): Promise<string> {
  const reply = await vault.client.get('/svc/v1/cs/configs', ITEM, bearer(vault.admin))
  return reply.text
}

/** Another spelling of each part of a path. */
const SPELLINGS: Readonly<Record<string, (path: string) => string>> = {
  'a slash before it': (path) => `/${path}`,
  'two slashes in it': (path) => path.replaceAll('/', '//'),
  'a slash after it': (path) => `${path}/`,
  'two slashes after it': (path) => `${path}//`,
  'a dot in it': (path) => path.replace(/\/([^/]*)$/, '/./$1'),
  'a way back in it': (path) => path.replace(/\/([^/]*)$/, '/x/../$1'),
  'a way back from an open path': (path) => `/healthz/..${path}`,
  'a way back from the login': (path) => `/nacos/v1/auth/login/../../../..${path}`,
  'a way back from the page': (path) => `/ui/..${path}`,
  'a way back with a semicolon': (path) => `/healthz/..;${path}`,
  'an encoded way back': (path) => `/healthz/%2e%2e${path}`,
  'an encoded way back and slash': (path) => `/healthz%2f..%2f${path.slice(1)}`,
  'a way back encoded twice': (path) => `/healthz/%252e%252e${path}`,
  'a semicolon after it': (path) => `${path};x=y`,
  'a semicolon and an open path after it': (path) => `${path};/healthz`,
  'a semicolon in it': (path) => path.replace(/\/([^/]*)$/, ';x=y/$1'),
  'a file name after it': (path) => `${path}/x.css`,
  'an ending': (path) => `${path}.json`,
  'a dot after it': (path) => `${path}.`,
  'a space after it': (path) => `${path}%20`,
  'a null after it': (path) => `${path}%00`,
  'a line break after it': (path) => `${path}%0a`,
  'an encoded slash': (path) => path.replace(/\/([^/]*)$/, '%2f$1'),
  'an encoded slash in capitals': (path) => path.replace(/\/([^/]*)$/, '%2F$1'),
  'a slash encoded twice': (path) => path.replace(/\/([^/]*)$/, '%252f$1'),
  'an encoded question mark': (path) => `${path}%3f`,
  'an encoded letter': (path) => path.replace(/.$/, (last) => `%${last.charCodeAt(0).toString(16)}`),
  'a letter in another encoding': (path) =>
    path.replace(/.$/, (last) => `%u00${last.charCodeAt(0).toString(16)}`),
  capitals: (path) => path.toUpperCase(),
  'a capital': (path) => path.replace(/.$/, (last) => last.toUpperCase()),
  'a backslash': (path) => path.replace(/\/([^/]*)$/, '\\$1'),
  'an encoded backslash': (path) => path.replace(/\/([^/]*)$/, '%5c$1'),
  'a fragment': (path) => `${path}#/healthz`,
  'no slash': (path) => path.slice(1),
  'this server in front': (path) => `http://127.0.0.1${path}`,
  'another server in front': (path) => `http://localhost:1${path}`,
  'another protocol in front': (path) => `https://127.0.0.1/healthz/..${path}`,
  'a user in front': (path) => `http://nacos:secret@127.0.0.1${path}`,
}

test('each of the targets is there for the administrator, and refused to others', async () => {
  for (const [path, query] of TARGETS) {
    const target = `${path}?${query}`
    expect(await sendRaw('GET', target, bearer(vault.admin)), target).toMatch(/^HTTP\/1\.1 200 /)
    for (const headers of strangers)
      expect(await sendRaw('GET', target, headers), target).toMatch(/^HTTP\/1\.1 403 /)
  }
})

describe('a path with', () => {
  test.each(Object.keys(SPELLINGS))('%s avoids no check', async (spelling) => {
    const spelled = TARGETS.flatMap(([path, query]) =>
      strangers.map((headers) => [`${SPELLINGS[spelling]!(path)}?${query}`, headers] as const),
    )
    const answers = spelled.map(async ([target, headers]) => [target, await sendRaw('GET', target, headers)])
    for (const [target, answer] of await Promise.all(answers)) {
      expect(answer, target).toMatch(/^HTTP\/1\.1 4\d\d /)
      expect(answer, target).not.toContain(CONTENT)
    }
  })

  test('any of these deletes and publishes nothing', async () => {
    const before = await contentNow()
    const targets = Object.values(SPELLINGS).map((spell) => `${spell('/nacos/v1/cs/configs')}?${item}`)
    for (const headers of strangers)
      await Promise.all(
        targets.flatMap((target) => [
          sendRaw('DELETE', target, headers),
          sendRaw('POST', `${target}&content=broken`, headers),
        ]),
      )
    expect(await contentNow()).toBe(before)
  })
})

/** Fields by which other servers, and proxies, take a caller, a path or a method for another one. */
const FIELDS: readonly Readonly<Record<string, string>>[] = [
  { 'User-Agent': 'Nacos-Server' },
  { 'User-Agent': 'Nacos-Server:v1.4.0' },
  { 'User-Agent': 'Waypost' },
  { serverIdentity: 'security' },
  { 'nacos.core.auth.server.identity.key': 'nacos.core.auth.server.identity.value' },
  { 'X-Forwarded-For': '127.0.0.1', 'X-Real-IP': '127.0.0.1', Forwarded: 'for=127.0.0.1' },
  { 'X-Forwarded-Host': 'localhost', 'X-Forwarded-Proto': 'https', 'X-Client-IP': '127.0.0.1' },
  { 'X-Forwarded-User': 'nacos', 'X-Remote-User': 'nacos', 'Remote-User': 'nacos' },
  { 'X-SSL-Client-CN': 'nacos', 'X-Client-Cert': 'nacos', 'X-SSL-Client-S-DN': 'CN=nacos' },
  { 'X-Original-URL': '/healthz', 'X-Rewrite-URL': '/healthz' },
  { Authorization: 'Basic bmFjb3M6bmFjb3M=' },
  { Authorization: 'Basic bmFjb3M6c2VjcmV0' },
  { Authorization: 'nacos' },
  { Authorization: 'Bearer null' },
  { accessToken: 'nacos', token: 'nacos', 'X-Access-Token': 'nacos' },
  { username: 'nacos', password: 'secret' },
  { Cookie: 'accessToken=nacos; waypost-session=nacos; JSESSIONID=nacos' },
  { 'request-source': 'nacos-server', 'Client-Version': '3.8.0', exConfigInfo: 'true' },
]

describe('no header field gives rights', () => {
  test.each(FIELDS)('%j', async (fields) => {
    for (const [path, query] of TARGETS)
      expect(await sendRaw('GET', `${path}?${query}`, fields), path).toMatch(/^HTTP\/1\.1 403 /)
  })

  test('and none makes an open path another one', async () => {
    const fields = { 'X-Original-URL': `/svc/v1/cs/configs?${item}`, 'X-Rewrite-URL': '/svc/v1/audit' }
    for (const path of ['/healthz', '/openapi.json'])
      expect(await sendRaw('GET', path, fields)).not.toContain(CONTENT)
  })

  test('and none, and no parameter, makes a request one of another method', async () => {
    await vault.become('reader')
    try {
      const before = await contentNow()
      for (const method of ['DELETE', 'POST', 'PUT']) {
        const fields = {
          'X-HTTP-Method-Override': method,
          'X-HTTP-Method': method,
          'X-Method-Override': method,
          ...bearer(vault.token),
        }
        const target = `/svc/v1/cs/configs?${item}&_method=${method}&content=broken`
        expect(await sendRaw('GET', target, fields)).toMatch(/^HTTP\/1\.1 200 /)
        expect(await sendRaw('POST', target, fields)).toMatch(/^HTTP\/1\.1 403 /)
      }
      expect(await contentNow()).toBe(before)
    } finally {
      await vault.become('outsider')
    }
  })
})

test('no other method does anything on any path', { timeout: HOOK_LIMIT_MS }, async () => {
  const routes = routesFor({ isOn: true, allows: () => false })
  // HEAD is GET without the body, with the same rights.
  const known = new Set(routes.map(nameOf).flatMap((name) => [name, name.replace(/^GET /, 'HEAD ')]))
  const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'COPY']
  const before = await contentNow()
  for (const method of [...methods, 'get', 'FOO']) {
    const paths = [...new Set(routes.map(({ path }) => path))].filter(
      (path) => !known.has(`${method} ${path}`),
    )
    const answers = paths.map(async (path) => [path, await sendRaw(method, `${path}?${item}&${service}`)])
    for (const [path, answer] of await Promise.all(answers)) {
      expect(answer, `${method} ${path}`).toMatch(/^HTTP\/1\.1 (400|404|405|501) /)
      expect(answer, `${method} ${path}`).not.toContain(CONTENT)
    }
  }
  expect(await contentNow()).toBe(before)
})

describe('a connection', () => {
  const target = `/svc/v1/cs/configs?${item}`
  const statuses = (text: string) => text.match(/HTTP\/1\.1 \d+/g)?.map((line) => line.slice(9))

  test('is not signed in by a request that was', async () => {
    const last = requestOf('GET', target, { Connection: 'close' })
    const signedIn = requestOf('GET', target, bearer(vault.admin))
    expect(statuses(await raw(`${signedIn}${last}`))).toEqual(['200', '403'])
    const beat = `/svc/v1/ns/instance/beat?${service}&ip=10.0.0.1&port=80`
    const beats = [bearer(vault.admin), bearer(vault.admin), {}, bearer(vault.token)]
    const sent = beats.map((headers) => requestOf('PUT', beat, headers)).join('')
    expect(statuses(await raw(`${sent}${last}`))).toEqual(['200', '200', '403', '403', '403'])
  })

  test('is not signed in by the trailers of a body, or by a field after them', async () => {
    const head = `PUT ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n`
    const chunked = 'Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n'
    const trailers = `0\r\nAuthorization: Bearer ${vault.admin}\r\n\r\n`
    const post = head.replace('PUT', 'POST')
    expect(statuses(await raw(`${post}${chunked}Trailer: Authorization\r\n\r\n${trailers}`))).not.toContain(
      '200',
    )
    expect(await contentNow()).toContain(CONTENT)
  })
})

// ---- Tokens

describe('a token', () => {
  const read = (query: Params, headers: Record<string, string>) =>
    vault.client.get('/svc/v1/cs/configs', { ...ITEM, ...query }, headers)

  test('that this server has not signed does not count, in the header or as a parameter', async () => {
    const asked = forgeriesOf(vault.admin).map(async (token) => {
      for (const { status, text } of [await read({}, bearer(token)), await read({ accessToken: token }, {})])
        expect([token, status, text]).toEqual([token, 403, expect.stringContaining('problem:')])
    })
    expect(asked.length).toBeGreaterThan(100)
    await Promise.all(asked)
    expect((await read({}, bearer(vault.admin))).status).toBe(200)
  })

  test('of a server without authentication does not count', async () => {
    const open = await startWaypost()
    const client = new Client(open.url)
    try {
      const reply = await client.post('/nacos/v1/auth/login', { username: 'nacos', password: 'nacos' })
      const { accessToken } = reply.json()
      expect((await read({ accessToken }, {})).status).toBe(403)
      expect((await read({}, bearer(accessToken))).status).toBe(403)
    } finally {
      client.close()
      await open.stop()
    }
  })

  test('counts before others: a right one does not help a wrong one in the header', async () => {
    expect((await read({ accessToken: vault.admin }, bearer('wrong'))).status).toBe(403)
    expect((await read({ accessToken: vault.admin }, bearer(vault.token))).status).toBe(403)
    expect((await read({ username: 'nacos', password: 'secret', accessToken: 'wrong' }, {})).status).toBe(403)
  })
})

// ---- What must not be there

test('nobody signs in with a password that servers come with', { timeout: HOOK_LIMIT_MS }, async () => {
  const pairs = ['nacos', 'admin'].map((name) => ({ username: name, password: name }))
  const login = { method: 'POST', path: '/nacos/v1/auth/login' }
  const replies = pairs.map((form, turn) =>
    vault.client.call(login.method, login.path, { form, localAddress: `127.0.0.${turn + 20}` }),
  )
  for (const { status, text } of await Promise.all(replies))
    expect([status, text]).toEqual([403, 'unknown user!'])
})

test('nobody becomes the first administrator a second time', async () => {
  for (const code of ['', 'x', 'AAAA-BBBB', 'undefined', 'null'])
    for (const dialect of ['svc', 'nacos']) {
      const form = { code, username: 'nacos', password: 'mine' }
      const reply = await vault.client.post(`/${dialect}/v1/auth/users/admin`, form)
      expect([400, 409]).toContain(reply.status)
      expect(reply.text).not.toContain('mine')
    }
})

describe('the administrator, too, finds nothing at', () => {
  test.each([
    '/nacos/v1/cs/ops/derby?sql=select%201',
    '/nacos/v1/cs/ops/data/removal',
    '/nacos/v1/cs/ops/localCache',
    '/nacos/v1/cs/ops/log?logName=root&logLevel=debug',
    '/nacos/v1/core/ops/raft',
    '/nacos/v1/core/ops/ids',
    '/nacos/v1/ns/raft/state',
    '/nacos/v1/ns/raft/datum',
    '/nacos/v1/ns/raft/vote',
    '/nacos/v1/ns/distro/datums',
    '/nacos/v1/ns/distro/datum',
    '/nacos/v1/core/loader/current',
    '/nacos/v2/core/ops/log',
    '/nacos/v3/admin/core/ops/log',
    '/nacos/actuator/env',
    '/actuator/heapdump',
    '/h2-console',
    '/debug/pprof',
  ])('%s', async (path) => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
      expect(await sendRaw(method, path, bearer(vault.admin))).toMatch(/^HTTP\/1\.1 404 /)
  })
})

test('after all this, the log has no token and no content', () => {
  const output = vault.waypost.output()
  for (const secret of [vault.admin, vault.token, vault.expired, CONTENT, 'SecretKey0123'])
    expect(output).not.toContain(secret)
})
