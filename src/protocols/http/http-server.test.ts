import { once } from 'node:events'
import { Agent, request as nodeRequest, type IncomingHttpHeaders } from 'node:http'
import { connect, type Socket } from 'node:net'
import Type from 'typebox'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Refusal } from '../../core/refusal.ts'
import { EMPTY_TEXT, jsonAnswer, OK_TEXT, textAnswer } from './answers.ts'
import { errorsOfPath } from './dialect-errors.ts'
import {
  createHttpServer,
  type HttpServer,
  type HttpServerOptions,
  type HttpSettings,
} from './http-server.ts'
import { configErrors } from './nacos-errors.ts'
import { NACOS_NAMING_RULES, SVC_RULES } from './parameter-rules.ts'
import { problemErrors } from './problem.ts'
import { route, type Held, type Method, type Route } from './route.ts'

const SETTINGS: HttpSettings = {
  keepAliveTimeoutMs: 76_000,
  requestTimeoutMs: 10_000,
  maxHeaderBytes: 512 * 1024,
  maxBodyBytes: 64 * 1024,
  maxParameters: 50,
  maxConnections: 20_000,
  trustedProxies: [],
}

const EVERYTHING = { a: Type.Optional(Type.String()), n: Type.Optional(Type.Integer({ minimum: 0 })) }
const permission = { action: 'read', resource: 'public' } as const

function plainRoute(method: Method, path: string, handle: Route['handle']): Route {
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

const held: Held[] = []
let gone = 0
const logged: object[] = []

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
    poll.onGone(() => gone++)
    held.push(poll)
    return undefined
  }),
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

let http: HttpServer
let port: number

async function start(
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

beforeEach(() => {
  held.length = 0
  logged.length = 0
  gone = 0
})

afterEach(async () => {
  for (const poll of held) poll.answer(EMPTY_TEXT)
  await http.stop(200)
})

interface Reply {
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

function send(path: string, { method = 'GET', headers = {}, body, agent }: Sent = {}): Promise<Reply> {
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

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** Writes raw bytes and gives back everything that came until the connection ended or `ms` passed. */
async function raw(bytes: string | Buffer, ms = 300): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  socket.write(bytes)
  const closed = new Promise((resolve) => socket.on('close', resolve))
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, ms))])
  socket.destroy()
  return text
}

async function until(condition: () => boolean): Promise<void> {
  for (let tries = 0; !condition(); tries++) {
    if (tries > 500) throw new Error('waited in vain')
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

describe('parameters', () => {
  beforeEach(() => start())

  test('come from the query', async () => {
    expect((await send('/svc/v1/echo?a=x+y&n=3')).text).toBe('{"a":"x y","n":3}')
    expect((await send('/svc/v1/echo/?a=%E4%B8%AD')).text).toBe('{"a":"中"}')
    expect((await send('/svc/v1/echo?')).text).toBe('{}')
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    '%s takes them from a form body too, the query first',
    async (method) => {
      const headers = { ...FORM, 'content-length': '10' }
      const reply = await send('/svc/v1/echo?a=query', { method, headers, body: 'a=body&n=4' })
      expect(reply.text).toBe('{"a":"query","n":4}')
    },
  )

  test('a form is UTF-8 whatever charset it claims, and may have no type at all', async () => {
    for (const type of [
      'application/x-www-form-urlencoded; charset=GBK',
      'Application/X-WWW-Form-Urlencoded;charset=utf8',
      '',
    ])
      expect(
        (await send('/svc/v1/echo', { method: 'POST', headers: { 'content-type': type }, body: 'a=中' }))
          .text,
      ).toBe('{"a":"中"}')
    expect((await send('/svc/v1/echo', { method: 'POST', body: 'a=b' })).text).toBe('{"a":"b"}')
  })

  test('JSON and other bodies are not read, and a body of GET is not either', async () => {
    const json = { 'content-type': 'application/json' }
    expect((await send('/svc/v1/echo', { method: 'POST', headers: json, body: '{"a":1}' })).text).toBe('{}')
    expect(
      (await send('/svc/v1/echo?n=1', { headers: { ...FORM, 'content-length': '3' }, body: 'a=b' })).text,
    ).toBe('{"n":1}')
  })

  test('a POST without a body and without a length is answered', async () => {
    const text = await raw('POST /svc/v1/echo?a=q HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(text).toContain('{"a":"q"}')
  })

  test('raw JSON in the request line is read; raw UTF-8 there is refused by the parser, and told', async () => {
    const text = await raw('GET /svc/v1/echo?a={"n":"[1]"}|^`\\<># HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(text).toContain(JSON.stringify({ a: '{"n":"[1]"}|^`\\<>#' }))
    const utf8 = await raw('GET /svc/v1/echo?a=中 HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(utf8).toMatch(/^HTTP\/1.1 400 [^]*percent-encoded/)
  })

  test('a chunked body is read', async () => {
    const body = '2\r\na=\r\n3\r\n1+2\r\n0\r\n\r\n'
    const text = await raw(
      `POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}`,
    )
    expect(text).toContain('{"a":"1 2"}')
  })

  test('a wrong one is a 400 that names it', async () => {
    const reply = await send('/svc/v1/echo?n=x')
    expect(reply.status).toBe(400)
    expect(reply.headers['content-type']).toBe('application/problem+json')
    expect(JSON.parse(reply.text)).toMatchObject({
      status: 400,
      parameter: 'n',
      allowed: 'an integer of at least 0',
    })
    expect((await send('/svc/v1/echo?a=%FF')).status).toBe(400)
    expect((await send(`/svc/v1/echo?${'b=1&'.repeat(51)}`)).status).toBe(400)
  })
})

describe('answers', () => {
  beforeEach(() => start())

  test('carry their length, their type and nosniff', async () => {
    const { headers, text } = await send('/svc/v1/ok')
    expect(text).toBe('ok')
    expect(headers).toMatchObject({
      'content-type': 'text/plain;charset=UTF-8',
      'content-length': '2',
      'x-content-type-options': 'nosniff',
    })
    expect(headers.date).toBeDefined()
  })

  test('may come later, from one handler or as a refusal', async () => {
    expect((await send('/svc/v1/later')).text).toBe('later')
    expect((await send('/svc/v1/refuses')).status).toBe(404)
  })

  test('a header can hold nothing that ends it', async () => {
    const { headers } = await send('/svc/v1/odd-header')
    expect(headers['x-odd']).toBe('a%0D%0ASet-Cookie: b%E4%B8%AD')
    expect(headers['set-cookie']).toBeUndefined()
  })

  test.each(['/svc/v1/throws', '/svc/v1/rejects', '/svc/v1/silent'])(
    '%s is a 500 that tells nothing but an id, logged once',
    async (path) => {
      const reply = await send(path)
      const problem = JSON.parse(reply.text) as { instance: string }
      expect(reply.status).toBe(500)
      expect(reply.text).not.toContain('secret')
      expect(logged).toHaveLength(1)
      expect(problem.instance).toBe(`urn:uuid:${(logged[0] as { requestId: string }).requestId}`)
    },
  )

  test('an unknown path is 404 and an unknown method 405 with Allow, in the dialect of the path', async () => {
    expect(await send('/svc/v1/nothing')).toMatchObject({
      status: 404,
      headers: { 'content-type': 'application/problem+json' },
    })
    expect(await send('/svc/v1/ok', { method: 'DELETE' })).toMatchObject({
      status: 405,
      headers: { allow: 'GET' },
    })
    expect(await send('/svc/v1/ok', { method: 'HEAD' })).toMatchObject({ status: 405 })
    const nacos = await send('/nacos/v1/ns/nothing')
    expect(nacos.status).toBe(404)
    expect(JSON.parse(nacos.text)).toMatchObject({
      status: 404,
      error: 'Not Found',
      message: 'no such api:GET:/nacos/v1/ns/nothing',
      path: '/nacos/v1/ns/nothing',
    })
    expect(await send('/nacos/v1/cs/configs', { method: 'PUT' })).toMatchObject({
      status: 405,
      text: "caused: Request method 'PUT' not supported;",
    })
    expect(logged).toHaveLength(0)
  })

  test('a route tells errors in its own format', async () => {
    expect(await send('/nacos/v1/cs/configs')).toMatchObject({
      status: 400,
      text: "caused: Required request parameter 'dataId' for method parameter type String is not present;",
    })
    expect(await send('/nacos/v1/cs/configs?dataId=x')).toMatchObject({
      status: 404,
      text: 'config data not exist\n',
    })
  })
})

describe('the caller', () => {
  test('is the socket, whatever a header says', async () => {
    await start()
    const headers = { 'x-forwarded-for': '9.9.9.9', 'user-agent': 'Tester:v1', 'x-test': 'yes' }
    expect(JSON.parse((await send('/svc/v1/who', { headers })).text)).toEqual({
      ip: '127.0.0.1',
      socketIp: '127.0.0.1',
      userAgent: 'Tester:v1',
      x: 'yes',
    })
    expect(JSON.parse((await send('/svc/v1/who')).text)).toMatchObject({ userAgent: '' })
  })

  test('is who a trusted proxy names', async () => {
    await start({}, { trustedProxies: ['127.0.0.0/8'] })
    const reply = await send('/svc/v1/who', { headers: { 'x-forwarded-for': '1.1.1.1, 9.9.9.9, 127.0.0.2' } })
    expect(JSON.parse(reply.text)).toMatchObject({ ip: '9.9.9.9', socketIp: '127.0.0.1' })
  })
})

describe('bodies that are too large', () => {
  beforeEach(() => start())

  test('a declared length is refused at once, before the body comes', async () => {
    const text = await raw('POST /svc/v1/small HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\nabc', 150)
    expect(text).toMatch(/^HTTP\/1.1 413 /)
    expect(text).toMatch(/Connection: close/i)
    expect(text).toContain('at most 100 bytes')
  })

  test('a body without a length is refused when it grows too large, and its sender reads the answer', async () => {
    const agent = new Agent({ keepAlive: true })
    const sent = nodeRequest({ host: '127.0.0.1', port, path: '/svc/v1/small', method: 'POST', agent })
    const response = new Promise<number>((resolve, reject) => {
      sent.on('response', (answer) => resolve(answer.statusCode!))
      sent.on('error', reject)
    })
    for (let part = 0; part < 50; part++) sent.write(Buffer.alloc(64 * 1024, 'a'))
    expect(await response).toBe(413)
    agent.destroy()
  })

  test('a sender that never ends is cut', async () => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write('POST /svc/v1/small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
    const timer = setInterval(() => socket.write(`400\r\n${'a'.repeat(1024)}\r\n`), 10)
    await new Promise((resolve) => socket.on('close', resolve))
    clearInterval(timer)
  })

  test('exactly the limit is taken', async () => {
    expect((await send('/svc/v1/small', { method: 'POST', body: `a=${'x'.repeat(98)}` })).text).toBe('ok')
  })

  test('Expect: 100-continue is answered with the refusal instead of a go-ahead', async () => {
    const head = 'POST /svc/v1/small HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: '
    expect(await raw(`${head}1000\r\n\r\n`)).toMatch(/^HTTP\/1.1 413 /)
    expect(await raw(`${head}3\r\n\r\na=b`)).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/)
  })
})

describe('connections', () => {
  test('an early answer to a request with an unread body leaves the connection usable', async () => {
    await start({ gate: ({ path }) => (path === '/svc/v1/barred' ? textAnswer('no entry', 403) : undefined) })
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    for (let round = 0; round < 3; round++) {
      const barred = await send('/svc/v1/barred', {
        method: 'POST',
        headers: FORM,
        body: Buffer.alloc(60_000, 'a'),
        agent,
      })
      expect(barred).toMatchObject({ status: 403, text: 'no entry' })
      expect((await send('/svc/v1/nothing', { method: 'POST', body: 'a=b', agent })).status).toBe(404)
      expect((await send('/svc/v1/ok', { agent })).text).toBe('ok')
    }
    const open = await new Promise<number>((resolve) =>
      http.server.getConnections((_, count) => resolve(count)),
    )
    expect(open).toBe(1)
    agent.destroy()
  })

  test('a gate may refuse, and the route tells it in its format', async () => {
    await start({
      gate: () => {
        throw new Refusal('server-status', 'The server is DOWN.', { names: { status: 'DOWN' } })
      },
    })
    expect(await send('/svc/v1/ok')).toMatchObject({
      status: 503,
      headers: { 'content-type': 'application/problem+json' },
    })
    expect(await send('/nacos/v1/cs/configs')).toMatchObject({
      status: 503,
      text: 'caused: server is DOWNnow, please try again later!;',
    })
  })

  test('a client that leaves in the middle of its body is forgotten', async () => {
    await start()
    const socket = connect(port, '127.0.0.1')
    socket.write('POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\na=b')
    await until(() => http.inFlight() === 1)
    socket.destroy()
    await until(() => http.inFlight() === 0)
    expect(logged).toHaveLength(0)
  })

  test('answers are counted and timed for whoever wants to know', async () => {
    const seen: [string | undefined, number, boolean][] = []
    await start({
      onAnswer: (found, status, elapsedMs) => void seen.push([found?.path, status, elapsedMs >= 0]),
    })
    await send('/svc/v1/ok')
    await send('/svc/v1/nothing')
    expect(seen).toEqual([
      ['/svc/v1/ok', 200, true],
      [undefined, 404, true],
    ])
  })

  test('requests on one connection are answered in order, also when they come in one packet', async () => {
    await start()
    const two = 'GET /svc/v1/later HTTP/1.1\r\nHost: x\r\n\r\nGET /svc/v1/ok HTTP/1.1\r\nHost: x\r\n\r\n'
    expect(await raw(two)).toMatch(/later[^]*ok$/)
  })

  test('an idle connection is kept for the time of the setting', async () => {
    await start()
    expect((await send('/svc/v1/ok', { agent: new Agent({ keepAlive: true }) })).headers['keep-alive']).toBe(
      'timeout=76',
    )
  })
})

describe('what is no request', () => {
  beforeEach(() => start({}, { maxHeaderBytes: 2048, requestTimeoutMs: 300 }))

  test.each([
    ['nonsense', 'hello\r\n\r\n', 400],
    ['a request line with a space in it', 'GET /svc/v1/echo?a=b c HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['a missing host', 'GET /svc/v1/ok HTTP/1.1\r\n\r\n', 400],
    ['a wrong length', 'POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n', 400],
    [
      'two lengths',
      'POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
    [
      'a broken chunk',
      'POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      400,
    ],
    [
      'headers that are too large',
      `GET /svc/v1/ok HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(3000)}\r\n\r\n`,
      431,
    ],
    [
      'a request line that is too long',
      `GET /svc/v1/ok?a=${'a'.repeat(3000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
      431,
    ],
  ])('%s is answered with a 4xx and not logged', async (_, bytes, status) => {
    expect(await raw(bytes)).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(logged).toHaveLength(0)
    await until(() => http.inFlight() === 0)
  })

  test('a client that sends too slowly is cut, a held poll is not', async () => {
    const poll = send('/svc/v1/hold')
    await until(() => held.length === 1)
    const text = await raw('POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\na', 2_000)
    expect(text).toMatch(/^HTTP\/1.1 408 /)
    held[0]!.answer(textAnswer('changed'))
    expect((await poll).text).toBe('changed')
  })

  test('the target may name the host', async () => {
    expect(await raw('GET http://x/svc/v1/ok HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(/ok$/)
    expect(await raw('OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(/^HTTP\/1.1 404 /)
  })
})

describe('held requests', () => {
  beforeEach(() => start())

  test('are answered once, later', async () => {
    const reply = send('/svc/v1/hold')
    await until(() => held.length === 1)
    expect(http.inFlight()).toBe(1)
    held[0]!.answer(textAnswer('first'))
    held[0]!.answer(textAnswer('second'))
    expect((await reply).text).toBe('first')
    expect(http.inFlight()).toBe(0)
    expect(gone).toBe(0)
  })

  test('tell when the client has left, and bear an answer after that', async () => {
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /svc/v1/hold HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(() => held.length === 1)
    socket.destroy()
    await until(() => gone === 1)
    held[0]!.answer(textAnswer('nobody'))
    expect(http.inFlight()).toBe(0)
    expect(logged).toHaveLength(0)
  })

  test('do not tell of a client that leaves after its answer', async () => {
    const agent = new Agent({ keepAlive: true })
    const reply = send('/svc/v1/hold', { agent })
    await until(() => held.length === 1)
    held[0]!.answer(OK_TEXT)
    await reply
    agent.destroy()
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(gone).toBe(0)
  })

  test('a thousand of them are held and answered on their connections', async () => {
    const warnings: unknown[] = []
    const onWarning = (warning: unknown): void => void warnings.push(warning)
    process.on('warning', onWarning)
    const agent = new Agent({ keepAlive: true, maxSockets: 1000 })
    const replies = Array.from({ length: 1000 }, () => send('/svc/v1/hold', { agent }))
    await until(() => held.length === 1000)
    for (const poll of held) poll.answer(EMPTY_TEXT)
    expect((await Promise.all(replies)).every(({ status, text }) => status === 200 && text === '')).toBe(true)
    agent.destroy()
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
  })
})

describe('stopping', () => {
  test('ends idle and silent connections at once', async () => {
    await start()
    const agent = new Agent({ keepAlive: true })
    await send('/svc/v1/ok', { agent })
    const silent = connect(port, '127.0.0.1')
    await once(silent, 'connect')
    await new Promise((resolve) => setTimeout(resolve, 20))
    const began = performance.now()
    await http.stop(5_000)
    expect(performance.now() - began).toBeLessThan(500)
    agent.destroy()
    silent.destroy()
  })

  test('lets what was begun be answered, and closes after it', async () => {
    await start()
    const agent = new Agent({ keepAlive: true })
    const later = send('/svc/v1/later', { agent })
    const poll = send('/svc/v1/hold', { agent })
    await until(() => http.inFlight() === 2)
    const stopped = http.stop(5_000)
    setTimeout(() => held[0]!.answer(textAnswer('bye')), 50)
    expect(await later).toMatchObject({ text: 'later', headers: { connection: 'close' } })
    expect(await poll).toMatchObject({ text: 'bye', headers: { connection: 'close' } })
    await stopped
    await expect(send('/svc/v1/ok')).rejects.toThrow()
  })

  test('a large answer that is being sent is sent to its end', async () => {
    const big = Buffer.alloc(20_000_000, 'x')
    await start({ routes: [plainRoute('GET', '/svc/v1/big', () => textAnswer(big))] })
    const socket = connect(port, '127.0.0.1')
    socket.pause()
    socket.write('GET /svc/v1/big HTTP/1.1\r\nHost: x\r\n\r\n')
    await new Promise((resolve) => setTimeout(resolve, 50))
    const stopped = http.stop(5_000)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await sizeUntilEnd(socket)).toBeGreaterThan(big.length)
    await stopped
  })

  test('destroys what does not end within the grace time', async () => {
    await start()
    const poll = send('/svc/v1/hold').catch((error: Error) => error)
    await until(() => held.length === 1)
    const began = performance.now()
    await http.stop(100)
    expect(performance.now() - began).toBeLessThan(1_000)
    expect(await poll).toBeInstanceOf(Error)
  })

  async function sizeUntilEnd(socket: Socket): Promise<number> {
    let size = 0
    socket.on('data', (chunk) => (size += chunk.length))
    socket.resume()
    await once(socket, 'close')
    return size
  }
})

test('a port that is taken is an error of listen', async () => {
  await start()
  const second = createHttpServer({
    routes: [],
    settings: SETTINGS,
    fallbackErrors: errorsOfPath,
    log: { error: () => undefined, warn: () => undefined },
  })
  await expect(second.listen({ host: '127.0.0.1', port })).rejects.toThrow('EADDRINUSE')
})
