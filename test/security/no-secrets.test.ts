/** Secrets are sent in every place of a request, also in broken ones: none gets into the log, the audit, an error or a metric. */
import { connect } from 'node:net'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { buildLibrary } from '../faults/shims/build-shim.ts'
import { until } from '../interface/client.ts'
import { needTool } from '../support/need-tool.ts'
import { startWaypost, temporaryDirectory, type Waypost } from '../support/waypost.ts'

/** The secrets that must never be shown. The token of the administrator is added once it is there. */
const SECRETS: Record<string, string> = {
  password: 'Pa55word of the +administrator',
  otherPassword: 'Pa55word-of-ann',
  wrongPassword: 'wr0ng-Pa55word',
  typedAsName: 'Pa55word-typed-as-name',
  content: 'c0ntent-of-an-item',
  wrongToken: 'eyJhbGciOiJIUzI1NiJ9.wr0ng-t0ken.c2lnbmF0dXJl',
  wrongCode: 'wr0ng-one-time-c0de',
  cookie: 'wr0ng-c00kie-of-a-session',
  basic: Buffer.from('nacos:wr0ng-basic').toString('base64'),
}

const gcc = needTool('gcc')
let server: Waypost
let faults: string
/** The bodies of all answers that are errors. */
const errors: string[] = []

beforeAll(async () => {
  const directory = temporaryDirectory('secrets-')
  const dataDir = join(directory, 'data')
  faults = join(directory, 'fault')
  const env = gcc.skip ? {} : { LD_PRELOAD: buildLibrary('disk'), DISK_WATCH: dataDir, DISK_FAULT: faults }
  const settings = { auth: 'on', 'log-level': 'trace', 'audit-log': 'stdout' }
  server = await startWaypost({ dataDir, env, settings })
  const code = /code=([\w-]+)/.exec(server.output())?.[1] ?? ''
  await send('POST', '/svc/v1/auth/users/admin', { form: { code, password: SECRETS['password']! } })
  const answer = await login('nacos', SECRETS['password']!)
  SECRETS['token'] = (JSON.parse(answer) as { accessToken: string }).accessToken
  const form = { username: 'ann', password: SECRETS['otherPassword']! }
  await send('POST', '/svc/v1/auth/users', { form, headers: bearer(SECRETS['token']) })
})
afterAll(() => server.stop())

interface Sent {
  readonly form?: Record<string, string>
  readonly body?: string
  readonly headers?: Record<string, string>
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

async function send(method: string, path: string, { form, body, headers = {} }: Sent = {}): Promise<string> {
  const sent = form === undefined ? body : new URLSearchParams(form)
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers,
    ...(sent === undefined || method === 'GET' ? {} : { body: sent }),
  })
  const text = await response.text()
  if (!response.ok) errors.push(`${method} ${path.split('?')[0]}: ${text}`)
  return text
}

/** Sends bytes as they are; all that comes back counts as an error. */
function raw(bytes: string): Promise<void> {
  return new Promise((resolve) => {
    let text = ''
    const socket = connect(server.port, '127.0.0.1')
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      errors.push(text)
      resolve()
    })
    socket.end(bytes)
  })
}

const login = (username: string, password: string) =>
  send('POST', '/svc/v1/auth/login', { form: { username, password } })

const PATHS = [
  '/cs/configs',
  '/cs/configs/listener',
  '/cs/history',
  '/ns/instance',
  '/ns/instance/beat',
  '/ns/service',
  '/ns/operator/switches',
  '/console/namespaces',
  '/console/session',
  '/auth/users',
  '/auth/roles',
  '/auth/permissions',
  '/auth/keys/rotate',
  '/audit',
  '/no/such/path',
]
const METHODS = ['GET', 'POST', 'PUT', 'DELETE']

/** Each way to send credentials: query and form parameters, and headers. */
function credentials(): Sent[] {
  const s = (name: string) => SECRETS[name]!
  return [
    { form: { accessToken: s('wrongToken') } },
    { form: { username: 'nacos', password: s('wrongPassword') } },
    { form: { username: s('typedAsName'), password: s('wrongPassword') } },
    { headers: bearer(s('wrongToken')) },
    { headers: { authorization: `Basic ${s('basic')}` } },
    { headers: { cookie: `waypost-session=${s('cookie')}; __Host-waypost-session=${s('cookie')}` } },
    { headers: bearer(s('token')), form: { content: s('content'), dataId: 'no such name!', group: 'G' } },
    {
      headers: bearer(s('token')),
      form: { oldPassword: s('wrongPassword'), newPassword: s('otherPassword') },
    },
    { headers: bearer(s('token')), body: `{"password":"${s('wrongPassword')}",` },
  ]
}

/** Sends all credentials, each in the query and in the body. */
async function sendAll(method: string, path: string): Promise<void> {
  for (const sent of credentials()) {
    const query = new URLSearchParams(sent.form)
    await send(method, `${path}?${query}`, { headers: sent.headers ?? {} })
    if (method !== 'GET') await send(method, path, sent)
  }
}

describe('secrets that are sent', () => {
  test('in queries, forms and headers, of every kind of request', { timeout: 60_000 }, async () => {
    for (const path of ['/svc/v1', '/nacos/v1'].flatMap((prefix) => PATHS.map((path) => prefix + path)))
      await Promise.all(METHODS.map((method) => sendAll(method, path)))
  })

  test('in sign-ins, wrong and right ones, and in changes of passwords', async () => {
    for (const dialect of ['/svc/v1', '/nacos/v1']) {
      for (const username of ['nacos', SECRETS['typedAsName']!])
        await send('POST', `${dialect}/auth/users/login`, {
          form: { username, password: SECRETS['wrongPassword']! },
        })
      const code = SECRETS['wrongCode']!
      await send('POST', `${dialect}/auth/users/admin`, { form: { code, password: SECRETS['password']! } })
      const form = { username: 'ann', newPassword: SECRETS['otherPassword']! }
      await send('PUT', `${dialect}/auth/users`, { form, headers: bearer(SECRETS['token']!) })
    }
  })

  test('in contents that are published, imported, and deleted', async () => {
    const headers = bearer(SECRETS['token']!)
    const item = { dataId: 'app', group: 'G' }
    for (const dialect of ['/svc/v1', '/nacos/v1']) {
      await send('POST', `${dialect}/cs/configs`, {
        form: { ...item, content: SECRETS['content']! },
        headers,
      })
      const casMd5 = 'x'.repeat(32)
      await send('POST', `${dialect}/cs/configs`, {
        form: { ...item, content: SECRETS['content']!, casMd5 },
        headers,
      })
      await send('DELETE', `${dialect}/cs/configs?dataId=app&group=G`, { headers })
    }
    await send('POST', '/nacos/v1/cs/configs?import=true&namespace=public', {
      body: SECRETS['content']!,
      headers,
    })
  })

  test('in requests that are broken', async () => {
    const { token = '', wrongPassword = '', content = '' } = SECRETS
    const query = `accessToken=${token}&username=nacos&password=${wrongPassword}`
    const head = `Host: x\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n`
    const requests = [
      `GET /svc/v1/cs/configs?${query}&dataId=%ZZ%E4 HTTP/1.1\r\n${head}\r\n`,
      `GET /svc/v1/cs/configs?${query}&a=${'x'.repeat(100_000)} HTTP/1.1\r\n${head}\r\n`,
      `GET /no/such/path?${query} HTTP/1.1\r\n${head}\r\n`,
      `GET //svc/v1/../cs?${query} HTTP/1.1\r\n${head}\r\n`,
      `BREW /svc/v1/cs/configs?${query} HTTP/1.1\r\n${head}\r\n`,
      `GET /svc/v1/cs/configs?${query} HTTP/1.1\r\nHost: x\r\nbad header ${token}\r\n\r\n`,
      `GET /svc/v1/cs/configs?${query} HTTP/1.1\r\nHost: evil.example\r\n${head}\r\n`,
      `GET /svc/v1/cs/configs?${query} HTTP/1.1\r\n${head}${'X-Many: 1\r\n'.repeat(500)}\r\n`,
      `GET /svc/v1/cs/configs?${query} HTTP/9.9\r\n${head}\r\n`,
      `POST /svc/v1/cs/configs?${query} HTTP/1.1\r\n${head}Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n${content}`,
      `POST /svc/v1/cs/configs HTTP/1.1\r\n${head}Content-Length: 5000\r\n\r\ndataId=a&content=${content}`,
      `POST /svc/v1/cs/configs HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\nzz${content}\r\n`,
      `POST /svc/v1/cs/configs?${query} HTTP/1.1\r\n${head}Origin: http://evil.example\r\nContent-Length: 0\r\n\r\n`,
      `PUT /svc/v1/ns/instance/beat?beat={"ip":"${content} HTTP/1.1\r\n${head}\r\n`,
    ]
    for (const request of requests) await raw(request)
  })

  test('while the disk fails', async ({ skip }) => {
    skip(gcc.skip, gcc.reason)
    const headers = bearer(SECRETS['token']!)
    const publish = () =>
      send('POST', '/svc/v1/cs/configs', {
        form: { dataId: 'app', group: 'G', content: SECRETS['content']! },
        headers,
      })
    for (const fault of ['full', 'sync']) {
      writeFileSync(faults, fault)
      await publish()
      await send('POST', '/svc/v1/auth/users', {
        form: { username: `new-${fault}`, password: SECRETS['otherPassword']! },
        headers,
      })
      await send('POST', '/svc/v1/operator/backup', { headers })
      rmSync(faults)
      await until(publish, (text) => text === 'true')
    }
  })
})

describe('after that, none of them is in', () => {
  test('the log or the lines of the audit', () => {
    expect(server.output()).toContain('"operation":"publish config"')
    expect(secretsIn(server.output())).toEqual([])
  })

  test('the audit', async () => {
    let shown = ''
    let before = ''
    for (let next: string | null = '0'; next !== null; before = `&before=${next}`) {
      const text = await send('GET', `/svc/v1/audit?pageSize=500${before}`, {
        headers: bearer(SECRETS['token']!),
      })
      shown += text
      next = (JSON.parse(text) as { next: string | null }).next
    }
    expect(shown).toContain('"operation":"create user"')
    expect(secretsIn(shown)).toEqual([])
  })

  test('an error', () => {
    expect(errors.length).toBeGreaterThan(500)
    expect(secretsIn(errors.join('\n'))).toEqual([])
  })

  test('a metric', async () => {
    const text = await send('GET', '/metrics', { headers: bearer(SECRETS['token']!) })
    expect(text).toContain('waypost_audit_events_total')
    expect(secretsIn(text)).toEqual([])
  })
})

test('a secret that gets somewhere is found, also spelled for a URL, and a part of a token', () => {
  const { token = '', typedAsName } = SECRETS
  expect(secretsIn(`username=${typedAsName}&`)).toHaveLength(1)
  expect(secretsIn(`GET /?password=${encodeURIComponent(SECRETS['password']!)}`)).toHaveLength(1)
  expect(secretsIn(token.split('.')[1]!)).toHaveLength(1)
  expect(secretsIn('nothing of the kind')).toEqual([])
})

/** The names of the secrets in a text, as they are or as URLs spell them, and what is around them. A part of a token is enough. */
function secretsIn(text: string): string[] {
  return Object.entries(SECRETS).flatMap(([name, secret]) => {
    const parts = secret.split('.').filter((part) => part.length > 30)
    const found = [secret, encodeURIComponent(secret), ...parts].find((spelling) => text.includes(spelling))
    if (found === undefined) return []
    const at = text.indexOf(found)
    return [`${name}: ${text.slice(Math.max(0, at - 200), at + found.length + 50)}`]
  })
}
