import { request as nodeRequest, type Agent, type IncomingHttpHeaders } from 'node:http'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { Type, NACOS_NAMING_RULES, SVC_RULES } from '../../src/protocols/parameters/schema.ts'
import { Refusal } from '../../src/core/refusal.ts'
import { EMPTY_TEXT, jsonAnswer, OK_TEXT, textAnswer } from '../../src/protocols/http/routing/answers.ts'
import { errorsOfPath } from '../../src/protocols/http/dialect-errors.ts'
import {
  createHttpServer,
  type HttpServer,
  type HttpServerOptions,
  type HttpSettings,
} from '../../src/protocols/http/transport/http-server.ts'
import { configErrors } from '../../src/protocols/http/nacos/nacos-errors.ts'
import { problemErrors } from '../../src/protocols/http/errors/problem.ts'
import { route, type Held, type Method, type Route } from '../../src/protocols/http/routing/route.ts'

/** How long a test waits for what must come. */
const WAIT_MS = 30_000
/** So many turns of `until` without a byte are the end of what comes: each takes 5 ms or more. */
const QUIET_TURNS = 60

export const SETTINGS: HttpSettings = {
  keepAliveTimeoutMs: 76_000,
  requestTimeoutMs: 10_000,
  maxHeaderBytes: 512 * 1024,
  maxBodyBytes: 64 * 1024,
  maxParameters: 50,
  maxConnections: 20_000,
  maxConnectionsPerAddress: 0,
  maxUnreadBytes: 64 * 1024,
  unreadTimeoutMs: 60_000,
  maxBodyMemoryBytes: 512 * 1024 * 1024,
  maxHeaders: 200,
  maxJsonDepth: 32,
  trustedProxies: [],
  advertiseHost: '',
  allowedHosts: [],
  nodeStreams: process.env['WAYPOST_NODE_STREAMS'] === 'true',
}

const EVERYTHING = { a: Type.Optional(Type.String()), n: Type.Optional(Type.Integer({ minimum: 0 })) }
const permission = { action: 'read', resource: 'public' } as const

export function plainRoute(method: Method, path: string, handle: Route['handle']): Route {
  const params = Type.Object(EVERYTHING)
  return route({
    method,
    path,
    summary: path,
    permission,
    params,
    rules: SVC_RULES,
    errors: problemErrors,
    handle,
  } as never)
}

export const held: Held[] = []
export const seen = { gone: 0 }
export const logged: object[] = []

const ROUTES: Route[] = [
  ...(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) =>
    plainRoute(method, '/svc/v1/echo', ({ params }) => jsonAnswer(params)),
  ),
  plainRoute('GET', '/svc/v1/ok', () => OK_TEXT),
  plainRoute('GET', '/svc/v1/later', async () => {
    await new Promise((resolve) => setTimeout(resolve, 20))
    return textAnswer('later')
  }),
  plainRoute('GET', '/svc/v1/who', ({ caller }) =>
    jsonAnswer({
      ip: caller.ip,
      socketIp: caller.socketIp,
      userAgent: caller.userAgent,
      x: caller.headers['x-test'],
    }),
  ),
  plainRoute('GET', '/svc/v1/throws', () => {
    throw new Error('a secret of ours')
  }),
  plainRoute('GET', '/svc/v1/rejects', () => Promise.reject(new Error('a secret of ours'))),
  plainRoute('GET', '/svc/v1/refuses', () =>
    Promise.reject(new Refusal('config-not-found', 'There is no such item.')),
  ),
  plainRoute('GET', '/svc/v1/silent', () => undefined),
  plainRoute('GET', '/svc/v1/odd-header', () =>
    textAnswer('x', 200, { 'X-Odd': 'a\r\nSet-Cookie: b\u4e2d' }),
  ),
  plainRoute('POST', '/svc/v1/barred', () => textAnswer('never')),
  plainRoute('GET', '/svc/v1/hold', (request) => {
    const poll = request.hold()
    poll.onGone(() => seen.gone++)
    held.push(poll)
    return undefined
  }),
  {
    ...plainRoute('PUT', '/svc/v1/repeated', () => textAnswer('read')),
    // The data that `again` gets: the target, word for word, and who asks.
    again: (target, caller) => {
      if (!target.endsWith('?a=known')) return undefined
      if (caller.headers['x-test'] === 'denied') throw new Refusal('forbidden', 'no')
      return textAnswer(`known from ${caller.ip}`)
    },
  },
  { ...plainRoute('POST', '/svc/v1/small', () => OK_TEXT), maxBodyBytes: 100 },
  route({
    method: 'GET',
    path: '/nacos/v1/cs/configs',
    summary: '',
    permission,
    params: Type.Object({ dataId: Type.String() }),
    rules: NACOS_NAMING_RULES,
    errors: configErrors,
    handle: () => Promise.reject(new Refusal('config-not-found', 'no')),
  }),
]

export let http: HttpServer
export let port: number

export async function start(
  more: Partial<HttpServerOptions> = {},
  settings: Partial<HttpSettings> = {},
): Promise<void> {
  http = createHttpServer({
    routes: ROUTES,
    settings: { ...SETTINGS, ...settings },
    fallbackErrors: errorsOfPath,
    log: { error: (facts) => void logged.push(facts), warn: () => undefined },
    ...more,
  })
  port = (await http.listen({ host: '127.0.0.1', port: 0 })).port
}

/** Forgets what the last test left. */
export function reset(): void {
  held.length = 0
  logged.length = 0
  seen.gone = 0
}

/** Lets everyone go and stops the server. */
export async function finish(): Promise<void> {
  for (const poll of held) poll.answer(EMPTY_TEXT)
  await http.stop(200)
}

export interface Reply {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

interface Sent {
  method?: string
  headers?: Record<string, string>
  body?: string | Buffer
  agent?: Agent
}

export function send(path: string, { method = 'GET', headers = {}, body, agent }: Sent = {}): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = nodeRequest({ host: '127.0.0.1', port, path, method, headers, agent }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** An open connection that gathers what it is sent. */
export async function opened(localAddress = '127.0.0.1'): Promise<Socket & { text: string }> {
  const socket = Object.assign(connect({ port, host: '127.0.0.1', localAddress }), { text: '' })
  socket.setNoDelay(true)
  socket.on('data', (chunk) => (socket.text += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

export const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/**
 * Writes raw bytes and gives back everything that came, until the connection ended or nothing more comes. Turns are counted and not
 * milliseconds: the server shares this thread, and a busy machine lets both wait.
 */
export async function raw(bytes: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let [text, quietTurns] = ['', 0]
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    quietTurns = 0
  })
  socket.on('error', () => undefined)
  socket.write(bytes)
  await until(() => {
    if (text !== '') quietTurns++
    return socket.closed || quietTurns > QUIET_TURNS
  })
  socket.destroy()
  return text
}

export async function until(condition: () => boolean): Promise<void> {
  const endMs = performance.now() + WAIT_MS
  while (!condition()) {
    if (performance.now() > endMs) throw new Error('waited in vain')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}
