import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { EMPTY_TEXT, jsonAnswer, OK_TEXT, textAnswer } from '../../src/protocols/http/routing/answers.ts'
import { finish, held, http, logged, plainRoute, port, raw, reset, start, until } from './http-fixture.ts'

beforeEach(reset)
afterEach(finish)

const LIMIT = 64 * 1024

/** The answer, and the number of bytes of its body. */
const ANSWERS = {
  empty: EMPTY_TEXT,
  ok: OK_TEXT,
  text: textAnswer('h\u00e9llo \u4e2d \u{1f600} \ud800'),
  bytes: textAnswer(Buffer.from([0, 255, 13, 10, 13, 10])),
  json: jsonAnswer({ a: '\u00e9' }, 201),
  headers: textAnswer('x', 400, { 'X-A': 'b\u00e9\r\nc', 'Retry-After': '5' }),
  atLimit: textAnswer('x'.repeat(LIMIT)),
  aboveLimit: textAnswer('x'.repeat(LIMIT + 1)),
  bytesAtLimit: textAnswer(Buffer.alloc(LIMIT, 'x')),
  bytesAboveLimit: textAnswer(Buffer.alloc(LIMIT + 1, 'x')),
  wideAtLimit: textAnswer('\u4e2d'.repeat(LIMIT)),
} as const
const NAMES = Object.keys(ANSWERS) as (keyof typeof ANSWERS)[]
const ROUTES = NAMES.map((name) => plainRoute('GET', `/svc/v1/${name}`, () => ANSWERS[name]))

const get = (path: string, headers = '', version = '1.1'): string =>
  `GET /svc/v1/${path} HTTP/${version}\r\nHost: x\r\n${headers}\r\n`

/** The answer to one request; the connection may stay open after it. */
async function answerTo(request: string): Promise<{ status: string; headers: string[]; body: Buffer }> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.write(request)
  const whole = (): Buffer => Buffer.concat(chunks)
  await until(() => {
    const length = /Content-Length: (\d+)\r\n/.exec(whole().toString('latin1'))?.[1]
    return length !== undefined && whole().length >= whole().indexOf('\r\n\r\n') + 4 + Number(length)
  })
  socket.destroy()
  const end = whole().indexOf('\r\n\r\n')
  const [status, ...headers] = whole().toString('latin1', 0, end).split('\r\n')
  return { status: status!, headers, body: whole().subarray(end + 4) }
}

const withoutConnection = (headers: string[]): string[] =>
  headers.filter((header) => !/^(Connection|Keep-Alive|Date): /.test(header)).toSorted()

describe('an answer with one write', () => {
  beforeEach(() => start({ routes: ROUTES }))

  test.each(NAMES)('%s is what node itself sends to a connection that ends', async (name) => {
    const [whole, parts] = [await answerTo(get(name)), await answerTo(get(name, 'Connection: close\r\n'))]
    expect(whole.status).toBe(parts.status)
    expect(withoutConnection(whole.headers)).toEqual(withoutConnection(parts.headers))
    expect(whole.body.equals(Buffer.from(ANSWERS[name].body))).toBe(true)
    expect(whole.body.equals(parts.body)).toBe(true)
    expect(whole.headers).toContain('Connection: keep-alive')
    expect(whole.headers).toContain('Keep-Alive: timeout=76')
    expect(parts.headers).toContain('Connection: close')
    const date = /^Date: (.*)$/m.exec(whole.headers.join('\n'))![1]!
    expect(date).toBe(new Date(date).toUTCString())
  })

  test('closes a connection of HTTP/1.0 that does not ask for keep-alive', async () => {
    expect(await raw(get('ok', '', '1.0'))).toMatch(/\r\nConnection: close\r\n\r\nok$/)
    const kept = await raw(get('ok', 'Connection: keep-alive\r\n', '1.0').repeat(2))
    expect(kept.match(/\r\nConnection: keep-alive\r\n/g)).toHaveLength(2)
  })
})

describe('answers on one connection', () => {
  test('come in the order of their requests, for fast, slow, wrong and large ones', async () => {
    const slow = plainRoute('GET', '/svc/v1/slow', async () => {
      await new Promise((resolve) => setTimeout(resolve, 2))
      return textAnswer('slow')
    })
    const fails = plainRoute('GET', '/svc/v1/fails', () => Promise.reject(new Error('a fault')))
    await start({ routes: [...ROUTES, slow, fails] })
    const paths = [
      'ok',
      'slow',
      'nothing',
      'aboveLimit',
      'fails',
      'ok',
      'atLimit',
      'nothing',
      'empty',
      'text',
    ]
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    socket.write(
      paths
        .map((path) => get(path))
        .join('')
        .repeat(20),
    )
    const statuses = (): string[] => text.match(/HTTP\/1.1 \d+/g) ?? []
    await until(() => statuses().length === 200 && http.inFlight() === 0)
    const [good, none, fault] = [200, 404, 500].map((code) => `HTTP/1.1 ${code}`)
    const round = [good, good, none, good, fault, good, good, none, good, good]
    expect(statuses()).toEqual(Array.from({ length: 20 }, () => round).flat())
    socket.destroy()
  })

  test('do not need a deep stack if very many are ready at once', async () => {
    await start({}, { maxPipelinedRequests: 100_000 })
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk) => (text += chunk.toString('latin1')))
    socket.write(get('hold') + get('nothing').repeat(5_000))
    await until(() => http.inFlight() === 5_001)
    held[0]!.answer(OK_TEXT)
    await until(() => text.match(/HTTP\/1.1 404/g)?.length === 5_000)
    expect(logged).toHaveLength(0)
    socket.destroy()
  })

  test('wait while the client does not read', async () => {
    await start({ routes: ROUTES })
    let ofServer: Socket | undefined
    http.server.on('connection', (socket: Socket) => (ofServer = socket))
    const socket = connect(port, '127.0.0.1')
    socket.pause()
    socket.write(get('bytesAtLimit').repeat(250))
    await until(() => (ofServer?.writableLength ?? 0) > 0)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(ofServer!.writableLength).toBeLessThan(4 * LIMIT)
    let bytes = 0
    socket.on('data', (chunk) => (bytes += chunk.length)).resume()
    await until(() => http.inFlight() === 0 && bytes > 250 * LIMIT)
    socket.destroy()
  })

  test('leave no listeners on the connection', async () => {
    await start({ routes: ROUTES })
    let ofServer: Socket | undefined
    http.server.on('connection', (socket: Socket) => (ofServer = socket))
    const socket = connect(port, '127.0.0.1').resume()
    const listeners = async (): Promise<number[]> => {
      const before = socket.bytesRead
      socket.write((get('ok') + get('nothing') + get('aboveLimit')).repeat(10))
      await until(() => http.inFlight() === 0 && socket.bytesRead > before + 10 * LIMIT)
      await new Promise((resolve) => setTimeout(resolve, 10))
      return ofServer!.eventNames().map((name) => ofServer!.listenerCount(name))
    }
    const first = await listeners()
    for (let round = 0; round < 20; round++) await listeners()
    expect(await listeners()).toEqual(first)
    socket.destroy()
  })
})

test('a client that closes its sending side gets its answer', async () => {
  await start()
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  socket.end(get('ok'))
  await once(socket, 'end')
  expect(text).toMatch(/^HTTP\/1.1 200 [^]*ok$/)
})

test('a client that resets its connection during its answer does not affect others', async () => {
  await start()
  for (let round = 0; round < 20; round++) {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(get('hold') + get('ok').repeat(5))
    await until(() => held.length === round + 1)
    socket.resetAndDestroy()
    if (round % 2 === 0) await new Promise((resolve) => setImmediate(resolve))
    held[round]!.answer(OK_TEXT)
  }
  await until(() => http.inFlight() === 0)
  expect(await raw(get('ok'))).toMatch(/^HTTP\/1.1 200 /)
  expect(logged).toHaveLength(0)
})
