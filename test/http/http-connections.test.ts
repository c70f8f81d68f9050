import { once } from 'node:events'
import { Agent, request as nodeRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Refusal } from '../../src/core/refusal.ts'
import { EMPTY_TEXT, OK_TEXT, textAnswer } from '../../src/protocols/http/routing/answers.ts'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  finish,
  FORM,
  held,
  http,
  logged,
  plainRoute,
  port,
  raw,
  reset,
  seen,
  send,
  start,
  until,
} from './http-fixture.ts'

beforeEach(reset)
afterEach(finish)

/** For how long a server that stops waits for what is not idle. */
const GRACE_MS = 30_000

describe('bodies that are too large', () => {
  beforeEach(() => start())

  test('a declared length that is too large is refused before the body arrives', async () => {
    const text = await raw('POST /svc/v1/small HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\nabc')
    expect(text).toMatch(/^HTTP\/1.1 413 /)
    expect(text).toMatch(/Connection: close/i)
    expect(text).toContain('at most 100 bytes')
  })

  test('a body without a length is refused when it grows too large, and the client reads the answer', async () => {
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

  test('the connection of an endless body is closed', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write('POST /svc/v1/small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
    const timer = setInterval(() => socket.write(`400\r\n${'a'.repeat(1024)}\r\n`), 10)
    const closed = once(socket, 'close')
    const [answer] = (await once(socket, 'data')) as [Buffer]
    expect(answer.toString()).toMatch(/^HTTP\/1.1 413 /)
    vi.advanceTimersByTime(10_000)
    vi.useRealTimers()
    await closed
    clearInterval(timer)
  })

  test('a body of exactly the limit is accepted', async () => {
    expect((await send('/svc/v1/small', { method: 'POST', body: `a=${'x'.repeat(98)}` })).text).toBe('ok')
  })

  test('Expect: 100-continue is answered with the refusal, not with 100', async () => {
    const head = 'POST /svc/v1/small HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: '
    expect(await raw(`${head}1000\r\n\r\n`)).toMatch(/^HTTP\/1.1 413 /)
    expect(await raw(`${head}3\r\n\r\na=b`)).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/)
  })

  test('other expectations are ignored', async () => {
    const request = 'GET /svc/v1/ok HTTP/1.1\r\nHost: x\r\nExpect: x\r\nConnection: close\r\n\r\n'
    expect(await raw(request)).toMatch(/^HTTP\/1.1 200 OK\r\n[^]*Cache-Control: no-store\r\n/)
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
    expect(http.openConnections()).toBe(1)
    agent.destroy()
  })

  test('a refusal by the gate has the error format of its route', async () => {
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

  test('a client that disconnects in the middle of its body leaves no request in flight', async () => {
    await start()
    const socket = connect(port, '127.0.0.1')
    socket.write('POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\na=b')
    await until(() => http.inFlight() === 1)
    socket.destroy()
    await until(() => http.inFlight() === 0)
    expect(logged).toHaveLength(0)
  })

  test('onAnswer gets the status and the duration of each answer', async () => {
    const answers: [string | undefined, number, boolean][] = []
    await start({
      onAnswer: (found, status, elapsedMs) => void answers.push([found?.path, status, elapsedMs >= 0]),
    })
    await send('/svc/v1/ok')
    await send('/svc/v1/nothing')
    expect(answers).toEqual([
      ['/svc/v1/ok', 200, true],
      [undefined, 404, true],
    ])
  })

  test('an idle connection stays open for keep-alive-timeout', async () => {
    await start()
    expect((await send('/svc/v1/ok', { agent: new Agent({ keepAlive: true }) })).headers['keep-alive']).toBe(
      'timeout=76',
    )
  })
})

describe('input that is not a valid request', () => {
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

  test('the connection of a slow sender is closed, and a held poll stays', async () => {
    const poll = send('/svc/v1/hold')
    await until(() => held.length === 1)
    const text = await raw('POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\na')
    expect(text).toMatch(/^HTTP\/1.1 408 /)
    held[0]!.answer(textAnswer('changed'))
    expect((await poll).text).toBe('changed')
  })

  test('the request target may be an absolute URL', async () => {
    expect(await raw('GET http://x/svc/v1/ok HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(/ok$/)
    expect(await raw('OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n')).toMatch(/^HTTP\/1.1 404 /)
  })
})

describe('held requests', () => {
  beforeEach(() => start())

  test('are answered once, after the handler has returned', async () => {
    const reply = send('/svc/v1/hold')
    await until(() => held.length === 1)
    expect(http.inFlight()).toBe(1)
    held[0]!.answer(textAnswer('first'))
    held[0]!.answer(textAnswer('second'))
    expect((await reply).text).toBe('first')
    expect(http.inFlight()).toBe(0)
    expect(seen.gone).toBe(0)
  })

  test('report that the client disconnected, and ignore an answer after that', async () => {
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /svc/v1/hold HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(() => held.length === 1)
    socket.destroy()
    await until(() => seen.gone === 1)
    held[0]!.answer(textAnswer('nobody'))
    expect(http.inFlight()).toBe(0)
    expect(logged).toHaveLength(0)
  })

  test('do not report a client that disconnects after its answer', async () => {
    const agent = new Agent({ keepAlive: true })
    const reply = send('/svc/v1/hold', { agent })
    await until(() => held.length === 1)
    held[0]!.answer(OK_TEXT)
    await reply
    agent.destroy()
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(seen.gone).toBe(0)
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
  test('closes idle and silent connections at once', async () => {
    await start()
    const agent = new Agent({ keepAlive: true })
    await send('/svc/v1/ok', { agent })
    const silent = connect(port, '127.0.0.1')
    await once(silent, 'connect')
    await new Promise((resolve) => setTimeout(resolve, 20))
    const began = performance.now()
    await http.stop(GRACE_MS)
    expect(performance.now() - began).toBeLessThan(GRACE_MS / 2)
    agent.destroy()
    silent.destroy()
  })

  test('answers a request that was received, then closes its connection', async () => {
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
    await expect(send('/svc/v1/ok')).rejects.toThrow('ECONNREFUSED')
  })

  test('sends a large answer to its end', async () => {
    const big = Buffer.alloc(20_000_000, 'x')
    let isAnswered = false
    const routes = [plainRoute('GET', '/svc/v1/big', () => textAnswer(big))]
    await start({ routes, onAnswer: () => (isAnswered = true) })
    const socket = connect(port, '127.0.0.1')
    socket.pause()
    socket.write('GET /svc/v1/big HTTP/1.1\r\nHost: x\r\n\r\n')
    await until(() => isAnswered)
    const stopped = http.stop(5_000)
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(await sizeUntilEnd(socket)).toBeGreaterThan(big.length)
    await stopped
  })

  test('closes connections that do not end within the grace time', async () => {
    await start()
    const poll = send('/svc/v1/hold').catch((error: Error) => error)
    await until(() => held.length === 1)
    await http.stop(100)
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
