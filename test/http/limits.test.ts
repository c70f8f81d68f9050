import { once } from 'node:events'
import { ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { FairQueue } from '../../src/core/work/fair-queue.ts'
import { askerOf } from '../../src/operations/authorisation.ts'
import { contentInJson } from '../../src/protocols/answers/json-content.ts'
import { jsonAnswer, textAnswer } from '../../src/protocols/http/routing/answers.ts'
import type { Answer } from '../../src/protocols/http/routing/route.ts'
import {
  finish,
  held,
  http,
  logged,
  opened,
  plainRoute,
  port,
  raw,
  reset,
  send,
  start,
  until,
} from './http-fixture.ts'

beforeEach(reset)
afterEach(finish)

const GET_OK = 'GET /svc/v1/ok HTTP/1.1\r\nHost: x\r\n\r\n'
const GET_HOLD = 'GET /svc/v1/hold HTTP/1.1\r\nHost: x\r\n\r\n'

const problem = (code: string) => `"type":"urn:waypost:problem:${code}"`

/** Resolves when the server has ended a connection. */
async function ended(socket: Socket): Promise<void> {
  if (!socket.closed) await once(socket, 'close')
}

describe('header fields', () => {
  test('beyond the limit are refused with their code, and the connection is closed', async () => {
    await start({}, { maxHeaders: 30 })
    const withHeaders = (count: number) =>
      `GET /svc/v1/ok HTTP/1.1\r\nHost: x\r\n${'a: b\r\n'.repeat(count - 1)}\r\n`
    expect(await raw(withHeaders(30))).toMatch(/^HTTP\/1.1 200 /)
    const refused = await raw(withHeaders(31))
    expect(refused).toMatch(/^HTTP\/1.1 431 [^]*Connection: close/)
    expect(refused).toContain(problem('too-many-headers'))
    expect(await raw(withHeaders(5_000))).toMatch(/^HTTP\/1.1 431 /)
  })
})

describe('pipelined requests', () => {
  test('beyond the limit are refused after the answers before them, and the connection is closed', async () => {
    await start({}, { maxPipelinedRequests: 5 })
    const socket = await opened()
    socket.write(GET_HOLD + GET_OK.repeat(20))
    await until(() => held.length === 1)
    held[0]!.answer(textAnswer('first'))
    await ended(socket)
    expect(socket.text.match(/HTTP\/1.1 200 /g)).toHaveLength(6)
    expect(socket.text.match(/HTTP\/1.1 429 /g)).toHaveLength(1)
    expect(socket.text).toContain(problem('too-many-requests'))
    expect(http.inFlight()).toBe(0)
  })

  test('of one connection cannot hold all polls', async () => {
    await start({}, { maxPipelinedRequests: 10 })
    const socket = await opened()
    socket.write(GET_HOLD.repeat(1_000))
    await until(() => http.inFlight() === 11 || held.length > 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(held).toHaveLength(1)
    socket.destroy()
    await until(() => http.inFlight() === 0)
  })

  test('run after the requests before them are answered', async () => {
    let content = ''
    const later = async (request: { rawBody?: Buffer }): Promise<Answer> => {
      await new Promise((resolve) => setTimeout(resolve, 20))
      content += String(request.rawBody)
      return textAnswer('written')
    }
    const write = { ...plainRoute('POST', '/svc/v1/write', later as never), body: 'raw' as const }
    const read = plainRoute('GET', '/svc/v1/read', () => textAnswer(`<${content}>`))
    await start({ routes: [write, read] })
    const post = 'POST /svc/v1/write HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n'
    const get = 'GET /svc/v1/read HTTP/1.1\r\nHost: x\r\n\r\n'
    const text = await raw(`${get}${post}a${get}${post}b${get}`)
    expect(text.match(/<\w*>/g)).toEqual(['<>', '<a>', '<ab>'])
  })
})

describe('connections', () => {
  test('beyond the limit get a 503 and are closed, and their requests do not run', async () => {
    let seen = 0
    await start(
      { routes: [plainRoute('GET', '/svc/v1/ok', () => (seen++, textAnswer('ok')))] },
      { maxConnections: 2 },
    )
    const first = [await opened(), await opened()]
    const surplus = await opened()
    surplus.write(GET_OK)
    await ended(surplus)
    expect(surplus.text).toMatch(/^HTTP\/1.1 503 /)
    expect(surplus.text).toContain(problem('too-many-connections'))
    expect(seen).toBe(0)
    first[0]!.destroy()
    first[1]!.write(GET_OK)
    await until(() => first[1]!.text.includes('200 OK'))
    expect(await raw(GET_OK)).toMatch(/^HTTP\/1.1 200 /)
    first[1]!.destroy()
  })

  test('of one address can be limited without affecting others', async () => {
    await start({}, { maxConnectionsPerAddress: 2 })
    const first = [await opened(), await opened()]
    expect(await raw(GET_OK)).toContain(problem('too-many-connections'))
    const other = await opened('127.0.0.2')
    other.write(GET_OK)
    await until(() => other.text.startsWith('HTTP/1.1 200 '))
    for (const socket of [...first, other]) socket.destroy()
    await new Promise((resolve) => setTimeout(resolve, 30))
    expect(await raw(GET_OK)).toMatch(/^HTTP\/1.1 200 /)
  })

  test('beyond the limit do not affect the open ones', async () => {
    await start({}, { maxConnections: 10 })
    const mine = await opened()
    const flood = Array.from({ length: 500 }, () => connect(port, '127.0.0.1').on('error', () => undefined))
    await new Promise((resolve) => setTimeout(resolve, 200))
    mine.write(GET_OK)
    await until(() => mine.text.startsWith('HTTP/1.1 200 '))
    for (const socket of [...flood, mine]) socket.destroy()
  })
})

describe('bodies that are being read', () => {
  const partOf = (bytes: number, sent: number) =>
    `POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: ${bytes}\r\n\r\n${'a'.repeat(sent)}`

  test('share a limit: a large body is refused, and small ones are read', async () => {
    await start({}, { maxBodyMemoryBytes: 100_000, maxBodyBytes: 200_000 })
    const slow = await opened()
    slow.write(partOf(100_000, 80_000))
    await new Promise((resolve) => setTimeout(resolve, 50))
    const refused = await raw(partOf(60_000, 60_000))
    expect(refused).toMatch(/^HTTP\/1.1 503 /)
    expect(refused).toContain(problem('body-memory'))
    const body = `a=${'x'.repeat(10_000)}`
    expect((await send('/svc/v1/echo', { method: 'POST', body })).status).toBe(200)
    slow.destroy()
    await until(() => http.inFlight() === 0)
    expect((await send('/svc/v1/echo', { method: 'POST', body: `a=${'x'.repeat(90_000)}` })).status).toBe(200)
  })
})

describe('slow readers', () => {
  /** Longer than this machine may pause, with all that is read and written here. */
  const UNREAD_MS = 2_000
  const big = Buffer.alloc(30_000_000, 'x')
  const routes = [plainRoute('GET', '/svc/v1/big', () => textAnswer(big))]
  const ask = 'GET /svc/v1/big HTTP/1.1\r\nHost: x\r\n\r\n'

  test('are disconnected if they leave an answer unread', async () => {
    await start({ routes }, { unreadTimeoutMs: 500 })
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    socket.pause()
    socket.write(ask)
    const ended = new Promise<number>((resolve) => {
      const began = performance.now()
      const look = setInterval(() => {
        if (http.inFlight() > 0 || http.openConnections() > 0) return
        clearInterval(look)
        resolve(performance.now() - began)
      }, 50)
    })
    expect(await ended).toBeGreaterThan(400)
    socket.destroy()
  })

  test('stay connected if they read, with any number of requests', async () => {
    await start({ routes }, { unreadTimeoutMs: UNREAD_MS })
    const socket = connect(port, '127.0.0.1').on('error', () => undefined)
    let bytes = 0
    socket.on('data', (chunk) => (bytes += chunk.length))
    for (let round = 1; round <= 2; round++) {
      socket.write(ask)
      await until(() => bytes > round * big.length)
      await new Promise((resolve) => setTimeout(resolve, UNREAD_MS + 200))
    }
    expect(socket.destroyed).toBe(false)
    socket.destroy()
  })
})

describe('contents that are escaped while they are read', () => {
  const MIB = 1024 * 1024
  /** Each answer has a content of its own, as a record of history has. */
  const routes = [
    plainRoute('GET', '/svc/v1/record', ({ params }) =>
      jsonAnswer({ content: contentInJson(Buffer.alloc(Number(params['n']) * MIB, 'x')) }),
    ),
  ]
  const slow = async (address: string, mebibytes: number) => {
    const socket = await opened(address)
    socket.pause()
    socket.write(`GET /svc/v1/record?n=${mebibytes} HTTP/1.1\r\nHost: x\r\n\r\n`)
    return socket
  }

  test('count until they are sent: the address that leaves most unread loses its oldest', async () => {
    await start({ routes }, { maxBodyMemoryBytes: 64 * MIB })
    const few = await slow('127.0.0.2', 12)
    await until(() => http.openConnections() === 1 && http.inFlight() === 1)
    const many: Awaited<ReturnType<typeof slow>>[] = []
    for (let count = 0; count < 8; count++) many.push(await slow('127.0.0.3', 12))
    // Four of them have room beside the other.
    await until(() => http.openConnections() === 5)
    expect(few.destroyed).toBe(false)
    let bytes = 0
    few.removeAllListeners('data').on('data', ({ length }: Buffer) => void (bytes += length))
    few.resume()
    await until(() => bytes > 12 * MIB)
    for (const socket of [few, ...many]) socket.destroy()
    expect(logged).toEqual([])
  })
})

test('a long text waits for its client as bytes, outside of the heap', async () => {
  const given = vi.spyOn(ServerResponse.prototype, 'end')
  const text = '→'.repeat(100_000)
  await start({ routes: [plainRoute('GET', '/svc/v1/text', () => textAnswer(text))] })
  try {
    expect((await send('/svc/v1/text')).text === text).toBe(true)
    expect(given.mock.calls.map(([body]) => Buffer.isBuffer(body))).toEqual([true])
  } finally {
    given.mockRestore()
  }
})

describe('a client that leaves before its answer', () => {
  test('is known to be gone, and its work ends without a word', async () => {
    const queue = new FairQueue({ atOnce: 1, waiting: 100 }, () => new Error('full'))
    const ends: (() => void)[] = []
    let begun = 0
    const work = () => {
      begun++
      return new Promise<Answer>((resolve) => ends.push(() => resolve(textAnswer('done'))))
    }
    const route = plainRoute('GET', '/svc/v1/work', ({ caller }) => queue.run(askerOf(caller), work))
    await start({ routes: [route] })
    const ask = async () => {
      const socket = await opened()
      socket.write('GET /svc/v1/work HTTP/1.1\r\nHost: x\r\n\r\n')
      return socket
    }
    const stays = await ask()
    await until(() => begun === 1)
    const leaving = await Promise.all(Array.from({ length: 20 }, ask))
    await until(() => http.inFlight() === 21)
    for (const socket of leaving.slice(10)) socket.end()
    for (const socket of leaving.slice(0, 10)) socket.destroy()
    await until(() => http.openConnections() === 1)
    ends[0]!()
    await until(() => stays.text.endsWith('done') && http.inFlight() === 0)
    expect([begun, logged]).toEqual([1, []])
    stays.destroy()
  })
})

describe('slow senders', () => {
  beforeEach(() => start({}, { requestTimeoutMs: 400, maxBodyBytes: 200_000 }))

  test.each([
    ['nothing at all', '', ''],
    ['its request line', 'GET /svc/v1/echo?a=', 'x'],
    ['its headers', 'GET /svc/v1/ok HTTP/1.1\r\nHost: x\r\n', 'X-A: b\r\n'],
    ['its body', 'POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n', 'a'],
    [
      'its chunks',
      'POST /svc/v1/echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n',
      '1\r\na\r\n',
    ],
  ])('the connection of a client that sends %s slowly is closed in time', async (_, first, more) => {
    const socket = await opened()
    if (first !== '') socket.write(first)
    const trickle = setInterval(() => more !== '' && socket.write(more), 40)
    await ended(socket)
    clearInterval(trickle)
    expect(socket.text).toMatch(/^HTTP\/1.1 408 [^]*problem:too-slow/)
    expect(logged).toHaveLength(0)
  })

  test('the connection of a client that sends invalid data and never closes is closed', async () => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => undefined).resume()
    socket.write('nonsense\r\n\r\n')
    await once(socket, 'end')
    await until(() => http.openConnections() === 0)
    socket.destroy()
  })
})

describe('an answer that is too large', () => {
  test('for a text is a refusal, not a fault of the server', async () => {
    const endless = plainRoute('GET', '/svc/v1/endless', () =>
      jsonAnswer('x'.repeat(2 ** 29 - 30).concat('y'.repeat(2 ** 20))),
    )
    await start({ routes: [endless] })
    const reply = await send('/svc/v1/endless')
    expect(reply.status).toBe(413)
    expect(reply.text).toContain(problem('too-large'))
    expect(logged).toHaveLength(0)
  })
})
